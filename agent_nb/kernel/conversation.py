"""What a notebook's session does on the agent thread: open, ask, stop, change."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent_nb.core.content import ImageContent
from agent_nb.core.events import AgentSettled, SessionEvent
from agent_nb.core.model import THINKING_LEVELS, ThinkingLevel
from agent_nb.core.tool import Effect
from agent_nb.inspect.runs import RunResult
from agent_nb.kernel.attach import Scene, Shown, attach
from agent_nb.kernel.failure import AgentRunError, AgentUsageError
from agent_nb.kernel.output import CellOutput
from agent_nb.kernel.results import language_of, model_note
from agent_nb.kernel.runtime import Runtime
from agent_nb.session.run import Budget

if TYPE_CHECKING:
    from agent_nb.session.choice import ModelChoice
    from agent_nb.session.create import SessionOptions
    from agent_nb.session.session import AgentSession

Create = Callable[["SessionOptions"], Awaitable["AgentSession"]]

DEMO_WORDS_PER_S = 35
"""How fast `demo/reader` speaks where somebody may be watching."""

_BUSY = (
    "A run is going on in this session. Wait for it with "
    "`await agent_nb.session().wait_for_idle()`, stop it with `.abort()`, or tell it something "
    'with `.steer("…")`.'
)


@dataclass(frozen=True, slots=True)
class Setup:
    """What the user chose for a session; None leaves it as it is."""

    model: str | None = None
    thinking: str | None = None
    tools: tuple[str, ...] | None = None

    def over(self, other: "Setup") -> "Setup":
        """Return `other` with what is chosen here in its place."""
        chosen = {name: getattr(self, name) for name in self.__slots__}
        return replace(
            other, **{name: value for name, value in chosen.items() if value is not None}
        )


UNCHANGED = Setup()


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt with everything that goes with it.

    Attributes:
        setup: Changed first, and stays.
        new: Whether a new conversation begins with it.
        allow: Effects and tools that need no asking while it is answered.
        shown: "view", "static", or "nothing".
        notes: Sentences to be shown above the run.
    """

    text: str
    images: tuple[ImageContent, ...] = ()
    streaming_behavior: Literal["steer", "followUp"] | None = None
    budget: Budget | None = None
    setup: Setup = UNCHANGED
    new: bool = False
    allow: tuple[str, ...] = ()
    shown: Shown = "view"
    notes: tuple[str, ...] = ()


