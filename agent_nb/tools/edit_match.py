"""Finding the text a model wants to replace: exactly, or but for quotes, dashes and spaces.

Source of the rules: pi 1.6.0, `core/tools/edit-diff.ts`. Unlike there, a text that is found exactly
once is taken even if others look like it, and just what was matched is replaced: the rest of a line
keeps its typographic quotes.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from agent_nb.core.errors import ToolError
from agent_nb.tools.line_ends import Replacement, to_newlines

_LOOKALIKES = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00a0\u202f\u205f\u3000", " ")
    | dict.fromkeys(map(chr, range(0x2002, 0x200B)), " ")
)


def match_edits(text: str, edits: Sequence[tuple[str, str]], path: str) -> list[Replacement]:
    """Find where edits of (old, new) text apply; all are matched against the same `text`.

    Args:
        text: The file, with plain newlines.
        edits: What to replace by what; any line ends.
        path: The file's name, for errors.

    Returns:
        Disjoint replacements, first one first.

    Raises:
        ToolError: If an old text is empty, missing or not unique, or edits overlap.
    """
    finder = _Finder(text)
    found: list[tuple[Replacement, str]] = []
    for index, (old, new) in enumerate(edits):
        label = "The old text" if len(edits) == 1 else f"The old text of edits[{index}]"
        start, end = finder.find(to_newlines(old), f"{label} ", path)
        found.append((Replacement(start, end, to_newlines(new)), f"edits[{index}]"))
    found.sort(key=lambda pair: pair[0].start)
    for (before, name), (after, other) in pairwise(found):
        if after.start < before.end:
            raise ToolError(f"{name} and {other} overlap in {path}. Make them one edit.")
    return [replacement for replacement, _name in found]


class _Finder:
    """Looks for texts in one file."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _folded(self) -> "_Folded":
        return _fold(self._text)

    def find(self, old: str, label: str, path: str) -> tuple[int, int]:
        """Return start and end of the one place where `old` stands."""
        if not old:
            raise ToolError(f"{label}is empty; it must be text of {path}.")
        count = self._text.count(old)
        if count == 1:
            start = self._text.index(old)
            return start, start + len(old)
        places = [] if count else list(self._folded.places(_fold(old).text))
        if len(places) == 1:
            return places[0]
        if not count and not places:
            raise ToolError(
                f"{label}was not found in {path}. "
                "It must be exactly as in the file, with all spaces and line ends."
            )
        raise ToolError(
            f"{label}stands {count or len(places)} times in {path}. "
            "Take in more of the lines around it, so that it stands there once."
        )


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text with lookalikes made equal.

    `origins[i]` is where in the original the source of character `i` starts; one entry more
    for the end.
    """

    text: str
    origins: Sequence[int]

    def places(self, needle: str) -> Iterator[tuple[int, int]]:
        """Yield start and end, in the original, of every place of `needle`."""
        start = self.text.find(needle) if needle else -1
        while start >= 0:
            end = start + len(needle)
            if self._is_seam(start) and self._is_seam(end):
                yield self.origins[start], self.origins[end]
            start = self.text.find(needle, end)

    def _is_seam(self, index: int) -> bool:
        """Whether `index` is not inside of what one original character became."""
        return index == 0 or self.origins[index] != self.origins[index - 1]


def _fold(text: str) -> _Folded:
    parts: list[str] = []
    origins: list[int] = []
    offset = 0
    for line in text.split("\n"):
        kept = line.rstrip()
        if kept.isascii():
            parts.append(kept)
            origins.extend(range(offset, offset + len(kept)))
        else:
            for start, cluster in _clusters(kept):
                folded = unicodedata.normalize("NFKC", cluster).translate(_LOOKALIKES)
                parts.append(folded)
                origins.extend([offset + start] * len(folded))
        parts.append("\n")
        origins.append(offset + len(line))
        offset += len(line) + 1
    parts.pop()  # the last line has no end; its place stands for the end of the text
    return _Folded("".join(parts), origins)


def _clusters(line: str) -> Iterator[tuple[int, str]]:
    """Cut a line into pieces that normalise on their own, each with its start."""
    start = 0
    for index in range(1, len(line) + 1):
        if index == len(line) or not _joins(line[index]):
            yield start, line[start:index]
            start = index


def _joins(char: str) -> bool:
    """Whether `char` may become one with the character before it: accents and Hangul vowels."""
    return unicodedata.combining(char) != 0 or "\u1160" <= char <= "\u11ff"
