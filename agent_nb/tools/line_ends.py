"""Changing text that is matched with plain newlines, whatever line ends its file has.

Source of the rules: pi 1.6.0, `core/tools/edit-diff.ts`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replacement:
    """`text` takes the place of the characters from `start` up to `end`."""

    start: int
    end: int
    text: str


def to_newlines(text: str) -> str:
    r"""Return `text` with every line end as a plain newline.

    >>> to_newlines("a\r\nb\rc")
    'a\nb\nc'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")


def replace_in(original: str, replacements: Sequence[Replacement]) -> str:
    r"""Put in replacements whose places and texts are those of `to_newlines(original)`.

    Text around them keeps its bytes; new line ends are like the one of the line they come into.
    `replacements` are in order and disjoint.

    >>> replace_in("a\r\nb\r\n", [Replacement(2, 3, "B\nC")])
    'a\r\nB\r\nC\r\n'
    """
    # Of all line ends just CRLF changes its length. The n-th (from 0) at `p` has its newline at
    # `p - n` in the plain text, so that many CRLFs stand before a plain offset.
    crlfs = [match.start() - n for n, match in enumerate(re.finditer("\r\n", original))]
    parts: list[str] = []
    position = 0
    for replacement in replacements:
        start = replacement.start + bisect_left(crlfs, replacement.start)
        line_end = _line_end_at(original, start)
        parts += (original[position:start], replacement.text.replace("\n", line_end))
        position = replacement.end + bisect_left(crlfs, replacement.end)
    parts.append(original[position:])
    return _join(part for part in parts if part)


def _join(parts: Iterable[str]) -> str:
    """Join parts; a lone CR and a newline that come together stay two line ends."""
    joined: list[str] = []
    for part in parts:
        if joined and joined[-1].endswith("\r") and part.startswith("\n"):
            joined.append("\n")
        joined.append(part)
    return "".join(joined)


def _line_end_at(text: str, offset: int) -> str:
    """Return the line end of the line at `offset`, for a last line that of the line before."""
    newline = text.find("\n", offset)
    if newline < 0:
        newline = text.rfind("\n", 0, offset)
    if newline < 0:  # a lone CR counts just where there is no newline at all
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[newline - 1 : newline] == "\r" else "\n"
