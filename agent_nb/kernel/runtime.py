"""The kernel's agent thread: one event loop on which every session of the notebook lives.

A long cell never stalls it, and it never stalls the kernel. It starts with the first prompt.
"""

import asyncio
import atexit
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from agent_nb.kernel.failure import AgentRunError
from agent_nb.kernel.output import Drawn

if TYPE_CHECKING:
    from agent_nb.kernel.drawn_view import DrawnView
    from agent_nb.kernel.notebook_session import NotebookSession

T = TypeVar("T")

STOP_WITHIN_S = 2.0
OPEN_VIEWS = 8


class AgentThread:
    """An event loop in a daemon thread; other threads only post to it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="agent_nb", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the loop runs; in a forked child it does not."""
        return self._thread.is_alive()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine as a task on the loop, in a copy of the caller's context.

        Raises:
            AgentRunError: If the caller is the loop's own thread, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise AgentRunError("The agent cannot ask itself: this code runs on its own thread.")
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def post(self, callback: Callable[..., object], *arguments: object) -> None:
        """Call `callback` on the loop soon; nothing happens once the thread has ended."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(callback, *arguments)

    def close(self) -> None:
        """End the thread; what still runs on it is cancelled."""
        self.post(self._ending.set)
        self._thread.join(STOP_WITHIN_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._serve())
        finally:
            # not asyncio.run: it starts a thread here, which the end of the interpreter forbids
            self.loop.close()

    async def _serve(self) -> None:
        await self._ending.wait()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self.loop.shutdown_asyncgens()


@dataclass
class Runtime:
    """What outlives a reload of the extension.

    Attributes:
        sessions: The notebook's sessions by name.
        said: What is said once a kernel and has been.
        subshell_id: The kernel's subshell for our buttons; None before it was asked for one, and
            where it has none.
        drawn: The values that need no second showing.
        open_views: Views of runs that have ended, the newest last.
    """

    sessions: "dict[str, NotebookSession]" = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    subshell_id: str | None = None
    has_asked_for_subshell: bool = False
    drawn: Drawn = field(default_factory=Drawn)
    open_views: "deque[DrawnView]" = field(default_factory=deque)
    _thread: AgentThread | None = None

    @property
    def thread(self) -> AgentThread:
        """The agent thread, started when first needed."""
        if self._thread is None or not self._thread.is_alive:
            self._thread = AgentThread()
            atexit.unregister(self.close)
            atexit.register(self.close)
        return self._thread

    def secrets(self) -> set[str]:
        """Return the keys that any session knows of: a result does not say whose it is."""
        return {key for session in self.sessions.values() for key in session.secrets}

    def say_once(self, topic: str) -> bool:
        """Say whether `topic` has not been said before, and note that it is now."""
        if topic in self.said:
            return False
        self.said.add(topic)
        return True

    def keep_open(self, view: "DrawnView") -> None:
        """Keep a view open whose run has ended, and close the oldest of too many."""
        self.open_views.append(view)
        if len(self.open_views) > OPEN_VIEWS:
            self.open_views.popleft().close()

    def stop_runs(self) -> None:
        """Stop every run; wait a little for them to settle, as they end child processes then."""
        if self._thread is not None and self._thread.is_alive:
            wait([session.abort().future for session in self.sessions.values()], STOP_WITHIN_S)

    def close(self) -> None:
        """Stop every run and end the thread; called when the kernel ends."""
        if self._thread is not None and self._thread.is_alive:
            wait([session.dispose().future for session in self.sessions.values()], STOP_WITHIN_S)
            self._thread.close()


RUNTIME = Runtime()
"""The one mutable global: a reload of the extension finds its thread and sessions here."""
