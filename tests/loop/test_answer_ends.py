"""What a provider says of a block when it ends, and after, counts."""

from collections.abc import AsyncIterator, Sequence

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import TextContent, ThinkingContent, ToolCall
from agent_nb.core.events import (
    BlockEnd,
    Finish,
    MessageUpdate,
    ProviderEvent,
    Signature,
    TextDelta,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallStart,
)
from agent_nb.core.messages import UserMessage
from agent_nb.core.provider import Request
from agent_nb.loop.answer import Answer
from agent_nb.loop.config import LoopConfig


class Says:
    """A provider that yields these events, one by one."""

    def __init__(self, *events: ProviderEvent) -> None:
        self._events = events

    async def stream(
        self, _request: Request, _signal: AbortSignal
    ) -> AsyncIterator[Sequence[ProviderEvent]]:
        for event in self._events:
            yield (event,)

    async def close(self) -> None:
        pass


async def test_the_content_given_at_the_end_replaces_the_deltas() -> None:
    provider = Says(
        ThinkingStart(0),
        ThinkingDelta(0, "Hmm\n\n"),
        BlockEnd(0, "Hmm"),
        ToolCallStart(1, "c1", "read"),
        ToolCallDelta(1, '{"path":'),
        BlockEnd(1, '{"path":"a"}'),
        TextStart(2),
        TextDelta(2, "Hi"),
        BlockEnd(2),
        Finish("toolUse"),
    )
    answer = Answer([UserMessage.of("go")], LoopConfig(provider))
    updates = [event async for event in answer.events() if isinstance(event, MessageUpdate)]
    assert [update.assistant_message_event for update in updates][2] == ThinkingEnd(0, "Hmm")
    assert answer.message.content == (
        ThinkingContent("Hmm"),
        ToolCall("c1", "read", {"path": "a"}),
        TextContent("Hi"),
    )
    assert answer.text_at(1) == '{"path":"a"}'


async def test_a_signature_may_come_after_the_block() -> None:
    provider = Says(
        ThinkingStart(0),
        ThinkingDelta(0, "Hmm"),
        Signature(0, "early"),
        BlockEnd(0),
        Signature(0, "late"),
        Finish("stop"),
    )
    answer = Answer([UserMessage.of("go")], LoopConfig(provider))
    assert [event async for event in answer.events()]
    assert answer.message.content == (ThinkingContent("Hmm", "late"),)
