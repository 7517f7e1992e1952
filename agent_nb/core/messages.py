"""Messages: what was said, as it is stored and sent. Source: pi 1.6.0, docs/message-types.md.

Shapes and JSON keys are pi's; unknown fields survive in `extra`. Timestamps are milliseconds
since 1970.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_nb.core.content import (
    ContentBlock,
    Extra,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    block_from_wire,
    blocks_from_wire,
    text_of,
)
from agent_nb.core.secrets import mask
from agent_nb.core.wire import from_wire, to_wire, wire_field

StopReason = Literal["pending", "stop", "length", "toolUse", "error", "aborted", "deferred"]


def now_ms() -> int:
    """Return the time as messages carry it: milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def _blocks(data: Any) -> Any:
    parsed = blocks_from_wire(data)
    return (TextContent(parsed),) if isinstance(parsed, str) else parsed


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars by kind of token."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    total: float = 0
    extra: Extra = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer; `reasoning` is part of `output`; `cost` is 0 without a price."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total_tokens: int = 0
    reasoning: int | None = None
    cost: Cost = wire_field(decode=lambda data: from_wire(Cost, data), default=Cost())
    extra: Extra = None

    def __add__(self, other: "Usage") -> "Usage":
        ours, theirs = self.cost, other.cost
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.total_tokens + other.total_tokens,
            (self.reasoning or 0) + (other.reasoning or 0) or None,
            Cost(
                ours.input + theirs.input,
                ours.output + theirs.output,
                ours.cache_read + theirs.cache_read,
                ours.cache_write + theirs.cache_write,
                ours.total + theirs.total,
            ),
        )


NO_USAGE = Usage()


def usage_from_wire(data: Mapping[str, Any]) -> Usage:
    """Build a `Usage`; old files may lack `totalTokens`."""
    return from_wire(Usage, data)


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """The system prompt, whole or changed: named `sections`, and tools added or removed."""

    content: str | tuple[ContentBlock, ...] = wire_field(decode=blocks_from_wire, default="")
    sections: Mapping[str, str | None] | None = None
    tools_added: Sequence[Mapping[str, Any]] | None = None
    tools_removed: Sequence[Mapping[str, Any]] | None = None
    timestamp: int = field(default_factory=now_ms)
    role: Literal["system"] = "system"
    extra: Extra = None

    @property
    def text(self) -> str:
        """The prompt as one text."""
        parts = [text_of(self.content), *(part for part in (self.sections or {}).values() if part)]
        return "\n\n".join(part for part in parts if part)

    def __repr__(self) -> str:
        return f"SystemMessage({len(self.text):,} characters)"


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user said: a string, or text and image blocks."""

    content: str | tuple[ContentBlock, ...] = wire_field(decode=blocks_from_wire)
    timestamp: int = field(default_factory=now_ms)
    role: Literal["user"] = "user"
    extra: Extra = None

    @classmethod
    def of(cls, text: str, images: Sequence[ImageContent] = ()) -> "UserMessage":
        """Make a message of one text block and the images after it."""
        return cls((TextContent(text), *images))

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return text_of(self.content)

    def __repr__(self) -> str:
        return f"UserMessage({_clip(self.text)!r})"


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One answer of a model. `error_message` says why `stop_reason` is "error" or "aborted"."""

    content: tuple[ContentBlock, ...] = wire_field(decode=_blocks)
    api: str = ""
    provider: str = ""
    model: str = ""
    usage: Usage = wire_field(decode=usage_from_wire, default=NO_USAGE)
    stop_reason: StopReason = "stop"
    timestamp: int = field(default_factory=now_ms)
    error_message: str | None = None
    response_id: str | None = None
    response_model: str | None = None
    raw_stop_reason: str | None = None
    duration_ms: int | None = None
    thinking_level: str | None = None
    role: Literal["assistant"] = "assistant"
    extra: Extra = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return text_of(self.content)

    @property
    def thinking(self) -> str:
        """The thinking blocks, joined."""
        return "".join(b.thinking for b in self.content if isinstance(b, ThinkingContent))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))

    def __repr__(self) -> str:
        calls = (
            f", calls {', '.join(call.name for call in self.tool_calls)}" if self.tool_calls else ""
        )
        error = f", {self.error_message!r}" if self.error_message else ""
        return f"AssistantMessage({_clip(self.text)!r}{calls}, {self.stop_reason}{error})"


