"""What a tool card says: one line for the call, its arguments at length, how it came out."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from agent_nb.render.blocks import ToolCard
from agent_nb.render.inert import whole_characters
from agent_nb.render.words import Words

Arguments = Mapping[str, Any]

HEADLINE_SIZE = 160
"""Longer argument lines are cut, and the arguments shown at length in the card."""


def arguments_of(card: ToolCard) -> Arguments:
    """Return the arguments; while they are being written, as far as they can be read."""
    if card.arguments is not None:
        return card.arguments
    text = whole_characters(str(card.written))  # a half that is still alone cannot be read
    if not text:
        return {}
    try:
        partial = from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return {}
    return partial if isinstance(partial, dict) else {}


def headline(name: str, arguments: Arguments, say: Words) -> str:
    """Return the key argument of a call, on one line.

    >>> from agent_nb.render.words import words
    >>> headline("read", {"path": "a.csv", "offset": 3, "limit": 8}, words("en"))
    'a.csv · lines 3–10'
    """
    match name:
        case "read":
            line = _join(_text(arguments, "path"), _range(arguments, say), _rest(arguments, _READ))
        case "write" | "edit" | "ls":
            line = _text(arguments, "path")
        case "bash":
            line = _first_line(_text(arguments, "command"))
        case "python":
            line = _first_line(_text(arguments, "code"))
        case "grep" | "find":
            line = _search(arguments, say)
        case _:
            rest = _rest(arguments, {"path"})
            line = _join(_text(arguments, "path"), rest)
    line = " ".join(line.split())
    return line if len(line) <= HEADLINE_SIZE else line[: HEADLINE_SIZE - 1] + "…"


_READ = frozenset({"path", "offset", "limit"})


def long_arguments(card: ToolCard, arguments: Arguments) -> tuple[str, bool]:
    """Return the arguments that the headline cannot hold, and whether they are a diff."""
    diff = (card.details or {}).get("diff")
    if isinstance(diff, str) and diff.strip():
        return diff.strip("\n"), True
    match card.name:
        case "edit":
            return _edits(arguments), True
        case "write":
            return _text(arguments, "content"), False
        case "bash":
            return _unless_short(_text(arguments, "command")), False
        case "python":
            return _unless_short(_text(arguments, "code")), False
        case "read" | "ls" | "grep" | "find":
            return "", False
        case _:
            compact = _rest(arguments, {"path"})
            pretty = json.dumps(dict(arguments), indent=2, ensure_ascii=False, default=str)
            return (pretty if len(compact) > HEADLINE_SIZE else ""), False


def result_note(card: ToolCard, say: Words) -> str:
    """Return how a call stands or came out, without its time: "20 lines", "failed · exit 2"."""
    match card.status:
        case "done":
            diff = (card.details or {}).get("diff")
            if isinstance(diff, str):
                return _diff_size(diff)
            return _size(card, say)
        case "error":
            if card.refusal:
                return say("card.refused")
            code = _exit_code(card)
            return _join(say("card.error"), say("card.exit", n=code) if code is not None else "")
        case status:
            return say(f"card.{status}")


def card_note(card: ToolCard, say: Words) -> str:
    """Return how a call came out and how long it took: "20 lines · 4 ms"."""
    took = say.seconds(card.duration_ms / 1000) if card.duration_ms is not None else ""
    return _join(result_note(card, say), took)


def line_count(text: str) -> int:
    r"""Count the lines of a result, without the remark in brackets that may close it.

    >>> line_count("a\nb\n\n[3 more lines in the file. Go on with offset=3.]"), line_count("")
    (2, 0)
    """
    body = _REMARK.sub("", text).strip("\n")
    return body.count("\n") + 1 if body else 0


_REMARK = re.compile(r"\n\n\[[^\n]*\]\s*\Z")


def _size(card: ToolCard, say: Words) -> str:
    whole = line_count(card.output) if card.line_count is None else card.line_count
    count = 0 if card.name in {"write", "edit"} else whole
    lines = say.count("card.lines", count) if count else ""
    images = say.count("card.images", len(card.images)) if card.images else ""
    return _join(lines if not images or count > 1 else "", images) or say("card.done")


def _exit_code(card: ToolCard) -> int | None:
    details = card.details or {}
    code = details.get("exitCode", details.get("exit_code"))
    return code if isinstance(code, int) and code != 0 else None


def _diff_size(diff: str) -> str:
    lines = diff.split("\n")
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return f"+{added} −{removed}"


def _range(arguments: Arguments, say: Words) -> str:
    offset, limit = arguments.get("offset"), arguments.get("limit")
    first = offset if isinstance(offset, int) else 1
    if isinstance(limit, int):
        return say("read.lines", first=first, last=first + limit - 1)
    return say("read.from", first=first) if first > 1 else ""


def _search(arguments: Arguments, say: Words) -> str:
    pattern, path = _text(arguments, "pattern"), _text(arguments, "path")
    line = say("grep.in", pattern=pattern, where=path) if path not in {"", "."} else pattern
    return _join(line, _text(arguments, "glob"))


def _edits(arguments: Arguments) -> str:
    edits = arguments.get("edits")
    listed = edits if isinstance(edits, list) else [arguments]
    lines: list[str] = []
    for edit in listed:
        if isinstance(edit, Mapping):
            for key, mark in (("oldText", "-"), ("newText", "+")):
                text = _text(edit, key)
                lines += [f"{mark} {line}" for line in text.split("\n")] if text else []
    return "\n".join(lines)


def _unless_short(text: str) -> str:
    return text if "\n" in text.strip() or len(text) > HEADLINE_SIZE else ""


def _rest(arguments: Arguments, without: frozenset[str] | set[str]) -> str:
    rest = {key: value for key, value in arguments.items() if key not in without}
    return json.dumps(rest, ensure_ascii=False, default=str) if rest else ""


def _text(arguments: Arguments, key: str) -> str:
    value = arguments.get(key, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _first_line(text: str) -> str:
    first, *more = text.strip().split("\n")
    return f"{first} …" if more else first


def _join(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
