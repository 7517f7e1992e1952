"""Short ways to write the events of a run, as views get them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_nb.core.content import ContentBlock, TextContent, ToolCall
from agent_nb.core.events import (
    MessageEnd,
    MessageStart,
    MessageUpdate,
    SessionEvent,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnEnd,
    TurnStart,
)
from agent_nb.core.messages import NO_USAGE, AssistantMessage, StopReason, Usage, UserMessage
from agent_nb.core.tool import ToolResult

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)></details></div></pre>"
    "[x](javascript:alert(1)) ![y](https://evil.example/y.png) \x1b[31mred\x1b[0m \u202egnp.exe\x00"
)


class _Answer:
    usage = NO_USAGE
    message = AssistantMessage(())


def update(event: StreamEvent) -> MessageUpdate:
    return MessageUpdate(event, _Answer())


def asked(question: str) -> Iterator[SessionEvent]:
    """The prompt, up to where the model begins to answer."""
    yield TurnStart()
    yield MessageStart(UserMessage.of(question))
    yield MessageEnd(UserMessage.of(question))
    yield MessageStart(AssistantMessage((), stop_reason="pending"))


def streamed_text(text: str, *, index: int = 0, size: int = 4) -> Iterator[SessionEvent]:
    yield update(TextStart(index))
    for at in range(0, len(text), size):
        yield update(TextDelta(index, text[at : at + size]))
    yield update(TextEnd(index, text))


def streamed_thinking(text: str, *, index: int = 0) -> Iterator[SessionEvent]:
    yield update(ThinkingStart(index))
    yield update(ThinkingDelta(index, text))
    yield update(ThinkingEnd(index, text))


def streamed_call(
    call_id: str, name: str, arguments: Mapping[str, Any], *, index: int = 0
) -> Iterator[SessionEvent]:
    yield update(ToolCallStart(index, call_id, name))
    text = json.dumps(arguments)
    for at in range(0, len(text), 3):
        yield update(ToolCallDelta(index, text[at : at + 3]))
    yield update(ToolCallEnd(index, ToolCall(call_id, name, arguments)))


def answered(
    *content: ContentBlock,
    reason: StopReason = "stop",
    error: str | None = None,
    usage: Usage = NO_USAGE,
) -> MessageEnd:
    message = AssistantMessage(content, stop_reason=reason, error_message=error, usage=usage)
    return MessageEnd(message)


def ran(
    call_id: str,
    name: str,
    arguments: Mapping[str, Any],
    output: str,
    *,
    is_error: bool = False,
    details: Mapping[str, Any] | None = None,
) -> Iterator[SessionEvent]:
    result = ToolResult((TextContent(output),), details, is_error)
    yield ToolExecutionStart(call_id, name, arguments)
    yield ToolExecutionEnd(call_id, name, result, is_error, 4)


def next_turn() -> Iterator[SessionEvent]:
    yield TurnEnd(AssistantMessage(()))
    yield TurnStart()
    yield MessageStart(AssistantMessage((), stop_reason="pending"))


def together(*parts: SessionEvent | Iterable[SessionEvent]) -> list[SessionEvent]:
    """Join events and runs of events to one list."""
    events: list[SessionEvent] = []
    for part in parts:
        events += part if isinstance(part, Iterable) else [part]
    return events


def hostile_events() -> list[SessionEvent]:
    """A run in which every text is hostile."""
    arguments = {"path": HOSTILE, HOSTILE: HOSTILE}
    markdown = f"{HOSTILE}\n\n```<script>\n{HOSTILE}\n```\n\n$\\text{{{HOSTILE}}}$ `{HOSTILE}`"
    return together(
        asked(HOSTILE),
        streamed_thinking(HOSTILE, index=0),
        streamed_text(markdown, index=1),
        streamed_call("1", HOSTILE, arguments, index=2),
        streamed_call("2", "bash", {"command": HOSTILE}, index=3),
        answered(),
        ran("1", HOSTILE, arguments, HOSTILE, is_error=True),
        ran("2", "bash", {"command": HOSTILE}, HOSTILE, details={"diff": f"-{HOSTILE}"}),
    )
