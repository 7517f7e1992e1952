"""The turn that is going on: how stream and tool events change its blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agent_nb.core.content import (
    ContentBlock,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
)
from agent_nb.core.events import (
    PermissionDecided,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from agent_nb.core.messages import AssistantMessage, ToolResultMessage
from agent_nb.render.blocks import Block, Status, TextBlock, ThinkingBlock, ToolCard
from agent_nb.render.calls import line_count
from agent_nb.render.growing import GrowingText
from agent_nb.render.history import with_result

ToolEvent = ToolExecutionStart | ToolExecutionUpdate | ToolExecutionEnd | PermissionDecided


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A turn so far.

    Attributes:
        places: Where in `blocks` the answer's block of a content index stands.
        answered: Whether its answer has begun; until then what comes still belongs to it.
    """

    number: int
    blocks: tuple[Block, ...] = ()
    places: Mapping[int, int] = field(default_factory=dict)
    answered: bool = False

    def adding(self, block: Block, content_index: int | None = None) -> "LiveTurn":
        """Return the turn with one more block."""
        places = self.places
        if content_index is not None:
            places = {**places, content_index: len(self.blocks)}
        return LiveTurn(self.number, (*self.blocks, block), places, self.answered)

    def putting(self, position: int, block: Block) -> "LiveTurn":
        """Return the turn with `block` in the place of another."""
        before = self.blocks
        if before[position] is block:
            return self
        blocks = (*before[:position], block, *before[position + 1 :])
        return LiveTurn(self.number, blocks, self.places, self.answered)


def streamed(turn: LiveTurn, event: StreamEvent, clock_s: float) -> LiveTurn:
    """Return the turn after a piece of its answer."""
    position = turn.places.get(event.content_index)
    if position is None:
        # some protocols end all blocks together: what begins next ends the thinking
        for at, block in enumerate(turn.blocks):
            if isinstance(block, ThinkingBlock) and block.is_open:
                turn = turn.putting(at, _thought(block, clock_s))
        turn = turn.adding(_begun(event, clock_s), event.content_index)
        position = len(turn.blocks) - 1
    return turn.putting(position, _grown(turn.blocks[position], event, clock_s))


def _begun(event: StreamEvent, clock_s: float) -> Block:
    match event:
        case TextStart() | TextDelta() | TextEnd():
            return TextBlock(GrowingText.of(), is_open=True)
        case ThinkingStart() | ThinkingDelta() | ThinkingEnd():
            return ThinkingBlock(GrowingText.of(), is_open=True, started_s=clock_s)
        case ToolCallEnd(tool_call=call):
            return _written(call)
        case _:
            call_id, name = getattr(event, "id", ""), getattr(event, "tool_name", "")
            return ToolCard(call_id, name, "writing", GrowingText.of())


def _grown(block: Block, event: StreamEvent, clock_s: float) -> Block:
    match block, event:
        case TextBlock(text=text), TextDelta(delta=delta):
            return TextBlock(text.appended(delta), is_open=True)
        case TextBlock(), TextEnd():
            return replace(block, is_open=False)
        case ThinkingBlock(text=text, started_s=started_s), ThinkingDelta(delta=delta):
            return ThinkingBlock(text.appended(delta), is_open=True, started_s=started_s)
        case ThinkingBlock(is_open=True), ThinkingEnd():
            return _thought(block, clock_s)
        case ToolCard(), ToolCallDelta(delta=delta):
            return replace(block, written=block.written.appended(delta))
        case ToolCard(), ToolCallEnd(tool_call=call):
            return replace(_written(call), written=block.written)
        case _:
            return block


def _thought(block: ThinkingBlock, clock_s: float) -> ThinkingBlock:
    took = clock_s - block.started_s if block.started_s is not None and clock_s else None
    return replace(block, is_open=False, duration_s=took)