class Conversation:
    """A session that is opened when it is first needed; lives on the agent thread.

    Attributes:
        session: The session; None before it is opened.

    Args:
        directory: Where the agent works.
        runtime: Has the agent thread.
        create: Opens the session.
        tell: Hears of every event.
    """

    def __init__(
        self,
        directory: Path,
        runtime: Runtime,
        *,
        create: Create | None = None,
        tell: Callable[[SessionEvent], None],
    ) -> None:
        self.session: AgentSession | None = None
        self._directory = directory
        self._runtime = runtime
        self._create = create or _create_session
        self._tell = tell
        self._setup = UNCHANGED
        self._allowed: tuple[str, ...] = ()
        self._opening = asyncio.Lock()
        self._introduced = ""
        self._is_answering = False
        self._stopping: Callable[[], None] | None = None

    async def answer(self, question: Question, cell: CellOutput) -> RunResult:
        """Ask, with a view in `cell`, and return when everything has settled.

        Raises:
            AgentRunError: If the run failed or was stopped, or another one goes on.
            AgentError: If it could not begin.
        """
        if self._is_answering:
            return await self._queue(question)
        self._is_answering = True
        try:
            if question.new:
                await self._begin(question.setup)
            session = await self.ready(question.setup)
            result = await self._run(session, question, cell)
        finally:
            self._is_answering = False
        self._runtime.drawn.note(cell.cell, result)
        return _unless_failed(result)

    async def _run(
        self, session: "AgentSession", question: Question, cell: CellOutput
    ) -> RunResult:
        """Run a question with what is allowed for it, in a view that ends with it."""
        _check_allowed(question.allow, session)
        view = await attach(self._scene(question, session), cell, question.shown, self._runtime)

        def show(event: SessionEvent) -> None:
            view.push(event)
            if isinstance(event, AgentSettled):
                view.end(session.runs[-1])

        self._stopping = view.stopping
        session.set_allowed({*self._allowed, *question.allow})
        unsubscribe = session.subscribe(show)
        try:
            result = await session.prompt(
                question.text, images=question.images, budget=question.budget
            )
        finally:
            unsubscribe()
            session.set_allowed(self._allowed)
            self._stopping = None
        if question.shown != "nothing":
            self._introduced = session.model.key
        return result

    def _scene(self, question: Question, session: "AgentSession") -> Scene:
        """Set the scene for a run; the model is introduced once, and again after a change."""
        key = session.model.key
        notes = question.notes
        if key != self._introduced:
            introduction = session.choice.introduction(language_of(os.environ))
            notes = (introduction, *session.reports, *notes)
        return Scene(question.text, key, model_note(key), notes, self.stop, session.secrets)

    async def _queue(self, question: Question) -> RunResult:
        session = self.session
        if question.streaming_behavior is None or session is None or not session.is_running:
            raise AgentRunError(_BUSY)
        result = await session.prompt(
            question.text,
            images=question.images,
            streaming_behavior=question.streaming_behavior,
        )
        return _unless_failed(result)

    def stop_run(self, future: "Future[RunResult]") -> None:
        """Stop the run of `future`, or what is done before there is one."""
        if self._is_running:
            if not future.done():
                self.stop()
        else:
            future.cancel()

    def stop(self) -> None:
        """Stop the run, if there is one, and show at once that it is stopping."""
        if self.session is not None and self.session.is_running:
            if self._stopping:
                self._stopping()
            self.session.abort_soon()

    @property
    def _is_running(self) -> bool:
        return self.session is not None and self.session.is_running

    async def ready(self, setup: Setup) -> "AgentSession":
        """Return the session, opened if need be and changed to what is asked for."""
        async with self._opening:
            if self.session is None:
                return await self._open(setup)
            session = self.session
            if setup.model is not None:
                session.set_model(setup.model)
            if setup.thinking is not None:
                session.set_thinking_level(_thinking_level(setup.thinking))
            if setup.tools is not None:
                session.set_tools(setup.tools)
            self._setup = setup.over(self._setup)
            return session

    async def _open(self, setup: Setup) -> "AgentSession":
        from agent_nb.session.create import SessionOptions

        setup = setup.over(self._setup)
        session = await self._create(
            SessionOptions(
                cwd=self._directory,
                model=setup.model,
                thinking=setup.thinking,
                tools=setup.tools,
                all_tools=True,
                demo_words_per_s=DEMO_WORDS_PER_S,
                gate="notebook",
                allow=self._allowed,
            )
        )
        session.subscribe(self._tell)
        self.session, self._setup = session, setup
        return session

    async def _begin(self, setup: Setup = UNCHANGED) -> None:
        """Put a new conversation in the place of the old one, if it can be opened."""
        if self._is_running:
            raise AgentRunError(_BUSY)
        async with self._opening:
            old = self.session
            await self._open(setup)
        if old is not None:
            await old.dispose()

    async def change(self, setup: Setup, *, new: bool) -> "ModelChoice":
        """Change what a setup says, in a new conversation if asked."""
        if new:
            await self._begin(setup)
        return (await self.ready(UNCHANGED if new else setup)).choice

    async def allow(self, names: tuple[str, ...]) -> None:
        """Let effects and tools pass without asking from now on."""
        session = await self.ready(UNCHANGED)
        _check_allowed(names, session)
        self._allowed = names
        session.set_allowed(names)

    async def abort(self) -> None:
        """Stop the run, if there is one; return when it has settled."""
        self.stop()
        await self.wait_for_idle()

    async def wait_for_idle(self) -> None:
        """Return when no run goes on."""
        if self.session is not None:
            await self.session.wait_for_idle()

    async def close(self) -> None:
        """Stop what is running and let go of files and connections."""
        if self.session is not None:
            session, self.session = self.session, None
            await session.dispose()


async def _create_session(options: "SessionOptions") -> "AgentSession":
    from agent_nb.session.create import create_session

    return await create_session(options)


def _thinking_level(name: str) -> ThinkingLevel:
    for level in THINKING_LEVELS:
        if level == name:
            return level
    raise AgentUsageError(
        f"There is no thinking level {name!r}. There are: {', '.join(THINKING_LEVELS)}."
    )


def _unless_failed(result: RunResult) -> RunResult:
    if result.outcome == "error":
        raise AgentRunError(result.error or "The model gave no answer.", result=result)
    if result.outcome == "stopped":
        raise AgentRunError("The run was stopped.", result=result)
    return result


def _check_allowed(names: Collection[str], session: "AgentSession") -> None:
    known = list(dict.fromkeys(["all", *Effect, *(tool.name for tool in session.tools)]))
    for name in names:
        if name not in known:
            raise AgentUsageError(
                f"allow {name}: there is no such tool or effect. There are: {', '.join(known)}."
            )
