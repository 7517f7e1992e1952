"""Events: what is happening. Light values, since thousands pass in a second; none is stored.

Three kinds. *Stream events* come from a provider. *Agent events* come from the loop. *Session
events* are the loop's plus queue, retry, compaction and settling. Names and order are pi's
(docs/json.md of pi 1.6.0).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agent_nb.core.content import ToolCall
from agent_nb.core.messages import (
    AssistantMessage,
    Message,
    StopReason,
    ToolResultMessage,
    Usage,
)
from agent_nb.core.tool import ToolResult

# --- stream events: a provider's answer, piece by piece


@dataclass(frozen=True, slots=True)
class TextStart:
    """A text block begins at `content_index`."""

    content_index: int
    type: Literal["text_start"] = "text_start"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """`delta` is appended to the text block at `content_index` of the answer being streamed."""

    content_index: int
    delta: str
    type: Literal["text_delta"] = "text_delta"


@dataclass(frozen=True, slots=True)
class TextEnd:
    """The text block is complete."""

    content_index: int
    content: str
    type: Literal["text_end"] = "text_end"


@dataclass(frozen=True, slots=True)
class ThinkingStart:
    """A thinking block begins; a redacted one carries its encrypted payload in `signature`."""

    content_index: int
    redacted: bool = False
    signature: str | None = None
    type: Literal["thinking_start"] = "thinking_start"


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """`delta` is appended to the thinking block at `content_index`."""

    content_index: int
    delta: str
    type: Literal["thinking_delta"] = "thinking_delta"


@dataclass(frozen=True, slots=True)
class ThinkingEnd:
    """The thinking block is complete."""

    content_index: int
    content: str
    type: Literal["thinking_end"] = "thinking_end"


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A tool call begins."""

    content_index: int
    id: str
    tool_name: str
    type: Literal["toolcall_start"] = "toolcall_start"


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """`delta` is appended to the JSON text of the call's arguments."""

    content_index: int
    delta: str
    type: Literal["toolcall_delta"] = "toolcall_delta"


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """The tool call is complete; `tool_call.arguments` is `{}` where the text was not JSON."""

    content_index: int
    tool_call: ToolCall
    type: Literal["toolcall_end"] = "toolcall_end"


@dataclass(frozen=True, slots=True)
class Signature:
    """Opaque replay data for the block at `content_index`, even an ended one; the last counts."""

    content_index: int
    signature: str
    type: Literal["signature"] = "signature"


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """The provider finished a block; the loop makes the block's own end event of it.

    `content` is the whole text, or the arguments, where the deltas joined are something else.
    """

    content_index: int
    content: str | None = None
    type: Literal["block_end"] = "block_end"


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Tokens so far, cumulative; the last report counts."""

    usage: Usage
    type: Literal["usage"] = "usage"


@dataclass(frozen=True, slots=True)
class ResponseInfo:
    """What the server says of itself."""

    response_id: str | None = None
    response_model: str | None = None
    type: Literal["response_info"] = "response_info"


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer is whole; `error` is set where the server's reason to end is a failure."""

    stop_reason: StopReason
    raw_stop_reason: str | None = None
    error: str | None = None
    type: Literal["finish"] = "finish"


ProviderEvent = (
    TextStart
    | TextDelta
    | ThinkingStart
    | ThinkingDelta
    | ToolCallStart
    | ToolCallDelta
    | Signature
    | BlockEnd
    | UsageReport
    | ResponseInfo
    | Finish
)
"""What adapters yield."""

StreamEvent = (
    TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
)
"""What listeners see inside `MessageUpdate`."""


class AnswerSoFar(Protocol):
    """The answer being streamed; its message is built only when read."""

    @property
    def message(self) -> AssistantMessage:
        """The answer so far, as a message."""
        ...

    @property
    def usage(self) -> Usage:
        """Tokens so far, as the provider reported them."""
        ...


# --- agent events: the loop


@dataclass(frozen=True, slots=True)
class AgentStart:
    """One pass of the loop begins."""

    type: Literal["agent_start"] = "agent_start"


@dataclass(frozen=True, slots=True)
class TurnStart:
    """A turn begins: queued messages, one answer, its tools."""

    type: Literal["turn_start"] = "turn_start"


