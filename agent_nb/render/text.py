"""The static forms without HTML: Markdown for code hosts, plain text for terminals."""

import re
from collections.abc import Iterator
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent_nb.render.blocks import (
    Block,
    NoticeBlock,
    TextBlock,
    ThinkingBlock,
    ToolCard,
    Transcript,
    UserBlock,
)
from agent_nb.render.calls import arguments_of, card_note, headline, long_arguments
from agent_nb.render.inert import inert, tail_of
from agent_nb.render.sentences import figures, model_line, phase_sentence, thinking_label
from agent_nb.render.words import Words, words

_SPECIAL = re.compile(r"([\\`*_\[\]~$|#!])")
_BACKTICKS = re.compile(r"`+")
_BAD_LINK = re.compile(r"\](?=(?:\(|:)\s*<?\s*(?:javascript|vbscript|data|file):)", re.IGNORECASE)
_TAIL_OF_FAILURE = 600
_COMMONMARK = MarkdownIt("commonmark", {"html": False})
_WITH_HTML = MarkdownIt("commonmark", {"html": True}).enable("table")


# --- plain text


def plain_of(transcript: Transcript) -> str:
    """Return a run as plain text: what was asked, done and answered."""
    say = words(transcript.language)
    head = "  ".join(part for part in (phase_sentence(transcript, say), model_line(transcript)))
    parts = [f"● {head}", _indented(transcript.question, "> ")]
    for turn in transcript.turns:
        parts += [text for block in turn.blocks if (text := _plain_block(block, say))]
    parts.append(" · ".join(figures(transcript, say)))
    return inert("\n\n".join(part for part in parts if part))


def _plain_block(block: Block, say: Words) -> str:
    match block:
        case TextBlock():
            return str(block.text).strip()
        case ThinkingBlock():
            return f"({thinking_label(block, say)})"
        case ToolCard():
            return _plain_card(block, say)
        case UserBlock():
            return _indented(block.text, "> ")
        case NoticeBlock():
            return f"{say(f'kind.{block.kind}')}: {block.text}"


def _plain_card(card: ToolCard, say: Words) -> str:
    line = " ".join(
        part for part in (card.name, headline(card.name, arguments_of(card), say)) if part
    )
    text = f"• {line} · {card_note(card, say)}"
    if card.status == "error" and card.output.strip():
        text += "\n" + _indented(tail_of(card.output.strip(), _TAIL_OF_FAILURE), "    ")
    return text


# --- Markdown


def markdown_of(transcript: Transcript) -> str:
    """Return a run as Markdown, tools folded away where the host folds `<details>`."""
    say = words(transcript.language)
    head = f"**● {_escaped(phase_sentence(transcript, say))}** {_escaped(model_line(transcript))}"
    parts = [head.strip(), _indented(_escaped(transcript.question), "> ")]
    for turn in transcript.turns:
        parts.append(f"*{_escaped(say('turn', n=turn.number))}*")
        parts += [text for block in turn.blocks if (text := _markdown_block(block, say))]
    parts.append(_escaped(" · ".join(figures(transcript, say))))
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_block(block: Block, say: Words) -> str:
    match block:
        case TextBlock():
            return tame_markdown(inert(str(block.text)).strip())
        case ThinkingBlock():
            text = str(block.text).strip() or say("thinking.hidden")
            return _folded(_html_line(thinking_label(block, say)), _fenced(text))
        case ToolCard():
            return _markdown_card(block, say)
        case UserBlock():
            return _indented(_escaped(block.text), "> ")
        case NoticeBlock():
            return f"> **{_escaped(say(f'kind.{block.kind}'))}:** {_line(block.text)}"


def _markdown_card(card: ToolCard, say: Words) -> str:
    arguments = arguments_of(card)
    line = _html_line(headline(card.name, arguments, say))
    summary = f"<b>{_html_line(card.name)}</b> {line}".rstrip()
    written, _is_diff = long_arguments(card, arguments)
    texts = [text.strip("\n") for text in (written, card.refusal, card.output)]
    body = "\n\n".join(_fenced(text) for text in texts if text.strip())
    return _folded(f"{summary} · {_html_line(card_note(card, say))}", body)


def _folded(summary: str, body: str) -> str:
    """Fold a body away; up to the first blank line this is HTML and not Markdown."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _fenced(text: str) -> str:
    text = inert(text)  # first: what it takes out may join backticks
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _html_line(text: str) -> str:
    return escape(" ".join(inert(text).split()))


def _line(text: str) -> str:
    return " ".join(_escaped(text).split())


def _escaped(text: str) -> str:
    """Return text so that Markdown shows it as it is."""
    text = _SPECIAL.sub(r"\\\1", inert(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def tame_markdown(source: str) -> str:
    """Return a model's Markdown without raw HTML and without pictures from outside.

    Code is left as it is, and ends here if it was left open: what follows must not be part of it.
    Where that is not enough to make it harmless, all of it is escaped.
    """
    code = [t for t in _COMMONMARK.parse(source) if t.type in {"fence", "code_block"} and t.map]
    code_lines = {line for token in code for line in range(*(token.map or ()))}
    pieces = []
    prose: list[str] = []
    for number, line in enumerate(source.split("\n")):
        if number in code_lines:
            pieces += [_tame_prose("\n".join(prose))] if prose else []
            pieces.append(line)
            prose = []
        else:
            prose.append(line)
    pieces += [_tame_prose("\n".join(prose))] if prose else []
    tamed = "\n".join(pieces) + _missing_end(code, source)
    return tamed if _is_harmless(tamed) else _escaped(source)


def _tame_prose(text: str) -> str:
    parts, at = [], 0
    for start, end in _code_spans(text):
        parts += [_without_html(text[at:start]), text[start:end]]
        at = end
    return "".join([*parts, _without_html(text[at:])])


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where code spans begin and end: at runs of as many backticks, in linear time."""
    runs = [run.span() for run in _BACKTICKS.finditer(text)]
    later: dict[int, int] = {}
    partners: list[int | None] = []
    for at in range(len(runs) - 1, -1, -1):
        size = runs[at][1] - runs[at][0]
        partners.append(later.get(size))
        later[size] = at
    partners.reverse()
    at = 0
    while at < len(runs):
        partner = partners[at]
        if partner is not None:
            yield runs[at][0], runs[partner][1]
            at = partner
        at += 1


def _without_html(text: str) -> str:
    text = re.sub(r"<(?!https?://[^\s<>]*>)", "&lt;", text).replace("![", "[🖼 ")
    return _BAD_LINK.sub(r"\\]", text)


def _missing_end(code: list[Token], source: str) -> str:
    """Return the line that ends a fence the text leaves open; within a list it ends by itself."""
    lines = source.split("\n")
    last = code[-1] if code else None
    if last is None or last.type != "fence" or last.level or last.map is None:
        return ""
    first, end = last.map
    closed = end - first > 1 and re.fullmatch(
        rf" {{0,3}}{re.escape(last.markup)}{re.escape(last.markup[0])}*[ \t]*", lines[end - 1]
    )
    return "" if closed or any(line.strip() for line in lines[end:]) else f"\n{last.markup}"


def _is_harmless(source: str) -> bool:
    kinds = {token.type for token in _all(_WITH_HTML.parse(source))}
    return kinds.isdisjoint({"html_block", "html_inline", "image"})


def _all(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _indented(text: str, by: str) -> str:
    return "\n".join(by + line for line in text.strip("\n").split("\n"))
