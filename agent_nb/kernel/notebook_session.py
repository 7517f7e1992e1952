"""`NotebookSession`: the face of an `AgentSession` that lives on the agent thread."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from IPython import get_ipython
from IPython.display import display

from agent_nb.core.content import ImageContent
from agent_nb.core.events import SessionEvent
from agent_nb.core.messages import Message
from agent_nb.core.model import THINKING_LEVELS, ThinkingLevel
from agent_nb.core.tool import Effect
from agent_nb.inspect.requests import RequestLog
from agent_nb.inspect.runs import RunResult
from agent_nb.inspect.timeline import EventLog
from agent_nb.inspect.turns import Turn
from agent_nb.kernel.attach import Scene, Shown, attach
from agent_nb.kernel.directory import notebook_directory
from agent_nb.kernel.failure import AgentRunError, AgentUsageError
from agent_nb.kernel.handle import Handle
from agent_nb.kernel.output import CellOutput, output_of_this_cell
from agent_nb.kernel.results import picture_of, show_results_well
from agent_nb.kernel.runtime import RUNTIME, Runtime
from agent_nb.session.run import Budget

if TYPE_CHECKING:
    from agent_nb.session.create import SessionOptions
    from agent_nb.session.session import AgentSession, ModelChoice, SessionState

T = TypeVar("T")

DEFAULT_NAME = "main"

Create = Callable[["SessionOptions"], Awaitable["AgentSession"]]
_BUSY = (
    "A run is going on in this session. Wait until it has ended, or from another cell stop it "
    'with `await agent_nb.session().abort()` or say something to it with `.steer("…")`.'
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


_UNCHANGED = Setup()


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt with everything that goes with it.

    Attributes:
        setup: Changed first, and stays.
        new: Whether a new conversation begins with it.
        allow: Effects and tools that need no asking while it is answered.
        shown: "view", "static", or "nothing".
    """

    text: str
    images: tuple[ImageContent, ...] = ()
    streaming_behavior: Literal["steer", "followUp"] | None = None
    budget: Budget | None = None
    setup: Setup = _UNCHANGED
    new: bool = False
    allow: tuple[str, ...] = ()
    shown: Shown = "view"


