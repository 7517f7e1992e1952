"""Make a transcript fit to be kept: secrets masked, long parts cut with a note."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_nb.render.blocks import (
    Block,
    NoticeBlock,
    ShownTurn,
    TextBlock,
    ThinkingBlock,
    ToolCard,
    Transcript,
    UserBlock,
)
from agent_nb.render.calls import arguments_of
from agent_nb.render.growing import GrowingText
from agent_nb.render.inert import clip, overwritten, without_secrets
from agent_nb.render.words import Words

MAX_OUTPUT = 10_000
"""Characters kept of one tool's output, however much room there is."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a run is kept: characters of all outputs, texts and images; blocks."""

    outputs: int
    texts: int
    images: int
    blocks: int


def masked(transcript: Transcript, secrets: Sequence[str]) -> Transcript:
    """Return the transcript inert and without secrets, wherever they stand."""

    def hide(text: str) -> str:
        return without_secrets(text, secrets)

    return replace(
        transcript,
        question=hide(transcript.question),
        model=hide(transcript.model),
        model_note=hide(transcript.model_note),
        turns=tuple(
            replace(turn, blocks=tuple(_changed(block, hide) for block in turn.blocks))
            for turn in transcript.turns
        ),
    )


def _changed(block: Block, change: Callable[[str], str]) -> Block:
    """Return a block with every text in it changed."""
    match block:
        case TextBlock() | ThinkingBlock():
            return replace(block, text=GrowingText.of(change(str(block.text))))
        case ToolCard():
            return _changed_card(block, change)
        case UserBlock() | NoticeBlock():
            return replace(block, text=change(block.text))


def masked_card(card: ToolCard, secrets: Sequence[str]) -> ToolCard:
    """Return a card inert and without secrets; its arguments as far as they can be read."""
    return _changed_card(card, lambda text: without_secrets(text, secrets))


def masked_values(values: Mapping[str, Any], secrets: Sequence[str]) -> dict[str, Any]:
    """Return a call's arguments inert and without secrets, however deep they stand."""
    return dict(_values(values, lambda text: without_secrets(text, secrets)))


def _changed_card(card: ToolCard, change: Callable[[str], str]) -> ToolCard:
    return replace(
        card,
        name=change(card.name),
        written=GrowingText.of(),  # JSON may hide a key in its escapes: what it says is kept
        arguments=_values(arguments_of(card), change),
        output=change(overwritten(card.output)),
        details=_values(card.details, change),
        refusal=change(card.refusal),
    )


def _values(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)): _values(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_values(item, change) for item in value]
    return value


def fitted(transcript: Transcript, limits: Limits, say: Words) -> Transcript:
    """Return the transcript with what is too long cut, and said to be cut."""
    kept = _fewer(transcript.turns, limits.blocks, say)
    cards = [b for turn in kept for b in turn.blocks if isinstance(b, ToolCard)]
    texts = [b for turn in kept for b in turn.blocks if not isinstance(b, ToolCard)]
    output = min(MAX_OUTPUT, _share([_weight(card) for card in cards], limits.outputs))
    text = _share([len(str(block.text)) for block in texts], limits.texts)
    room = limits.images
    turns = []
    for turn in kept:
        blocks: list[Block] = []
        for block in turn.blocks:
            if isinstance(block, ToolCard):
                card = _card(block, output, room, say)
                room -= sum(len(image.data) for image in card.images)
                blocks.append(card)
            else:
                blocks += _text(block, text, say)
        turns.append(ShownTurn(turn.number, tuple(blocks)))
    question = cut(transcript.question, min(MAX_OUTPUT, limits.texts), say)
    return replace(transcript, turns=tuple(turns), question=question)


def _weight(card: ToolCard) -> int:
    return len(card.output) + len(str(card.arguments))


def _share(sizes: Sequence[int], total: int) -> int:
    """Return how much each may have so that all fit: short ones leave their share to the rest.

    >>> _share([10, 500, 900], 400)
    195
    """
    for left, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        if size > total // left:
            return total // left
        total -= size
    return max(sizes, default=0)


def cut(text: str, size: int, say: Words) -> str:
    """Return a text with its middle left out, and said to be."""
    head, lines, tail = clip(text, size)
    return f"{head}\n{say.count('card.cut', lines)}\n{tail}" if lines else text


def _card(card: ToolCard, size: int, room: int, say: Words) -> ToolCard:
    kept, left_out = [], []
    for image in card.images:
        if len(image.data) <= room:
            room -= len(image.data)
            kept.append(image)
        else:
            left_out.append(say("card.image.left", size=len(image.data) * 3 // 4000))
    output = cut(card.output, size, say)
    return replace(
        card,
        output="\n".join([output, *left_out]).strip("\n"),
        images=tuple(kept),
        arguments=_values(card.arguments, lambda text: cut(text, size, say)),
        details=_values(card.details, lambda text: cut(text, size, say)),
    )


def _text(block: Block, size: int, say: Words) -> list[Block]:
    assert not isinstance(block, ToolCard)
    head, lines, tail = clip(str(block.text), size)
    if not lines:
        return [block]
    lines += tail.count("\n")
    return [_changed(block, lambda _text: head), NoticeBlock(say.count("text.cut", lines))]


def _fewer(turns: Sequence[ShownTurn], most: int, say: Words) -> Sequence[ShownTurn]:
    """Leave out turns in the middle, and blocks of a turn that has too many by itself."""
    turns = [ShownTurn(turn.number, _fewer_blocks(turn.blocks, most, say)) for turn in turns]
    sizes = [len(turn.blocks) for turn in turns]
    if sum(sizes) <= most:
        return turns
    first, last, room = 0, len(turns), most
    while room > 0 and first < last:
        room -= sizes[last - 1]
        last -= 1
        if room > 0 and first < last:
            room -= sizes[first]
            first += 1
    if first == last:
        return turns
    note = NoticeBlock(say.count("turns.cut", last - first))
    return [*turns[:first], ShownTurn(turns[first].number, (note,)), *turns[last:]]


def _fewer_blocks(blocks: tuple[Block, ...], most: int, say: Words) -> tuple[Block, ...]:
    if len(blocks) <= most:
        return blocks
    tail = most // 3
    head = most - tail - 1
    note = NoticeBlock(say.count("blocks.cut", len(blocks) - head - tail))
    return (*blocks[:head], note, *blocks[len(blocks) - tail :])
