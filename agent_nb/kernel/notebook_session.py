"""`NotebookSession`: the face of an `AgentSession` that lives on the agent thread."""

import os
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from IPython import get_ipython
from IPython.display import display

from agent_nb.core.content import ImageContent
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import SessionEvent
from agent_nb.core.messages import Message
from agent_nb.core.model import ThinkingLevel
from agent_nb.inspect.requests import RequestLog
from agent_nb.inspect.runs import RunResult
from agent_nb.inspect.timeline import EventLog
from agent_nb.inspect.turns import Turn
from agent_nb.kernel.conversation import (
    UNCHANGED,
    Conversation,
    Create,
    Question,
    Setup,
)
from agent_nb.kernel.directory import notebook_directory
from agent_nb.kernel.failure import AgentUsageError, shown_as_line
from agent_nb.kernel.handle import Handle
from agent_nb.kernel.output import output_of_this_cell
from agent_nb.kernel.results import picture_of, show_results_well
from agent_nb.kernel.runtime import RUNTIME, Runtime
from agent_nb.session.run import Budget

if TYPE_CHECKING:
    from agent_nb.session.choice import ModelChoice
    from agent_nb.session.session import AgentSession, SessionState

T = TypeVar("T")

DEFAULT_NAME = "main"


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
        self._subscribers: list[Callable[[SessionEvent], None]] = []
        self._conversation = Conversation(directory, runtime, create=create, tell=self._tell)

    # --- what there is to see

    @property
    def _session(self) -> "AgentSession | None":
        return self._conversation.session

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return s.messages if (s := self._session) else ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the conversation: an answer each, and what its tools did."""
        return s.turns if (s := self._session) else ()

    @property
    def runs(self) -> tuple[RunResult, ...]:
        """The runs since the kernel started, or since the conversation began."""
        return s.runs if (s := self._session) else ()

    @property
    def events(self) -> EventLog:
        """What happened, in order; `.to_frame()` makes a data frame of it."""
        return s.events if (s := self._session) else EventLog()

    @property
    def requests(self) -> RequestLog:
        """What was sent to the model, byte for byte."""
        return s.requests if (s := self._session) else RequestLog()

    @property
    def state(self) -> "SessionState | None":
        """Where the session stands; None before it is first used."""
        return s.state if (s := self._session) else None

    @property
    def secrets(self) -> tuple[str, ...]:
        """Keys the session knows of, which must not be shown."""
        return s.secrets if (s := self._session) else ()

    @property
    def choice(self) -> "ModelChoice | None":
        """Which model answers, why, and where the text goes; None before it is first used."""
        return s.choice if (s := self._session) else None

    @property
    def is_running(self) -> bool:
        """Whether a run goes on."""
        return s.is_running if (s := self._session) else False

    def __repr__(self) -> str:
        if (choice := self.choice) is None:
            return f"<NotebookSession {self.name}, not used yet, in {self.directory}>"
        model, doing = choice.model.key, "running" if self.is_running else "idle"
        return f"<NotebookSession {self.name}: {model} in {self.directory}, {doing}, {self._count}>"

    @property
    def _count(self) -> str:
        count = len(self.runs)
        return f"{count} run" if count == 1 else f"{count} runs"

    def describe(self) -> str:
        """Return where things stand and how to ask, in Markdown."""
        if (choice := self.choice) is None:
            who = "No model was asked yet."
        else:
            who = choice.introduction()
        doing = "a run is going on" if self.is_running else "idle"
        return (
            f"{who}\n\nSession `{self.name}` in `{self.directory}`: {self._count}, {doing}.\n\n"
            "Ask with `%agent your question`, or with `%%agent` and text below it. "
            "`%agent /help` lists options and commands."
        )

    def show(self, run: int = -1) -> None:
        """Show a run again, in the form that a notebook keeps; the last one if none is named."""
        if not self.runs:
            raise AgentUsageError("There is no run to show yet. Ask something first.")
        display(picture_of(self.runs[run], self.secrets), raw=True)  # type: ignore[no-untyped-call]

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
        thread, conversation = self._runtime.thread, self._conversation
        future = thread.submit(conversation.answer(question, cell))
        stop = partial(thread.post, conversation.stop_run, future)
        handle = Handle(future, "The run", stop=stop)
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
        return self._handle(self._conversation.abort(), "Stopping")

    def wait_for_idle(self) -> Handle[None]:
        """Wait until no run goes on."""
        return self._handle(self._conversation.wait_for_idle(), "Waiting")

    def open(self) -> Handle["ModelChoice"]:
        """Make the session ready without asking anything."""
        return self.change(UNCHANGED)

    def new(self) -> Handle["ModelChoice"]:
        """Begin a new conversation with the same model and tools; the old one stays on disk."""
        return self.change(UNCHANGED, new=True)

    def set_model(self, name: str) -> Handle["ModelChoice"]:
        """Use another model from the next prompt on."""
        return self.change(Setup(model=name))

    def set_thinking_level(self, level: ThinkingLevel) -> Handle["ModelChoice"]:
        """Let the model think more or less from the next prompt on."""
        return self.change(Setup(thinking=level))

    def set_tools(self, names: Sequence[str]) -> Handle["ModelChoice"]:
        """Choose the tools the model may call from the next prompt on."""
        return self.change(Setup(tools=tuple(names)))

    def set_allowed(self, names: Collection[str]) -> Handle[None]:
        """Choose the effects and tools that need no asking from now on, for instance "write"."""
        return self._handle(self._conversation.allow(tuple(names)), "The change")

    def change(self, setup: Setup, *, new: bool = False) -> Handle["ModelChoice"]:
        """Change what a setup says, in a new conversation if asked; gives the model's choice."""
        return self._handle(self._conversation.change(setup, new=new), "The change")

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Call `callback` with every event, on the agent thread; return how to stop that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def dispose(self) -> Handle[None]:
        """Stop what is running and let go of files and connections; the next prompt reopens."""
        return self._handle(self._conversation.close(), "Closing the session")

    def _handle(self, coroutine: Coroutine[Any, Any, T], what: str) -> Handle[T]:
        return Handle(self._runtime.thread.submit(coroutine), what)

    def _soon(self, act: Callable[["AgentSession"], T], what: str) -> Handle[T]:
        async def when_ready() -> T:
            return act(await self._conversation.ready(UNCHANGED))

        return self._handle(when_ready(), what)

    def _tell(self, event: SessionEvent) -> None:
        for callback in tuple(self._subscribers):
            callback(event)


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
    found = RUNTIME.sessions.get(name)
    if found is None or directory is not None:
        where = _directory(shell.user_ns if shell else {}, directory)
        if found is not None and found.directory != where:
            raise AgentUsageError(
                f"Session {name!r} works in {found.directory}. For {where} use another name: "
                f"agent_nb.session({where.name!r}, directory=…)."
            )
        found = RUNTIME.sessions[name] = found or NotebookSession(name, where, runtime=RUNTIME)
    if shell:
        show_results_well(shell, RUNTIME.drawn, RUNTIME.secrets)
    return found


def _directory(names: Mapping[str, Any], explicit: str | Path | None) -> Path:
    try:
        return notebook_directory(names, os.environ, explicit=explicit)
    except ConfigError as error:
        raise shown_as_line(error) from error.__cause__