class NotebookSession:
    """A conversation of the notebook. Verbs return a handle: await it, or call its `result()`.

    What there is to see (`messages`, `turns`, `runs`, `events`, `requests`, `state`) are snapshots
    that can be read at any time, also while a run goes on.

    Args:
        name: Tells the sessions of a notebook apart.
        directory: Where the agent works.
        runtime: Has the agent thread.
        create: Opens the session behind it, when it is first needed.
    """

    def __init__(
        self, name: str, directory: Path, *, runtime: Runtime, create: Create | None = None
    ) -> None:
        self.name = name
        self.directory = directory
        self._runtime = runtime
        self._create = create or _create_session
        self._session: AgentSession | None = None
        self._setup = _UNCHANGED
        self._opening = asyncio.Lock()
        self._introduced = ""
        self._is_answering = False
        self._stopping: Callable[[], None] | None = None
        self._subscribers: list[Callable[[SessionEvent], None]] = []

    # --- what there is to see

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return self._session.messages if self._session else ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the conversation: an answer each, and what its tools did."""
        return self._session.turns if self._session else ()

    @property
    def runs(self) -> tuple[RunResult, ...]:
        """The runs since the kernel started, or since the conversation began."""
        return self._session.runs if self._session else ()

    @property
    def events(self) -> EventLog:
        """What happened, in order; `.to_frame()` makes a data frame of it."""
        return self._session.events if self._session else EventLog()

    @property
    def requests(self) -> RequestLog:
        """What was sent to the model, byte for byte."""
        return self._session.requests if self._session else RequestLog()

    @property
    def state(self) -> "SessionState | None":
        """Where the session stands; None before it is first used."""
        return self._session.state if self._session else None

    @property
    def choice(self) -> "ModelChoice | None":
        """Which model answers, why, and where the text goes; None before it is first used."""
        return self._session.choice if self._session else None

    @property
    def is_running(self) -> bool:
        """Whether a run goes on."""
        return self._session is not None and self._session.is_running

    def __repr__(self) -> str:
        if self._session is None:
            return f"<NotebookSession {self.name}, not used yet, in {self.directory}>"
        doing = "running" if self.is_running else "idle"
        model = self._session.model.key
        runs = len(self.runs)
        return f"<NotebookSession {self.name}: {model} in {self.directory}, {doing}, {runs} runs>"

    def describe(self) -> str:
        """Return where things stand and how to ask, in Markdown."""
        if self._session is None:
            who = "No model was asked yet."
        else:
            choice = self._session.choice
            who = f"**{choice.model.key}** answers {_because(choice)}."
        runs = "no runs yet" if not self.runs else f"{len(self.runs)} runs"
        doing = "a run is going on" if self.is_running else "idle"
        return (
            f"{who}\n\nSession `{self.name}` in `{self.directory}`: {runs}, {doing}.\n\n"
            "Ask with `%agent your question`, or with `%%agent` and text below it. "
            "`%agent /help` lists options and commands."
        )

    def show(self, run: int = -1) -> None:
        """Show a run again, in the form that a notebook keeps; the last one if none is named."""
        if not self.runs:
            raise AgentUsageError("There is no run to show yet. Ask something first.")
        display(picture_of(self.runs[run]), raw=True)  # type: ignore[no-untyped-call]

    def _repr_markdown_(self) -> str:
        return self.describe()

    # --- what one can do

    def prompt(
        self,
        text: str,
        *,
        images: Sequence[ImageContent] = (),
        streaming_behavior: Literal["steer", "followUp"] | None = None,
        budget: Budget | None = None,
    ) -> Handle[RunResult]:
        """Ask, and draw a view in this cell's output as `%agent` does.

        The handle gives the result when everything has settled. It raises `AgentRunError`, which
        has the result too, if the run failed or was stopped, so that Run All stops there.

        Args:
            text: The prompt.
            images: Shown to the model after the text.
            streaming_behavior: What to do while a run goes on; the handle is then that run's.
            budget: What ends the run early.
        """
        return self.ask(Question(text, tuple(images), streaming_behavior, budget))

    def ask(self, question: Question) -> Handle[RunResult]:
        """Ask a question with all that goes with it; see `prompt`."""
        cell = output_of_this_cell(get_ipython())
        future = self._runtime.thread.submit(self._answer(question, cell))
        handle = Handle(future, "The run", stop=lambda: self._post(self._stop_run, future))
        self._runtime.drawn.note(cell.cell, handle)
        return handle

    def prompt_sync(self, text: str) -> RunResult:
        """Ask, and wait for the end in a blocking way."""
        return self.prompt(text).result()

    def steer(self, text: str) -> Handle[None]:
        """Queue a message for the next turn; while idle it goes with the next prompt."""
        return self._soon(lambda session: session.steer(text), "The message")

    def follow_up(self, text: str) -> Handle[None]:
        """Queue a message for when the run would otherwise end."""
        return self._soon(lambda session: session.follow_up(text), "The message")

    def abort(self) -> Handle[None]:
        """Stop the run, if there is one; the handle is done when it has settled."""
        return self._handle(self._abort(), "Stopping")

    def wait_for_idle(self) -> Handle[None]:
        """Wait until no run goes on."""
        return self._handle(self._idle(), "Waiting")

    def open(self) -> Handle["ModelChoice"]:
        """Make the session ready without asking anything."""
        return self.change(_UNCHANGED)

    def new(self) -> Handle["ModelChoice"]:
        """Begin a new conversation with the same model and tools; the old one stays on disk."""
        return self.change(_UNCHANGED, new=True)

    def set_model(self, name: str) -> Handle["ModelChoice"]:
        """Use another model from the next prompt on."""
        return self.change(Setup(model=name))

    def set_thinking_level(self, level: ThinkingLevel) -> Handle["ModelChoice"]:
        """Let the model think more or less from the next prompt on."""
        return self.change(Setup(thinking=level))

    def set_tools(self, names: Sequence[str]) -> Handle["ModelChoice"]:
        """Choose the tools the model may call from the next prompt on."""
        return self.change(Setup(tools=tuple(names)))

    def change(self, setup: Setup, *, new: bool = False) -> Handle["ModelChoice"]:
        """Change what a setup says, in a new conversation if asked; gives the model's choice."""
        return self._handle(self._changed(setup, new=new), "The change")

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Call `callback` with every event, on the agent thread; return how to stop that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def dispose(self) -> Handle[None]:
        """Stop what is running and let go of files and connections; the next prompt reopens."""
        return self._handle(self._close(), "Closing the session")

    # --- on the caller's thread

    def _handle(self, coroutine: Coroutine[Any, Any, T], what: str) -> Handle[T]:
        return Handle(self._runtime.thread.submit(coroutine), what)

    def _soon(self, act: Callable[["AgentSession"], T], what: str) -> Handle[T]:
        async def when_ready() -> T:
            return act(await self._ready(_UNCHANGED))

        return self._handle(when_ready(), what)

    def _post(self, callback: Callable[..., object], *arguments: object) -> None:
        self._runtime.thread.post(callback, *arguments)

    # --- on the agent thread

    async def _answer(self, question: Question, cell: CellOutput) -> RunResult:
        if self._is_answering:
            return await self._queue(question)
        self._is_answering = True
        try:
            if question.new:
                await self._begin(question.setup)
            session = await self._ready(question.setup)
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
        self._stopping = view.stopping
        session.set_allowed(question.allow)
        unsubscribe = session.subscribe(view.push)
        try:
            result = await session.prompt(
                question.text, images=question.images, budget=question.budget
            )
        finally:
            unsubscribe()
            session.set_allowed(())
            self._stopping = None
            view.end(session.runs[-1] if session.runs else None)
        if question.shown != "nothing":
            self._introduced = session.model.key
        return result

    def _scene(self, question: Question, session: "AgentSession") -> Scene:
        """Set the scene for a run; the model is introduced once, and again after a change."""
        model = session.model
        notes: tuple[str, ...] = ()
        if model.key != self._introduced:
            notes = (f"{model.key} answers {_because(session.choice)}.", *session.reports)
        # a model that is none has a name that says so
        note = model.name if model.provider == "demo" else ""
        return Scene(question.text, model.key, note, notes, self._stop_now)

    async def _queue(self, question: Question) -> RunResult:
        session = self._session
        if question.streaming_behavior is None or session is None or not session.is_running:
            raise AgentRunError(_BUSY)
        result = await session.prompt(
            question.text,
            images=question.images,
            streaming_behavior=question.streaming_behavior,
        )
        return _unless_failed(result)

    def _stop_run(self, future: "Future[RunResult]") -> None:
        """Stop the run of `future`, or what is done before there is one."""
        if self._session is None or not self._session.is_running:
            future.cancel()
            return
        self._stop_now()

    def _stop_now(self) -> None:
        if self._session is not None and self._session.is_running:
            if self._stopping:
                self._stopping()
            self._session.abort_soon()

    async def _ready(self, setup: Setup) -> "AgentSession":
        """Return the session, opened if need be and changed to what is asked for."""
        async with self._opening:
            if self._session is None:
                return await self._open(setup)
            session = self._session
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
                cwd=self.directory,
                model=setup.model,
                thinking=setup.thinking,
                tools=setup.tools,
                all_tools=True,
                gate="notebook",
            )
        )
        session.subscribe(self._tell)
        self._session, self._setup = session, setup
        return session

    async def _begin(self, setup: Setup = _UNCHANGED) -> None:
        """Put a new conversation in the place of the old one, if it can be opened."""
        if self.is_running:
            raise AgentRunError(_BUSY)
        async with self._opening:
            old = self._session
            await self._open(setup)
        if old is not None:
            await old.dispose()

    async def _changed(self, setup: Setup, *, new: bool) -> "ModelChoice":
        if new:
            await self._begin(setup)
        return (await self._ready(_UNCHANGED if new else setup)).choice

    async def _abort(self) -> None:
        self._stop_now()
        await self._idle()

    async def _idle(self) -> None:
        if self._session is not None:
            await self._session.wait_for_idle()

    async def _close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.dispose()

    def _tell(self, event: SessionEvent) -> None:
        for callback in tuple(self._subscribers):
            callback(event)