@dataclass(frozen=True, slots=True)
class MessageStart:
    """A message begins; an assistant's is still empty."""

    message: Message
    type: Literal["message_start"] = "message_start"


@dataclass(frozen=True, slots=True)
class MessageUpdate:
    """A piece of the answer arrived; `answer.message` is the answer so far, built when read."""

    assistant_message_event: StreamEvent
    answer: AnswerSoFar
    type: Literal["message_update"] = "message_update"


@dataclass(frozen=True, slots=True)
class MessageEnd:
    """A message is complete, and on disk where the session has a file."""

    message: Message
    type: Literal["message_end"] = "message_end"


@dataclass(frozen=True, slots=True)
class ToolExecutionStart:
    """A tool call is being prepared; `args` are as the model wrote them."""

    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    type: Literal["tool_execution_start"] = "tool_execution_start"


@dataclass(frozen=True, slots=True)
class ToolExecutionUpdate:
    """A running tool has something to show; `partial_result` replaces the one before."""

    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    partial_result: ToolResult
    type: Literal["tool_execution_update"] = "tool_execution_update"


@dataclass(frozen=True, slots=True)
class ToolExecutionEnd:
    """A tool call is done; `duration_ms` is None if the tool did not run."""

    tool_call_id: str
    tool_name: str
    result: ToolResult
    is_error: bool
    duration_ms: int | None = None
    type: Literal["tool_execution_end"] = "tool_execution_end"


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """One answer and its tools are done."""

    message: AssistantMessage
    tool_results: tuple[ToolResultMessage, ...] = ()
    type: Literal["turn_end"] = "turn_end"


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """One pass of the loop is over; more may follow. `messages` are the new ones."""

    messages: tuple[Message, ...]
    will_retry: bool = False
    type: Literal["agent_end"] = "agent_end"


AgentEvent = (
    AgentStart
    | TurnStart
    | MessageStart
    | MessageUpdate
    | MessageEnd
    | ToolExecutionStart
    | ToolExecutionUpdate
    | ToolExecutionEnd
    | TurnEnd
    | AgentEnd
)


# --- session events


@dataclass(frozen=True, slots=True)
class AgentSettled:
    """Nothing automatic is left: the run is over. `aborted` means the user stopped it."""

    aborted: bool = False
    type: Literal["agent_settled"] = "agent_settled"


@dataclass(frozen=True, slots=True)
class QueueUpdate:
    """The queues changed; both are given whole."""

    steering: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()
    type: Literal["queue_update"] = "queue_update"


@dataclass(frozen=True, slots=True)
class AutoRetryStart:
    """The answer failed and will be asked for again after `delay_ms`."""

    attempt: int
    max_attempts: int
    delay_ms: float
    error_message: str
    type: Literal["auto_retry_start"] = "auto_retry_start"


@dataclass(frozen=True, slots=True)
class AutoRetryEnd:
    """Retrying is over."""

    success: bool
    attempt: int
    final_error: str | None = None
    type: Literal["auto_retry_end"] = "auto_retry_end"


@dataclass(frozen=True, slots=True)
class ThinkingLevelChanged:
    """The thinking level is now `level`."""

    level: str
    type: Literal["thinking_level_changed"] = "thinking_level_changed"


@dataclass(frozen=True, slots=True)
class SessionInfoChanged:
    """The session's name is now `name`."""

    name: str
    type: Literal["session_info_changed"] = "session_info_changed"


@dataclass(frozen=True, slots=True)
class BashExecutionUpdate:
    """A command of the user's wrote `delta`; `id` is what it was started with."""

    delta: str
    id: str | None = None
    type: Literal["bash_execution_update"] = "bash_execution_update"


@dataclass(frozen=True, slots=True)
class PermissionDecided:
    """A gate decided a tool call. Absent where everything is allowed; not one of pi's events."""

    tool_call_id: str
    tool_name: str
    allowed: bool
    reason: str
    type: Literal["permission_decided"] = "permission_decided"


SessionEvent = (
    AgentEvent
    | AgentSettled
    | QueueUpdate
    | AutoRetryStart
    | AutoRetryEnd
    | ThinkingLevelChanged
    | SessionInfoChanged
    | BashExecutionUpdate
    | PermissionDecided
)
