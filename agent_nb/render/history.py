"""A transcript from stored messages: for showing a run again, and for replaying a session."""

from collections.abc import Sequence
from itertools import count

from agent_nb.core.content import ImageContent, TextContent, ThinkingContent, ToolCall, text_of
from agent_nb.core.messages import (
    NO_USAGE,
    AssistantMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    Message,
    ToolResultMessage,
    UserMessage,
)
from agent_nb.render.blocks import (
    Block,
    NoticeBlock,
    Outcome,
    ShownTurn,
    TextBlock,
    ThinkingBlock,
    ToolCard,
    Transcript,
    UserBlock,
)
from agent_nb.render.calls import line_count
from agent_nb.render.growing import GrowingText
from agent_nb.render.words import Words, words


def transcript_of(
    messages: Sequence[Message],
    *,
    outcome: Outcome = "done",
    duration_s: float | None = None,
    model: str = "",
    model_note: str = "",
    language: str = "en",
    error: str = "",
) -> Transcript:
    """Return a run as it is shown; its first user message is the question.

    Args:
        messages: The run's messages, oldest first.
        outcome: How the run ended.
        duration_s: From the prompt to the end, in seconds.
        model: `provider/id`.
        model_note: What must be said of the model.
        language: Of the sentences around what was said.
        error: Why the run failed or ended early; else the last answer's own error.
    """
    say = words(language)
    first = next((i for i, m in enumerate(messages) if isinstance(m, UserMessage)), None)
    asked = messages[first] if first is not None else None
    rest = [message for i, message in enumerate(messages) if i != first]
    turns = _turns(rest, say)
    ending = _ending(outcome, error or _last_error(messages), say)
    if ending:
        *before, last = turns or [ShownTurn(1, ())]
        turns = [*before, ShownTurn(last.number, (*last.blocks, ending))]
    return Transcript(
        question=asked.text if isinstance(asked, UserMessage) else "",
        turns=tuple(turns),
        phase=outcome,
        model=model,
        model_note=model_note,
        language=language,
        usage=sum((m.usage for m in rest if isinstance(m, AssistantMessage)), NO_USAGE),
        duration_s=duration_s,
    )


def card_of(call: ToolCall, result: ToolResultMessage | None) -> ToolCard:
    """Return the card of a stored call; one without a result was stopped."""
    card = ToolCard(call.id, call.name, "stopped", GrowingText.of(), call.arguments)
    return with_result(card, result) if result else card


def with_result(card: ToolCard, result: ToolResultMessage) -> ToolCard:
    """Return a card with what the tool gave."""
    return ToolCard(
        card.id,
        card.name,
        "error" if result.is_error else "done",
        card.written,
        card.arguments,
        output=result.text,
        line_count=line_count(result.text),
        images=tuple(b for b in result.content if isinstance(b, ImageContent)),
        details=result.details if isinstance(result.details, dict) else None,
        duration_ms=result.duration_ms,
    )


def aside_of(message: Message, say: Words) -> Block | None:
    """Return the block for a message that is neither answer nor result; None shows nothing."""
    match message:
        case UserMessage():
            return UserBlock(message.text)
        case CustomMessage(display=True):
            text = text_of(message.content)
            return NoticeBlock(text) if text.strip() else None
        case CompactionSummaryMessage() | BranchSummaryMessage():
            return NoticeBlock(say("notice.summary"))
        case _:
            return None


def _turns(messages: Sequence[Message], say: Words) -> list[ShownTurn]:
    turns: list[ShownTurn] = []
    numbers = count(1)
    before: list[Block] = []
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            blocks = (*before, *_answer(message, messages[index + 1 :], say))
            before = []
            if blocks:
                turns.append(ShownTurn(next(numbers), blocks))
        elif aside := aside_of(message, say):
            before.append(aside)
    if before:
        turns.append(ShownTurn(next(numbers), tuple(before)))
    return turns


def _answer(message: AssistantMessage, after: Sequence[Message], say: Words) -> list[Block]:
    results = _results(after)
    blocks: list[Block] = []
    for block in message.content:
        match block:
            case TextContent(text=text) if text.strip():
                blocks.append(TextBlock(GrowingText.of(text)))
            case ThinkingContent(thinking=text):
                blocks.append(ThinkingBlock(GrowingText.of(text)))
            case ToolCall():
                blocks.append(card_of(block, results.pop(block.id, None)))
            case _:
                pass
    if message.stop_reason == "error" and any(isinstance(m, AssistantMessage) for m in after):
        blocks.append(NoticeBlock(message.error_message or say("notice.failed"), "warning"))
    if message.stop_reason == "length":
        blocks.append(NoticeBlock(say("notice.length"), "warning"))
    return blocks


def _results(after: Sequence[Message]) -> dict[str, ToolResultMessage]:
    results: dict[str, ToolResultMessage] = {}
    for message in after:
        if not isinstance(message, ToolResultMessage):
            break
        results.setdefault(message.tool_call_id, message)
    return results


def _ending(outcome: Outcome, error: str, say: Words) -> NoticeBlock | None:
    if outcome == "error":
        return NoticeBlock(error or say("notice.failed"), "error")
    if outcome == "budget":
        return NoticeBlock(error or say("notice.budget"), "warning")
    return None


def _last_error(messages: Sequence[Message]) -> str:
    answers = [m for m in messages if isinstance(m, AssistantMessage)]
    failed = bool(answers) and answers[-1].stop_reason == "error"
    return (answers[-1].error_message or "") if failed else ""
