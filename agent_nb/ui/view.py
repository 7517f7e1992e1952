"""The live view as a value: a pure reducer turns events into what is shown.

Unchanged blocks stay the same objects, so that whoever paints sees at once what changed; a delta
costs the same however long the run is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_nb.core.events import (
    AutoRetryEnd,
    AutoRetryStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    PermissionDecided,
    QueueUpdate,
    SessionEvent,
    TextDelta,
    TextStart,
    ThinkingDelta,
    ThinkingStart,
    ToolCallDelta,
    ToolCallStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnStart,
)
from agent_nb.core.messages import (
    NO_USAGE,
    AssistantMessage,
    Message,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agent_nb.render.blocks import (
    ENDED,
    Block,
    NoticeBlock,
    NoticeKind,
    Outcome,
    Phase,
    ShownTurn,
    ToolCard,
    Transcript,
)
from agent_nb.render.history import aside_of
from agent_nb.render.words import Words, words
from agent_nb.ui import turn as turns
from agent_nb.ui.turn import LiveTurn, ToolEvent


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The run is over; `message` says why it failed or ended early."""

    outcome: Outcome
    duration_s: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to be said in the view."""

    text: str
    kind: NoticeKind = "info"


@dataclass(frozen=True, slots=True)
class Stopping:
    """The user asked to stop; the run has yet to end."""


@dataclass(frozen=True, slots=True)
class Clock:
    """What the time is, in seconds since the run began: a reducer has no clock of its own."""

    at_s: float


ViewEvent = SessionEvent | RunEnded | Notice | Stopping | Clock


@dataclass(frozen=True, slots=True)
class Facts:
    """What stays as it is: the question, who answers, the language, what must not be shown."""

    question: str
    model: str
    model_note: str = ""
    language: str = "en"
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewState:
    """What a view shows.

    Attributes:
        seq: Grows with every change; two states of a run are the same where it is.
        past: The turns that are over.
        now: The turn that is going on.
        asked: Whether the prompt's own message has passed; later ones are shown.
        failure: What the last answer failed with.
        retry: The attempt that is waited for.
        queue: What waits to be said: in the next turn, and afterwards.
        clock_s: Seconds since the run began, as far as events told.
    """

    facts: Facts
    seq: int = 1
    phase: Phase = "starting"
    past: tuple[ShownTurn, ...] = ()
    now: LiveTurn = LiveTurn(1)
    usage: Usage = NO_USAGE
    asked: bool = False
    failure: str = ""
    retry: AutoRetryStart | None = None
    queue: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    clock_s: float = 0.0
    duration_s: float | None = None

    @property
    def say(self) -> Words:
        """The words of the view's language."""
        return words(self.facts.language)

    @property
    def turns(self) -> tuple[ShownTurn, ...]:
        """The turns that have something to show."""
        if not self.now.blocks:
            return self.past
        return (*self.past, ShownTurn(self.now.number, self.now.blocks))

    @property
    def transcript(self) -> Transcript:
        """The neutral shape every static form is made of."""
        facts = self.facts
        return Transcript(
            facts.question,
            self.turns,
            self.phase,
            facts.model,
            facts.model_note,
            facts.language,
            self.usage,
            self.duration_s,
        )

    def changed(self, **fields: Any) -> "ViewState":
        """Return the state after a change; a run that is stopping or over stays so."""
        if self.phase == "stopping" or self.phase in ENDED:
            fields.pop("phase", None)
        return replace(self, seq=self.seq + 1, **fields)

    def with_turn(self, now: LiveTurn, phase: Phase) -> "ViewState":
        """Return the state with the turn changed: the path of every delta, so spelled out."""
        if self.phase == "stopping" or self.phase in ENDED:
            phase = self.phase
        elif now is self.now and phase == self.phase:
            return self
        return ViewState(
            self.facts,
            self.seq + 1,
            phase,
            self.past,
            now,
            self.usage,
            self.asked,
            self.failure,
            self.retry,
            self.queue,
            self.clock_s,
            self.duration_s,
        )

    def showing(self, block: Block) -> "ViewState":
        """Return the state with one more block."""
        return self.changed(now=self.now.adding(block))


def start_view(
    question: str,
    *,
    model: str,
    model_note: str = "",
    language: str = "en",
    secrets: Sequence[str] = (),
) -> ViewState:
    """Return the view of a run that is about to begin; `secrets` are masked wherever they stand."""
    return ViewState(Facts(question, model, model_note, language, tuple(secrets)))


