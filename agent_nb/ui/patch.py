"""What the page must be told: the difference of two view states, in plain JSON data.

Turns and blocks are only ever added, so a place in the list names them. A text that grew is sent
as what to drop, what to keep and what to add; the page cuts at UTF-16 units, so we count those.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_nb.render.blocks import (
    ENDED,
    Block,
    NoticeBlock,
    Phase,
    ShownTurn,
    TextBlock,
    ThinkingBlock,
    ToolCard,
    Transcript,
    UserBlock,
)
from agent_nb.render.calls import arguments_of, card_note, headline, long_arguments, result_note
from agent_nb.render.fit import cut, masked_card
from agent_nb.render.html import image_address
from agent_nb.render.inert import tail_of, without_secrets
from agent_nb.render.sentences import figures, model_line, phase_sentence, thinking_label
from agent_nb.render.stream import html_blocks
from agent_nb.ui.view import ViewState

LIVE_TAIL = 4_000
"""Characters of a running tool's output, or of arguments being written, that the page shows."""

MAX_OUTPUT = 20_000
MAX_IMAGE = 2_000_000

Face = dict[str, Any]
"""A block as the page draws it."""

_ANNOUNCED: frozenset[Phase] = ENDED | {"running", "retrying", "stopping"}
_GROWING = frozenset({"args", "out"})
_PAGE_WORDS = (
    *("view.label", "question", "turn.now", "page.stop", "page.stopping", "page.copy"),
    *("page.copied", "page.loading", "page.lost", "time.ms", "time.s", "time.min"),
)


@dataclass(frozen=True, slots=True)
class ViewPatch:
    """A message to the page: how to get from `from_seq` to `seq`, or all there is at `seq`."""

    kind: Literal["patch", "snapshot"]
    seq: int
    from_seq: int
    body: Mapping[str, Any] = field(default_factory=dict)

    def to_page(self) -> dict[str, Any]:
        """Return the message as JSON data."""
        return {"kind": self.kind, "seq": self.seq, "from": self.from_seq, **self.body}


def diff(before: ViewState | None, after: ViewState) -> ViewPatch | None:
    """Return what changed, None if nothing did that shows; everything if there is no `before`."""
    if before is None:
        return snapshot(after)
    body: dict[str, Any] = {}
    head = _head(after)
    if head != _head(before):
        body["head"] = {**head, "elapsed": _elapsed(after)}
    if (figures_now := _figures(after)) != _figures(before):
        body["foot"] = figures_now
    if after.queue != before.queue:
        body["queue"] = _queue(after)
    if changes := _turn_changes(before.turns, after.turns, after):
        body["turns"] = changes
    if not body:
        return None
    if sentence := _announcement(before, after):
        body["say"] = sentence
    return ViewPatch("patch", after.seq, before.seq, body)


def snapshot(state: ViewState) -> ViewPatch:
    """Return everything there is to draw."""
    turns = [
        {"label": _label(turn, state), "blocks": [_face(b, state) for b in turn.blocks]}
        for turn in state.turns
    ]
    body = {
        "words": {key: state.say.catalogue[key] for key in _PAGE_WORDS},
        "lang": state.say.language,
        "question": _safe(state.facts.question, state),
        "head": {**_head(state), "elapsed": _elapsed(state)},
        "foot": _figures(state),
        "queue": _queue(state),
        "turns": turns,
    }
    return ViewPatch("snapshot", state.seq, 0, body)


def _head(state: ViewState) -> dict[str, Any]:
    transcript = state.transcript
    return {
        "phase": state.phase,
        "live": state.phase not in ENDED,
        "state": _safe(phase_sentence(transcript, state.say), state),
        "model": _safe(model_line(transcript), state),
    }


def _elapsed(state: ViewState) -> float:
    elapsed = state.duration_s if state.duration_s is not None else state.clock_s
    return round(elapsed, 3)


def _figures(state: ViewState) -> list[str]:
    transcript: Transcript = state.transcript
    return figures(transcript, state.say)


def _queue(state: ViewState) -> list[list[str]]:
    keys = ("queue.steering", "queue.follow_up")
    return [
        [state.say(key), _safe(text, state)]
        for key, texts in zip(keys, state.queue, strict=True)
        for text in texts
    ]


def _label(turn: ShownTurn, state: ViewState) -> str:
    return state.say("turn", n=turn.number)


# --- differences


def _turn_changes(
    before: Sequence[ShownTurn], after: Sequence[ShownTurn], state: ViewState
) -> list[dict[str, Any]]:
    changes = []
    for at, turn in enumerate(after):
        old = before[at] if at < len(before) else None
        if old is turn:
            continue
        blocks = _block_changes(old.blocks if old else (), turn.blocks, state)
        if old is None:
            changes.append({"at": at, "label": _label(turn, state), "blocks": blocks})
        elif blocks:
            changes.append({"at": at, "blocks": blocks})
    return changes


def _block_changes(
    before: Sequence[Block], after: Sequence[Block], state: ViewState
) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = []
    for at, block in enumerate(after):
        if at >= len(before):
            changes.append({"at": at, "new": _face(block, state)})
        elif before[at] is not block:
            change = _face_change(_face(before[at], state), _face(block, state))
            if change:
                changes.append({"at": at, **change})
    return changes


