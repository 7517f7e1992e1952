"""`AgentSession` owns a conversation: its history, queues, tools, and one run at a time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from agent_nb.core.content import ImageContent, ToolCall
from agent_nb.core.errors import ConfigError, RunInProgressError
from agent_nb.core.events import (
    AgentSettled,
    PermissionDecided,
    SessionEvent,
    SessionInfoChanged,
    ThinkingLevelChanged,
)
from agent_nb.core.messages import BashExecutionMessage, Message, UserMessage
from agent_nb.core.model import Model, ThinkingLevel, clamp_thinking
from agent_nb.core.provider import SentRequest
from agent_nb.core.tool import Tool, ToolContext
from agent_nb.inspect.requests import RequestLog
from agent_nb.inspect.runs import RunResult
from agent_nb.inspect.timeline import EventLog
from agent_nb.inspect.turns import Turn, turns_of
from agent_nb.loop.config import Blocked, LoopConfig
from agent_nb.providers.catalog import Catalog
from agent_nb.session.available import available_models
from agent_nb.session.choice import ModelChoice
from agent_nb.session.context import for_model
from agent_nb.session.drive import Driver
from agent_nb.session.entry_views import session_name
from agent_nb.session.history import History
from agent_nb.session.permissions import Gate
from agent_nb.session.provider_pool import ProviderPool
from agent_nb.session.queues import Queues
from agent_nb.session.resources import Resources
from agent_nb.session.run import Budget, Run
from agent_nb.session.settings import Settings
from agent_nb.session.store import SessionStore
from agent_nb.session.system_prompt import build_sections, prompt_change, prompt_text
from agent_nb.session.user_bash import UserBash, UserCommand
from agent_nb.session.waiting import wait_for
from agent_nb.tools import Toolbox

logger = logging.getLogger(__name__)

Subscriber = Callable[[SessionEvent], None]
Disposition = Literal["started", "queued"]


def _ignore(_disposition: Disposition) -> None:
    return None


@dataclass(frozen=True, slots=True)
class SessionState:
    """Where a session stands."""

    id: str
    cwd: Path
    model: str
    thinking_level: str
    tools: tuple[str, ...]
    is_running: bool
    messages: int
    pending: int
    path: Path | None


@dataclass(frozen=True)
class SessionParts:
    """What a session is made of; `create_session` puts it together."""

    cwd: Path
    history: History
    settings: Settings
    catalog: Catalog
    providers: ProviderPool
    resources: Resources
    gate: Gate
    toolbox: Toolbox
    tool_context: ToolContext


class AgentSession:
    """A conversation with a model that has tools. Belongs to the event loop it is used on."""

    def __init__(
        self,
        parts: SessionParts,
        choice: ModelChoice,
        thinking_level: ThinkingLevel,
        *,
        tools: Sequence[str],
    ) -> None:
        self._parts = parts
        self._loop = asyncio.get_running_loop()
        self._history = parts.history
        self.choice = choice
        self.thinking_level: ThinkingLevel = thinking_level
        self._tools = self._named(tools)
        self.queues = Queues(parts.settings.steering_mode, parts.settings.follow_up_mode)
        self._driver = Driver(parts.history, self.queues, parts.settings, self._emit)
        self._bash = UserBash(
            parts.toolbox, parts.tool_context, history=parts.history, emit=self._emit
        )
        self._events = EventLog()
        self._requests = RequestLog()
        self._runs: list[RunResult] = []
        self._run: Run | None = None
        self._subscribers: list[Subscriber] = []

    # --- what there is to see

    @property
    def id(self) -> str:
        """The session's id."""
        return self._history.store.id

    @property
    def cwd(self) -> Path:
        """The session's directory."""
        return self._parts.cwd

    @property
    def path(self) -> Path | None:
        """The session file; None for a session in memory."""
        return self._history.store.path

    @property
    def name(self) -> str | None:
        """The session's name, None if it was given none."""
        return session_name(self.store)

    @property
    def store(self) -> SessionStore:
        """The entries of the session; to be read."""
        return self._history.store

    @property
    def resources(self) -> Resources:
        """Skills, prompt templates and context files."""
        return self._parts.resources

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._driver.settings

    @property
    def model(self) -> Model:
        """The model that is asked."""
        return self.choice.model

    @property
    def header(self) -> dict[str, object]:
        """The first line of the session file."""
        return dict(self._history.store.header)

    @property
    def reports(self) -> tuple[str, ...]:
        """What could not be loaded or was set aside, one sentence each."""
        return (*self._history.store.reports, *self._parts.resources.reports)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values to be masked wherever something is shown, longest first."""
        return self._parts.providers.secrets

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools the model may call."""
        return self._tools

    @property
    def is_running(self) -> bool:
        """Whether a run is going on."""
        return self._run is not None

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far, system messages included."""
        return self._history.messages

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the conversation."""
        return turns_of(self._history.messages)

    @property
    def runs(self) -> tuple[RunResult, ...]:
        """The runs since the session was opened."""
        return tuple(self._runs)

    @property
    def events(self) -> EventLog:
        """What happened since the session was opened, in order."""
        return self._events.snapshot()

    @property
    def requests(self) -> RequestLog:
        """The exact requests since the session was opened."""
        return self._requests.snapshot()

    @property
    def state(self) -> SessionState:
        """Where the session stands."""
        return SessionState(
            self.id,
            self.cwd,
            self.model.key,
            self.thinking_level,
            tuple(tool.name for tool in self._tools),
            self.is_running,
            len(self._history.messages),
            len(self.queues),
            self.path,
        )

    def __repr__(self) -> str:
        doing = "running" if self.is_running else "idle"
        return f"<AgentSession {self.id[:8]} {self.model.key} in {self.cwd}, {doing}>"

    # --- what one can do

    async def prompt(
        self,
        text: str,
        *,
        images: Sequence[ImageContent] = (),
        streaming_behavior: Literal["steer", "followUp"] | None = None,
        budget: Budget | None = None,
        on_accepted: Callable[[Disposition], None] = _ignore,
    ) -> RunResult:
        """Ask, and return when everything automatic has settled.

        Args:
            text: The prompt; `/skill:name` and `/template` are expanded.
            images: Shown to the model after the text.
            streaming_behavior: What to do while a run goes on; then the result is that run's.
            budget: What ends the run early.
            on_accepted: Called once the prompt is queued, or right before its run's first event.

        Raises:
            RunInProgressError: If a run goes on and `streaming_behavior` does not say what to do.
            ConfigError: If the model cannot be asked; nothing was sent.
        """
        message = UserMessage.of(self._parts.resources.expanded(text), images)
        if self._run is not None:
            settled = self._queued(self._run, message, streaming_behavior)
            on_accepted("queued")
            return await settled
        provider = self._parts.providers.for_model(self.model)
        (budget or Budget()).check(self.model)
        run = self._run = Run(budget or Budget())
        try:
            sections = build_sections(self.cwd, self._tools, self._parts.resources)
            change = prompt_change(self._history.system_messages, sections, self._tools)
            config = LoopConfig(
                provider=provider,
                model=self.model,
                system=prompt_text(sections),
                tools=self._tools,
                thinking_level=self.thinking_level,
                session_id=self.id,
                signal=run.signal,
                steering=self.queues.steering,
                follow_ups=self.queues.follow_ups,
                tool_context=self._parts.tool_context,
                before_tool=self._before_tool,
                finish_turn=run.finish_turn,
                for_model=for_model,
                on_sent=self._sent,
            )
            on_accepted("started")
            with run.time_limit():
                await self._driver.drive(run, config, [change, message] if change else [message])
        except BaseException as error:
            run.fail(error)
            raise
        finally:
            self._settle(run)
        await self._history.store.sync()
        return run.result

    def prompt_sync(self, text: str, *, budget: Budget | None = None) -> RunResult:
        """Ask and wait, in code that cannot await; see `prompt`."""
        return wait_for(self.prompt(text, budget=budget), self._loop)

    def steer(self, text: str, images: Sequence[ImageContent] = ()) -> None:
        """Queue a message for the next turn; while idle it goes with the next prompt."""
        self.queues.steering.put(UserMessage.of(self._parts.resources.expanded(text), images))
        self._queue_changed()

    def follow_up(self, text: str, images: Sequence[ImageContent] = ()) -> None:
        """Queue a message for when the run would otherwise end."""
        self.queues.follow_ups.put(UserMessage.of(self._parts.resources.expanded(text), images))
        self._queue_changed()

    def clear_queues(self) -> tuple[list[UserMessage], list[UserMessage]]:
        """Empty both queues; return the steering messages and the follow-ups that waited."""
        cleared = self.queues.steering.clear(), self.queues.follow_ups.clear()
        self._queue_changed()
        return cleared

    def abort_soon(self) -> None:
        """Stop the run, if there is one, without waiting for it to settle."""
        if self._run is not None:
            self._run.signal.abort()

    async def abort(self) -> None:
        """Stop the run, if there is one; return when it has settled."""
        self.abort_soon()
        await self.wait_for_idle()

    async def abort_retry(self) -> None:
        """Give up waiting for another try, if that is what goes on; return when it has settled."""
        if self._run is not None and self._run.waiting is not None:
            self._run.waiting.abort()
            await self.wait_for_idle()

    def run_bash(self, command: UserCommand) -> Coroutine[Any, Any, BashExecutionMessage]:
        """Run a command of the user's and store it; the model sees it with the next prompt.

        Raises:
            ToolError: If it cannot be started.
        """
        return self._bash.run(command, lambda: self.is_running)

    def abort_bash(self) -> None:
        """Cancel the user's commands that are running."""
        self._bash.abort()

    async def wait_for_idle(self) -> None:
        """Return when no run goes on."""
        if self._run is not None:
            await asyncio.wait([self._run.settled])

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        """Call `callback` with every event, on the session's loop; return how to stop that."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def set_model(self, name: str) -> Model:
        """Use another model from the next prompt on.

        Raises:
            ConfigError: If there is no such model, or no key for it.
        """
        found = self._parts.catalog.find(name)
        self._parts.providers.for_model(found.model)
        changed = found.model.key != self.model.key
        self.choice = ModelChoice(found.model, "asked")
        if changed:
            self._history.store.append(
                "model_change", provider=found.model.provider, modelId=found.model.id
            )
        self.set_thinking_level(found.thinking or self.thinking_level)
        return found.model

    def available_models(self) -> list[Model]:
        """Return the models that can be asked without another key."""
        return available_models(self._parts.catalog, self.model)

    def set_auto_retry(self, *, enabled: bool) -> None:
        """Ask for failed answers again or not, from the next prompt on."""
        retry = self.settings.retry.model_copy(update={"enabled": enabled})
        changed = self.settings.model_copy(update={"retry": retry})
        self._driver = replace(self._driver, settings=changed)

    def set_name(self, name: str) -> None:
        """Name the session.

        Raises:
            ConfigError: If the name is empty.
        """
        name = " ".join(name.splitlines()).strip()
        if not name:
            raise ConfigError("The name of a session cannot be empty.")
        self._history.store.append("session_info", name=name)
        self._emit(SessionInfoChanged(name))

    def set_thinking_level(self, level: ThinkingLevel) -> None:
        """Let the model think more or less; clamped to what it can."""
        level = clamp_thinking(level, self.model)
        if level != self.thinking_level:
            self.thinking_level = level
            self._history.store.append("thinking_level_change", thinkingLevel=level)
            self._emit(ThinkingLevelChanged(level))

    def set_tools(self, names: Sequence[str]) -> None:
        """Choose the tools the model may call.

        Raises:
            ConfigError: If there is no tool of a name.
        """
        self._tools = self._named(names)

    def set_allowed(self, names: Collection[str]) -> None:
        """Choose what the permission gate lets through without asking."""
        self._parts.gate.allow = frozenset(names)

    async def dispose(self) -> None:
        """Stop what is running, commands left in the background too; let go of files."""
        await self.abort()
        await self._bash.close()
        self._parts.toolbox.close()
        await self._parts.providers.close()
        self._history.store.close()

    # --- how a run goes

    def _settle(self, run: Run) -> None:
        self.queues.put_back()
        self._run = None
        run.settle(self.model.key, self.secrets)
        self._runs.append(run.result)
        self._emit(AgentSettled(aborted=run.signal.aborted and not run.out_of_time))
        run.settled.set_result(run.result)
        self._bash.store_waiting()

    def _queued(
        self, run: Run, message: UserMessage, behavior: Literal["steer", "followUp"] | None
    ) -> Awaitable[RunResult]:
        if behavior is None:
            raise RunInProgressError(
                "A run is going on. Say whether this message should steer it or follow up "
                '(streaming_behavior="steer" or "followUp"), or wait until it has ended.'
            )
        queues = self.queues
        (queues.steering if behavior == "steer" else queues.follow_ups).put(message)
        self._queue_changed()
        return asyncio.shield(run.settled)

    async def _before_tool(self, call: ToolCall, tool: Tool, arguments: object) -> Blocked | None:
        decision = await self._parts.gate.decide(call, tool, arguments)
        if decision is None:
            return None
        self._emit(PermissionDecided(call.id, call.name, decision.allowed, decision.reason))
        return None if decision.allowed else Blocked(decision.reason)

    def _queue_changed(self) -> None:
        self._emit(self.queues.update())

    def _sent(self, request: SentRequest) -> None:
        self._requests.add(request)

    def _named(self, names: Sequence[str]) -> tuple[Tool, ...]:
        box = self._parts.toolbox
        for name in names:
            if name not in box.names:
                raise ConfigError(f"There is no tool {name!r}. There are: {', '.join(box.names)}.")
        return tuple(box.tool(name) for name in names)

    def _emit(self, event: SessionEvent) -> None:
        self._events.add(event)
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(event)
            except Exception:
                logger.exception("A subscriber failed at %s", event.type)
