"""Running text: pieces and lines joined to passages, with the lines they stand in."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_nb.providers.demo.wording import HAN

PassageKind = Literal["paragraph", "item", "heading", "code", "comment"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of text that belongs together.

    Attributes:
        text: Its lines joined to one, inline markup reduced to its text.
        line: Number of its first line in the file.
        breaks: Where in `text` each further line of the file begins.
        heading: The headings it stands under, the lowest last.
        kind: "code" is kept as written, with its line ends.
    """

    text: str
    line: int
    breaks: tuple[int, ...] = ()
    heading: tuple[str, ...] = ()
    kind: PassageKind = "paragraph"

    def line_at(self, offset: int) -> int:
        """Return the number of the line a character stands in."""
        return self.line + bisect_right(self.breaks, offset)


_HAN_BREAK = re.compile(f"[{HAN}，。！？；：、（）“”‘’]")


class Flow:
    """Joins pieces and lines; no space is put where a Chinese text goes on in the next line."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._breaks: list[int] = []
        self._ended = False

    def add(self, piece: str) -> None:
        """Append text of the current line."""
        if not self._pieces:
            piece = piece.lstrip()
        if not piece:
            return
        if self._ended:
            self._ended = False
            last = self._pieces[-1]
            self._length -= len(last) - len(last.rstrip())
            self._pieces[-1] = last.rstrip()
            if not (_HAN_BREAK.match(self._pieces[-1][-1:]) and _HAN_BREAK.match(piece)):
                self._append(" ")
            self._breaks[-1] = self._length
        self._append(piece)

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)

    def end_line(self) -> None:
        """Note that the file's line ends here."""
        self._breaks.append(self._length)
        self._ended = bool(self._pieces)

    def passage(self, line: int, heading: tuple[str, ...], kind: PassageKind) -> Passage:
        """Return what was joined."""
        text = "".join(self._pieces).rstrip()
        return Passage(text, line, tuple(self._breaks), heading, kind)


def joined_lines(lines: Sequence[str], line: int, *, kind: PassageKind = "paragraph") -> Passage:
    """Join lines, the first of which has the number `line`."""
    flow = Flow()
    for number, text in enumerate(lines):
        if number:
            flow.end_line()
        flow.add(text.strip())
    return flow.passage(line, (), kind)


_RULE = re.compile(r"\s*([-=~^\"'`#*+_.])\1{2,}\s*")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")


_RST_MARKUP: tuple[tuple[str, str], ...] = (
    (r"``(.+?)``", r"`\1`"),
    (r"`([^`<]+?)\s*<[^`>]+>`__?", r"\1"),
    (r":[\w:]+:`~?([^`]+)`", r"\1"),
    (r"`([^`]+)`_+", r"\1"),
    (r"\*\*(\S(?:.*?\S)?)\*\*", r"\1"),
    (r"(?<=\w)_(?=[\s.,;:!?)]|$)", ""),
)


def plain_passages(text: str, *, is_rst: bool = False) -> Iterator[Passage]:
    """Cut text at empty lines and list items; of reStructuredText, markup is left out."""
    lines = text.split("\n")
    start, literal = 0, False
    for end in range(len(lines) + 1):
        ends = end == len(lines) or not lines[end].strip() or _RULE.fullmatch(lines[end])
        if not ends and not (end > start and _ITEM.match(lines[end])):
            continue
        underlined = end < len(lines) and end - start == 1 and lines[end].strip() and ends
        if end > start and not underlined:
            literal = literal and lines[start].startswith((" ", "\t"))
            if not literal:
                yield from _block(lines[start:end], start + 1, is_rst=is_rst)
            literal = literal or (is_rst and lines[end - 1].rstrip().endswith("::"))
        start = end + bool(ends)


def _block(lines: Sequence[str], line: int, *, is_rst: bool) -> Iterator[Passage]:
    if lines[0].lstrip().startswith((".. ", ">>>", "$ ")):
        return
    item = _ITEM.match(lines[0])
    body = [lines[0][item.end() :], *lines[1:]] if item else [*lines]
    if is_rst:
        for pattern, plain in _RST_MARKUP:
            body = [re.sub(pattern, plain, text) for text in body]
    yield joined_lines(body, line, kind="item" if item else "paragraph")