async def _create_session(options: "SessionOptions") -> "AgentSession":
    from agent_nb.session.create import create_session

    return await create_session(options)


def _because(choice: "ModelChoice") -> str:
    return f"because {choice.reason}; {choice.destination}"


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
    known = ["all", *Effect, *(tool.name for tool in session.tools)]
    for name in names:
        if name not in known:
            raise AgentUsageError(
                f"--allow {name}: there is no such tool or effect. There are: {', '.join(known)}."
            )


def session(name: str = DEFAULT_NAME, *, directory: str | Path | None = None) -> NotebookSession:
    """Return a session of this notebook, made when it is first named; nothing is opened yet.

    Args:
        name: Tells several sessions of a notebook apart.
        directory: Where the agent works; default the notebook's own directory.

    Raises:
        ConfigError: If there is no such directory.
        AgentUsageError: If the session works in another directory already.
    """
    shell = get_ipython()
    names = shell.user_ns if shell else {}
    found = RUNTIME.sessions.get(name)
    if found is None or directory is not None:
        where = notebook_directory(names, os.environ, explicit=directory)
        if found is not None and found.directory != where:
            raise AgentUsageError(
                f"Session {name!r} works in {found.directory}. For {where} use another name: "
                f"agent_nb.session({where.name!r}, directory=…)."
            )
        found = RUNTIME.sessions[name] = found or NotebookSession(name, where, runtime=RUNTIME)
    if shell:
        show_results_well(shell, RUNTIME.drawn)
    return found
