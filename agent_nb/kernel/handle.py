"""What a verb of a notebook's session returns: something on the agent thread to wait for."""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from typing import Any, Generic, TypeVar

from agent_nb.core.errors import AgentError
from agent_nb.kernel.failure import shown_as_interrupt, shown_as_line
from agent_nb.kernel.runtime import STOP_WITHIN_S

T = TypeVar("T")

HEARTBEAT_S = 0.2
"""An interrupt reaches a waiting cell when its loop wakes up, so it has to wake up now and then."""


class Handle(Generic[T]):
    """Work on the agent thread: await it in a cell, or call `result()` where one cannot await.

    Interrupting the wait stops the work: the kernel's interrupt is the stop that works everywhere.

    Args:
        future: The work.
        what: Says in a repr what the work is.
        stop: Stops the work in an orderly way; without it the work is cancelled.
    """

    def __init__(
        self, future: "Future[T]", what: str, *, stop: Callable[[], object] | None = None
    ) -> None:
        self.future = future
        self._what = what
        self._stop = stop or future.cancel

    def __await__(self) -> Generator[Any, None, T]:
        return self._awaited().__await__()

    def result(self) -> T:
        """Wait for the end in a blocking way, and return what came of it.

        Raises:
            KeyboardInterrupt: If the wait was interrupted; the work is stopped.
        """
        try:
            while not wait([self.future], HEARTBEAT_S).done:
                pass
        except KeyboardInterrupt as interrupt:
            self._stop()
            wait([self.future], STOP_WITHIN_S)
            raise shown_as_interrupt(interrupt, self._how_it_stopped()) from None
        return self._outcome()

    def done(self) -> bool:
        """Say whether the work has ended."""
        return self.future.done()

    def stop(self) -> None:
        """Ask the work to end; it does so soon."""
        self._stop()

    async def _awaited(self) -> T:
        ended = asyncio.wrap_future(self.future)
        ended.add_done_callback(_take_notice)
        try:
            while not ended.done():
                await asyncio.wait({ended}, timeout=HEARTBEAT_S)
        except asyncio.CancelledError as cancelled:
            self._stop()
            await asyncio.wait({ended}, timeout=STOP_WITHIN_S)
            raise shown_as_interrupt(cancelled, self._how_it_stopped()) from None
        return self._outcome()

    def _outcome(self) -> T:
        try:
            return self.future.result()
        except AgentError as error:
            raise shown_as_line(error) from error.__cause__

    def _how_it_stopped(self) -> str:
        if self.future.done():
            return f"{self._what} was interrupted and has stopped."
        return f"{self._what} was interrupted and is still stopping."

    def __repr__(self) -> str:
        if not self.future.done():
            return f"<{self._what}, going on: await it, or call .result() or .stop()>"
        if self.future.cancelled():
            return f"<{self._what}, cancelled>"
        if error := self.future.exception():
            return f"<{self._what}, ended with {error!r}>"
        return f"<{self._what}, done: {self.future.result()!r}>"


def _take_notice(ended: "asyncio.Future[Any]") -> None:
    """Look at the outcome, so that asyncio does not report it as never retrieved."""
    if not ended.cancelled():
        ended.exception()