def _written(call: ToolCall) -> ToolCard:
    readable = None if call.arguments_error else call.arguments
    return ToolCard(call.id, call.name, "ready", GrowingText.of(), readable)


def settled(turn: LiveTurn, message: AssistantMessage, clock_s: float) -> LiveTurn:
    """Return the turn with its answer whole: open blocks closed, missing ones added."""
    for index, content in enumerate(message.content):
        if index not in turn.places and (block := _whole(content)):
            turn = turn.adding(block, index)
    for position, block in enumerate(turn.blocks):
        turn = turn.putting(position, _closed(block, clock_s))
    return turn


def _whole(content: ContentBlock) -> Block | None:
    match content:
        case TextContent(text=text) if text.strip():
            return TextBlock(GrowingText.of(text))
        case ThinkingContent(thinking=thinking):
            return ThinkingBlock(GrowingText.of(thinking))
        case ToolCall():
            return _written(content)
        case _:
            return None


def _closed(block: Block, clock_s: float) -> Block:
    match block:
        case TextBlock(is_open=True):
            return replace(block, is_open=False)
        case ThinkingBlock(is_open=True):
            return _thought(block, clock_s)
        case _:
            return block


def ran(turn: LiveTurn, event: ToolEvent, *, clock_s: float, stopping: bool) -> LiveTurn:
    """Return the turn after something happened to one of its tool calls."""
    position = _card_at(turn, event.tool_call_id)
    if position is None:
        card = ToolCard(event.tool_call_id, event.tool_name, "ready", GrowingText.of())
        turn = turn.adding(card)
        position = len(turn.blocks) - 1
    found = turn.blocks[position]
    assert isinstance(found, ToolCard)
    return turn.putting(position, _worked(found, event, clock_s=clock_s, stopping=stopping))


def _worked(card: ToolCard, event: ToolEvent, *, clock_s: float, stopping: bool) -> ToolCard:
    match event:
        case ToolExecutionStart(args=args):
            arguments = args or card.arguments
            return replace(card, status="running", arguments=arguments, started_s=clock_s)
        case ToolExecutionUpdate(partial_result=partial):
            return replace(card, output=partial.text)
        case PermissionDecided(allowed=allowed, reason=reason):
            return card if allowed else replace(card, refusal=reason)
        case ToolExecutionEnd():
            return _ended(card, event, stopping=stopping)


def _ended(card: ToolCard, event: ToolExecutionEnd, *, stopping: bool) -> ToolCard:
    failed: Status = "stopped" if stopping else "error"
    return replace(
        card,
        status=failed if event.is_error else "done",
        # a refused call's result is the refusal, which the card shows already
        output="" if card.refusal else event.result.text,
        line_count=line_count(event.result.text),
        images=tuple(b for b in event.result.content if isinstance(b, ImageContent)),
        details=event.result.details,
        duration_ms=event.duration_ms,
    )


def with_result_message(turn: LiveTurn, message: ToolResultMessage) -> LiveTurn:
    """Return the turn with a stored result, where no event has told it before."""
    position = _card_at(turn, message.tool_call_id)
    if position is None:
        return turn
    card = turn.blocks[position]
    assert isinstance(card, ToolCard)
    return turn.putting(position, with_result(card, message))


def ended(turn: LiveTurn, clock_s: float) -> LiveTurn:
    """Return the turn as it stands when its run is over: nothing is going on any more."""
    for position, block in enumerate(turn.blocks):
        if isinstance(block, ToolCard) and block.status in {"writing", "ready", "running"}:
            block = replace(block, status="stopped")
        turn = turn.putting(position, _closed(block, clock_s))
    return turn


def _card_at(turn: LiveTurn, call_id: str) -> int | None:
    """Find the card of a call that has no result yet; ids may repeat."""
    for position, block in enumerate(turn.blocks):
        if (
            isinstance(block, ToolCard)
            and block.id == call_id
            and block.status not in {"done", "error", "stopped"}
        ):
            return position
    return None
