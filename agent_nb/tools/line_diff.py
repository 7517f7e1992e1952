"""What an edit changed, line by line, for people and programs.

Source of the format: pi 1.6.0, `core/tools/edit-diff.ts`.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

_CONTEXT_LINES = 4
_Opcode = tuple[str, int, int, int, int]
_Hunks = Sequence[Sequence[_Opcode]]


def diff_details(path: str, old: str, new: str) -> dict[str, Any]:
    """Compare two versions of a file, which differ and have plain newlines.

    Returns:
        `diff`, every line with its number in the old file (added ones: in the new), gaps as `...`;
        `patch`, the same as a unified diff; and `firstChangedLine`, counted in the new file.
    """
    before, after = _lines(old), _lines(new)
    hunks = _hunks(before, after)
    width = len(str(max(old.count("\n"), new.count("\n")) + 1))
    return {
        "diff": "\n".join(_numbered(hunks, before, after, width)),
        "patch": "".join([f"--- {path}\n+++ {path}\n", *_unified(hunks, before, after)]),
        "firstChangedLine": next(_changes(hunks))[3] + 1,
    }


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _hunks(before: list[str], after: list[str]) -> _Hunks:
    """Find the changed regions with some lines around them.

    What both versions start and end with is set aside first, so that the work grows with the
    change and not with the file.
    """
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    start, end = max(0, head - _CONTEXT_LINES), max(0, tail - _CONTEXT_LINES)
    matcher = SequenceMatcher(
        None, before[start : len(before) - end], after[start : len(after) - end]
    )
    return [
        [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in hunk]
        for hunk in matcher.get_grouped_opcodes(_CONTEXT_LINES)
    ]


def _common(before: list[str], after: list[str]) -> int:
    pairs = zip(before, after, strict=False)
    return sum(1 for _pair in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _changes(hunks: _Hunks) -> Iterator[_Opcode]:
    return (opcode for hunk in hunks for opcode in hunk if opcode[0] != "equal")


def _marked(
    hunk: Sequence[_Opcode], before: list[str], after: list[str]
) -> Iterator[tuple[str, int, str]]:
    """Yield each line of a hunk as mark, line index and text."""
    for tag, old_start, old_end, new_start, new_end in hunk:
        if tag == "equal":
            yield from ((" ", index, before[index]) for index in range(old_start, old_end))
            continue
        yield from (("-", index, before[index]) for index in range(old_start, old_end))
        yield from (("+", index, after[index]) for index in range(new_start, new_end))


def _numbered(hunks: _Hunks, before: list[str], after: list[str], width: int) -> Iterator[str]:
    gap = f" {'':{width}} ..."
    shown = 0
    for hunk in hunks:
        if hunk[0][1] > shown:
            yield gap
        for mark, index, line in _marked(hunk, before, after):
            yield f"{mark}{index + 1:{width}} {line.removesuffix(chr(10))}"
        shown = hunk[-1][2]
    if shown < len(before):
        yield gap


def _unified(hunks: _Hunks, before: list[str], after: list[str]) -> Iterator[str]:
    for hunk in hunks:
        old = _range(hunk[0][1], hunk[-1][2])
        new = _range(hunk[0][3], hunk[-1][4])
        yield f"@@ -{old} +{new} @@\n"
        for mark, _index, line in _marked(hunk, before, after):
            yield mark + line
            if not line.endswith("\n"):
                yield "\n\\ No newline at end of file\n"


def _range(start: int, end: int) -> str:
    return f"{start + (end > start)},{end - start}"