def _face_change(before: Face, after: Face) -> dict[str, Any]:
    if before["type"] != after["type"]:
        return {"new": after}
    change: dict[str, Any] = {}
    for key, value in after.items():
        old = before[key]
        if old == value:
            continue
        if key == "html":
            change["html"] = _html_changes(old, value)
        elif key in _GROWING:
            change.setdefault("splice", {})[key] = splice(old, value)
        else:
            change.setdefault("set", {})[key] = value
    return change


def _html_changes(before: Sequence[str], after: Sequence[str]) -> list[list[Any]]:
    """Return `[at, drop, keep, add]` for each block that changed; `[at]` where one went away."""
    changes: list[list[Any]] = [
        [at, *splice(before[at] if at < len(before) else "", html)]
        for at, html in enumerate(after)
        if at >= len(before) or before[at] != html
    ]
    return changes + [[at] for at in range(len(after), len(before))]


def splice(before: str, after: str) -> list[Any]:
    r"""Return how `after` comes of `before`: drop so much, keep so much, add a text.

    >>> splice("line 1\nline 2\n", "line 2\nline 3\n")
    [7, 7, 'line 3\n']
    """
    dropped, kept = 0, _common(before, after)
    if kept < len(before) // 2:  # a window that moved on: find where the new one begins in it
        start = before.find(after[:80]) if len(after) >= 80 else before.find(after.split("\n")[0])
        if start > 0 and (rest := _common(before[start:], after)) > kept:
            dropped, kept = start, rest
    units = _units(before[:dropped]), _units(before[dropped : dropped + kept])
    return [*units, after[kept:]]


def _common(first: str, second: str) -> int:
    """Return the length of the common beginning, comparing slices and not characters."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _announcement(before: ViewState, after: ViewState) -> str:
    """Say in a sentence what a listener should hear: not every step, but tools and ends."""
    same_turn = before.now.number == after.now.number
    old = [card.status for card in _cards(before)] if same_turn else []
    sentences = [
        _safe(f"{card.name}: {result_note(card, after.say)}", after)
        for at, card in enumerate(_cards(after))
        if card.status == "error" and old[at : at + 1] != ["error"]
    ]
    if after.phase != before.phase and after.phase in _ANNOUNCED:
        sentences.append(_safe(phase_sentence(after.transcript, after.say), after))
        if after.phase in ENDED:
            sentences += _figures(after)
    return ". ".join(sentences)


def _cards(state: ViewState) -> list[ToolCard]:
    return [block for block in state.now.blocks if isinstance(block, ToolCard)]


# --- faces


def _face(block: Block, state: ViewState) -> Face:
    match block:
        case TextBlock(text=text, is_open=is_open):
            html = html_blocks(text, is_open=is_open, secrets=state.facts.secrets)
            return {"type": "text", "open": is_open, "html": html}
        case ThinkingBlock():
            return _thinking(block, state)
        case ToolCard():
            return _card(block, state)
        case UserBlock(text=text):
            return {"type": "user", "label": state.say("user"), "text": _safe(text, state)}
        case NoticeBlock(text=text, kind=kind):
            label = state.say(f"kind.{kind}")
            return {"type": "notice", "kind": kind, "label": label, "text": _safe(text, state)}


def _thinking(block: ThinkingBlock, state: ViewState) -> Face:
    html = html_blocks(block.text, is_open=block.is_open, secrets=state.facts.secrets)
    if not html and not block.is_open:
        html = [f"<p>{state.say('thinking.hidden')}</p>"]
    label = thinking_label(block, state.say)
    return {"type": "thinking", "open": block.is_open, "label": label, "html": html}


def _card(card: ToolCard, state: ViewState) -> Face:
    say = state.say
    card = masked_card(card, state.facts.secrets)  # whole: of a cut key a part would show
    arguments = arguments_of(card)
    written, is_diff = long_arguments(card, arguments)
    running = card.status == "running"
    if card.status == "writing":
        args = tail_of(written, LIVE_TAIL)
    else:
        args = cut(written, MAX_OUTPUT, say)
    output = tail_of(card.output, LIVE_TAIL) if running else cut(card.output, MAX_OUTPUT, say)
    return {
        "type": "tool",
        "name": card.name,
        "line": headline(card.name, arguments, say),
        "status": card.status,
        "note": card_note(card, say),
        "since": card.started_s if running else None,
        "args": args.strip("\n"),
        "diff": is_diff,
        "refusal": card.refusal,
        "out": output.strip("\n") if not running else output,
        "images": _images(card),
        "spread": _is_spread(card, args, output),
    }


def _is_spread(card: ToolCard, args: str, output: str) -> bool:
    """Say whether a card opens by itself: while there is something to watch, and for errors."""
    match card.status:
        case "writing":
            return bool(args)
        case "running":
            return bool(output.strip())
        case status:
            return status == "error"


def _images(card: ToolCard) -> list[str]:
    addresses = (image_address(image) for image in card.images if len(image.data) <= MAX_IMAGE)
    return [address for address in addresses if address]


def _safe(text: str, state: ViewState) -> str:
    return without_secrets(text, state.facts.secrets)