def reduce(state: ViewState, event: ViewEvent) -> ViewState:
    """Return the view after `event`. Pure, so a stored session replays through it."""
    match event:
        case MessageUpdate(assistant_message_event=piece):
            now = turns.streamed(state.now, piece, state.clock_s)
            return state.with_turn(now, _PHASES.get(type(piece), state.phase))
        case ToolExecutionStart() | ToolExecutionUpdate() | ToolExecutionEnd():
            return _tool(state, event)
        case PermissionDecided():
            return _tool(state, event)
        case MessageStart(message=AssistantMessage()):
            now = replace(state.now, answered=True, places={})
            return state.changed(now=now, phase="waiting")
        case MessageEnd(message=message):
            return _said(state, message)
        case TurnStart():
            return _next_turn(state)
        case _:
            return _run(state, event)


_PHASES: Mapping[type, Phase] = {
    TextStart: "answering",
    TextDelta: "answering",
    ThinkingStart: "thinking",
    ThinkingDelta: "thinking",
    ToolCallStart: "calling",
    ToolCallDelta: "calling",
}


def _tool(state: ViewState, event: ToolEvent) -> ViewState:
    stopping = state.phase == "stopping"
    now = turns.ran(state.now, event, clock_s=state.clock_s, stopping=stopping)
    running = any(isinstance(b, ToolCard) and b.status == "running" for b in now.blocks)
    return state.with_turn(now, "running" if running else "waiting")


def _said(state: ViewState, message: Message) -> ViewState:
    match message:
        case AssistantMessage():
            return _answered(state, message)
        case ToolResultMessage():
            return state.with_turn(turns.with_result_message(state.now, message), state.phase)
        case UserMessage() if not state.asked:
            return state.changed(asked=True)
        case _:
            aside = aside_of(message, state.say)
            return state.showing(aside) if aside else state


def _answered(state: ViewState, message: AssistantMessage) -> ViewState:
    now = turns.settled(state.now, message, state.clock_s)
    if message.stop_reason == "length":
        now = now.adding(NoticeBlock(state.say("notice.length"), "warning"))
    failure = (message.error_message or "") if message.stop_reason == "error" else ""
    usage = state.usage + message.usage
    return state.changed(now=now, usage=usage, failure=failure, phase="waiting")


def _next_turn(state: ViewState) -> ViewState:
    if not state.now.answered:
        return state.changed(phase="waiting")
    now = state.now
    if state.retry:
        now = _retried(now, state.retry, state.say)
    past = (*state.past, ShownTurn(now.number, now.blocks)) if now.blocks else state.past
    return state.changed(past=past, now=LiveTurn(len(past) + 1), retry=None, phase="waiting")


def _run(state: ViewState, event: ViewEvent) -> ViewState:
    match event:
        case Clock(at_s=at_s):
            return replace(state, clock_s=at_s)
        case AutoRetryStart():
            notice = NoticeBlock(_retry_sentence(event, state.say), "warning")
            now = state.now.adding(notice)
            return state.changed(now=now, retry=event, failure="", phase="retrying")
        case AutoRetryEnd(success=False, final_error=error):
            return state.changed(failure=error or state.failure, phase="waiting")
        case QueueUpdate(steering=steering, follow_up=follow_up):
            return state.changed(queue=(steering, follow_up))
        case Notice(text=text, kind=kind):
            return state.showing(NoticeBlock(text, kind))
        case Stopping():
            return state.changed(phase="stopping")
        case RunEnded():
            return _over(state, event)
        case _:
            return state


def _over(state: ViewState, event: RunEnded) -> ViewState:
    now = turns.ended(state.now, state.clock_s)
    ending = _ending(state, event)
    if ending:
        now = now.adding(ending)
    return replace(
        state, seq=state.seq + 1, now=now, phase=event.outcome, duration_s=event.duration_s
    )


def _ending(state: ViewState, event: RunEnded) -> NoticeBlock | None:
    message = event.message
    match event.outcome:
        case "error":
            text = message or state.failure or state.say("notice.failed")
            return NoticeBlock(text, "error")
        case "budget":
            return NoticeBlock(message or state.say("notice.budget"), "warning")
        case _:
            return NoticeBlock(message) if message else None


def _retry_sentence(event: AutoRetryStart, say: Words) -> str:
    return say(
        "retry.waiting",
        error=event.error_message.rstrip("."),
        time=say.seconds(event.delay_ms / 1000),
        attempt=event.attempt,
        max=event.max_attempts,
    )


def _retried(now: LiveTurn, event: AutoRetryStart, say: Words) -> LiveTurn:
    """Return the failed turn with its notice in the past tense."""
    waiting = _retry_sentence(event, say)
    past = say("retry.past", error=event.error_message.rstrip("."), attempt=event.attempt)
    for position, block in enumerate(now.blocks):
        if isinstance(block, NoticeBlock) and block.text == waiting:
            return now.putting(position, NoticeBlock(past, "warning"))
    return now
