"""The static HTML of a run: what a saved notebook shows, with or without a kernel.

Nested `<details>`, inline styles, inherited and translucent colours: all that front ends keep of a
notebook they do not trust, and that reads on white and on black.
"""

import re
from html import escape

from agent_nb.core.content import ImageContent
from agent_nb.render.blocks import (
    Block,
    NoticeBlock,
    NoticeKind,
    ShownTurn,
    TextBlock,
    ThinkingBlock,
    ToolCard,
    Transcript,
    UserBlock,
)
from agent_nb.render.calls import arguments_of, card_note, headline, long_arguments
from agent_nb.render.inert import inert
from agent_nb.render.markdown import LINE, PRE_STYLE, SOFT, render_markdown
from agent_nb.render.maths import PLAIN_CLASS
from agent_nb.render.sentences import figures, model_line, phase_sentence, thinking_label, tone
from agent_nb.render.words import Words, words

_GREEN, _AMBER, _RED, _GREY = "#2f8a5b", "#b5701f", "#cf4b48", "#808080"
_TONES: dict[NoticeKind, tuple[str, str]] = {
    "info": (LINE, SOFT),
    "warning": (_AMBER, "rgba(181,112,31,.12)"),
    "error": (_RED, "rgba(207,75,72,.12)"),
}
_ADDED, _REMOVED = "rgba(47,138,91,.2)", "rgba(207,75,72,.18)"
_QUIET = "opacity:.72;font-size:.9em"
_BOX = f"border:1px solid {LINE};border-radius:6px;margin:4px 0 8px;padding:3px 10px"
_OUTPUT = f"{PRE_STYLE};max-height:26em;white-space:pre-wrap"
_IMAGE_KINDS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_BASE64 = re.compile(r"[A-Za-z0-9+/=]+")


def html_of(transcript: Transcript) -> str:
    """Return a run as HTML; texts are made inert, secrets are the caller's business."""
    say = words(transcript.language)
    turns = "".join(_turn(turn, say) for turn in transcript.turns)
    foot = " · ".join(figures(transcript, say))
    return (
        f'<div class="{PLAIN_CLASS}" lang="{say.language}"'
        ' style="max-width:980px;line-height:1.55;overflow-wrap:break-word">'
        f"{_head(transcript, say)}"
        f'<div style="border-left:2px solid {LINE};margin-left:4px;padding:2px 0 2px 14px">'
        f"{_said(transcript.question)}{turns}</div>"
        f'<div style="{_QUIET};padding-top:4px">{_shown(foot)}</div></div>'
    )


def image_address(image: ImageContent) -> str | None:
    """Return an image as a `data:` address, None if it is not a picture that is safe to show."""
    if image.mime_type not in _IMAGE_KINDS or not _BASE64.fullmatch(image.data):
        return None
    return f"data:{image.mime_type};base64,{image.data}"


def _head(transcript: Transcript, say: Words) -> str:
    kind = tone(transcript.phase)
    colour = _TONES[kind][0] if kind else _GREEN if transcript.phase == "done" else _GREY
    return (
        f'<div style="margin-bottom:4px"><span style="color:{colour}">●</span> '
        f"<strong>{_shown(phase_sentence(transcript, say))}</strong> "
        f'<span style="{_QUIET}">{_shown(model_line(transcript))}</span></div>'
    )


def _said(text: str) -> str:
    style = f"background:{SOFT};border-radius:6px;padding:6px 10px;margin:2px 0 8px"
    return f'<div dir="auto" style="{style};white-space:pre-wrap">{_shown(text)}</div>'


def _turn(turn: ShownTurn, say: Words) -> str:
    blocks = "".join(_block(block, say) for block in turn.blocks)
    label = _shown(say("turn", n=turn.number))
    return f'<div style="opacity:.72;font-size:.8em">{label}</div><div>{blocks}</div>'


def _block(block: Block, say: Words) -> str:
    match block:
        case TextBlock():
            return f'<div dir="auto">{_markdown(str(block.text))}</div>'
        case ThinkingBlock():
            return _thinking(block, say)
        case ToolCard():
            return _card(block, say)
        case UserBlock():
            return _said(block.text)
        case NoticeBlock():
            return _notice(block, say)


def _thinking(block: ThinkingBlock, say: Words) -> str:
    body = _markdown(str(block.text)) or _shown(say("thinking.hidden"))
    return (
        f'<details style="{_QUIET};margin:2px 0 6px"><summary style="cursor:pointer">'
        f"{_shown(thinking_label(block, say))}</summary>"
        f'<div dir="auto" style="border-left:2px solid {LINE};padding-left:10px;margin:4px 0">'
        f"{body}</div></details>"
    )


def _card(card: ToolCard, say: Words) -> str:
    arguments = arguments_of(card)
    failed = card.status in {"error", "stopped"}
    note_style = f"color:{_RED};font-weight:600;font-size:.9em" if failed else _QUIET
    written, is_diff = long_arguments(card, arguments)
    body = [_diff(written) if is_diff else _pre(written)] if written.strip() else []
    if card.refusal:
        body.append(f"<div>{_shown(card.refusal)}</div>")
    if card.output.strip():
        body.append(_pre(card.output.strip("\n")))
    body += [
        f'<div><img src="{address}" alt="" style="max-width:100%"></div>'
        for image in card.images
        if (address := image_address(image))
    ]
    code = '<code style="background:none;padding:0'
    return (
        f'<details{" open" if card.status == "error" else ""} style="{_BOX}">'
        '<summary style="cursor:pointer;overflow-wrap:break-word">'
        f'{code};font-weight:600">{_shown(card.name)}</code> '
        f'{code};opacity:.8">{_shown(headline(card.name, arguments, say))}</code> '
        f'<span style="{note_style}">· {_shown(card_note(card, say))}</span></summary>'
        f"{''.join(body)}</details>"
    )


def _notice(block: NoticeBlock, say: Words) -> str:
    line, ground = _TONES[block.kind]
    label = (
        "" if block.kind == "info" else f"<strong>{_shown(say(f'kind.{block.kind}'))}:</strong> "
    )
    style = f"border-left:3px solid {line};background:{ground};padding:4px 10px;margin:4px 0 8px"
    return f'<div style="{style};white-space:pre-wrap">{label}{_shown(block.text)}</div>'


def _pre(text: str) -> str:
    return f'<pre style="{_OUTPUT}">{_shown(text)}</pre>'


def _diff(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        ground = {"+": _ADDED, "-": _REMOVED}.get(line[:1])
        style = f"display:block{f';background:{ground}' if ground else ''}"
        lines.append(f'<span style="{style}">{_shown(line) or " "}</span>')
    return f'<pre style="{_OUTPUT}">{"".join(lines)}</pre>'


def _markdown(text: str) -> str:
    return render_markdown(inert(text), "static")


def _shown(text: str) -> str:
    return escape(inert(text))