@dataclass(frozen=True, slots=True)
class ToolResultMessage:
    """What a tool call gave; `details` are for people and programs, not for the model."""

    tool_call_id: str
    tool_name: str
    content: tuple[ContentBlock, ...] = wire_field(decode=_blocks, default=())
    details: Any = None
    usage: Usage | None = wire_field(decode=usage_from_wire, default=None)
    is_error: bool = False
    duration_ms: int | None = None
    timestamp: int = field(default_factory=now_ms)
    role: Literal["toolResult"] = "toolResult"
    extra: Extra = None

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return text_of(self.content)

    def __repr__(self) -> str:
        kind = "error" if self.is_error else "result"
        return f"ToolResultMessage({self.tool_name} {kind}, {_clip(self.text)!r})"


@dataclass(frozen=True, slots=True)
class BashExecutionMessage:
    """A command the user ran themselves; sent to the model as user text unless excluded."""

    command: str
    output: str = ""
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None
    exclude_from_context: bool | None = None
    timestamp: int = field(default_factory=now_ms)
    role: Literal["bashExecution"] = "bashExecution"
    extra: Extra = None


@dataclass(frozen=True, slots=True)
class CustomMessage:
    """A message an extension put into the conversation."""

    custom_type: str
    content: str | tuple[ContentBlock, ...] = wire_field(decode=blocks_from_wire, default="")
    display: bool = True
    details: Any = None
    timestamp: int = field(default_factory=now_ms)
    role: Literal["custom"] = "custom"
    extra: Extra = None


@dataclass(frozen=True, slots=True)
class BranchSummaryMessage:
    """What happened on a branch that was left."""

    summary: str
    from_id: str | None = None
    timestamp: int = field(default_factory=now_ms)
    role: Literal["branchSummary"] = "branchSummary"
    extra: Extra = None


@dataclass(frozen=True, slots=True)
class CompactionSummaryMessage:
    """What the conversation said before it was compacted; `tokens_before` is an estimate."""

    summary: str
    tokens_before: int = 0
    timestamp: int = field(default_factory=now_ms)
    role: Literal["compactionSummary"] = "compactionSummary"
    extra: Extra = None


@dataclass(frozen=True, slots=True)
class UnknownMessage:
    """A message of a role we do not know; kept as it came and left out of requests."""

    role: str
    extra: Extra = None


Message = (
    SystemMessage
    | UserMessage
    | AssistantMessage
    | ToolResultMessage
    | BashExecutionMessage
    | CustomMessage
    | BranchSummaryMessage
    | CompactionSummaryMessage
    | UnknownMessage
)

_ROLES: Mapping[str, type[Any]] = {
    "system": SystemMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "toolResult": ToolResultMessage,
    "bashExecution": BashExecutionMessage,
    "custom": CustomMessage,
    "branchSummary": BranchSummaryMessage,
    "compactionSummary": CompactionSummaryMessage,
}


def message_from_wire(data: Mapping[str, Any]) -> Message:
    """Build a message from pi's JSON; a role or shape we do not know becomes `UnknownMessage`."""
    role = str(data.get("role", ""))
    kind = _ROLES.get(role, UnknownMessage)
    try:
        message: Message = from_wire(kind, data)
    except (KeyError, ValueError, AttributeError, TypeError):
        rest = {key: value for key, value in data.items() if key != "role"}
        return UnknownMessage(role, rest)
    return message


def message_to_wire(message: Message) -> dict[str, Any]:
    """Return a message in pi's JSON."""
    data: dict[str, Any] = to_wire(message)
    return {"role": data.pop("role"), **data}


def _clip(text: str, size: int = 60) -> str:
    """Cut for a repr, which may be saved in a notebook: what is shaped like a key is masked."""
    shown = mask(text[: 2 * size + 400])
    return shown if len(shown) <= size else shown[: size - 1] + "…"


__all__ = [
    "NO_USAGE",
    "AssistantMessage",
    "BashExecutionMessage",
    "BranchSummaryMessage",
    "CompactionSummaryMessage",
    "Cost",
    "CustomMessage",
    "Message",
    "StopReason",
    "SystemMessage",
    "ToolResultMessage",
    "UnknownMessage",
    "Usage",
    "UserMessage",
    "block_from_wire",
    "message_from_wire",
    "message_to_wire",
    "now_ms",
    "usage_from_wire",
]
