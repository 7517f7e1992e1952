"""A window of lines out of a file of any size."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from agent_nb.core.errors import ToolError
from agent_nb.tools.truncate import MAX_BYTES, Truncation, truncate_head

_CHUNK_BYTES = 1 << 20
COUNT_AHEAD_BYTES = 64 << 20
"""How far past the window lines are counted. pi counts to the end, however far away that is."""


@dataclass(frozen=True, slots=True)
class Window:
    """Lines of a file, cut to the limits.

    Attributes:
        truncation: The lines asked for, and what the limits made of them.
        file_lines: Lines counted, the empty one after a final newline included.
        more_lines: Counted lines after the ones asked for.
        counted_all: False if the file goes on after what was counted.
        first_line_bytes: Length of the first line, if it is too long to be shown; else 0.
    """

    truncation: Truncation
    file_lines: int
    more_lines: int
    counted_all: bool
    first_line_bytes: int = 0


def read_window(file: BinaryIO, first: int, limit: int | None, check: Callable[[], None]) -> Window:
    """Read `limit` lines from line `first` (counted from 1) on, as far as they can be shown.

    Memory is bounded whatever the file; bytes that are not UTF-8 become U+FFFD.

    Args:
        file: Open at its start, seekable.
        first: The first line wanted.
        limit: How many lines are wanted; None for all that follow.
        check: Called now and then; stops the work by raising.

    Raises:
        ToolError: If the file has no line `first`.
    """
    scan = _Scan(file, check)
    before = scan.skip(first - 1)
    if before < first - 1:
        raise ToolError(f"Line {first} is beyond the end of the file, which has {before + 1}.")
    start = file.tell()
    # Two bytes more than can be shown, so that a line the reading cut in two never fits.
    text = file.read(MAX_BYTES + 2).decode("utf-8", "replace")
    truncation = truncate_head("\n".join(text.split("\n")[:limit]))
    first_line_bytes = 0
    if truncation.first_line_exceeds_limit:
        file.seek(start)
        ended = scan.skip(1, budget=COUNT_AHEAD_BYTES)
        first_line_bytes = file.tell() - start - ended
    file.seek(start)
    selected = scan.skip(limit or math.inf, budget=COUNT_AHEAD_BYTES)
    if truncation.truncated:
        truncation = _with_totals(truncation, scan, start, ends=selected, limit=limit)
    after = scan.skip(math.inf, budget=COUNT_AHEAD_BYTES) if selected == limit else 0
    return Window(
        truncation,
        file_lines=before + selected + after + 1,
        more_lines=after + 1 if selected == limit else 0,
        counted_all=scan.at_end,
        first_line_bytes=first_line_bytes,
    )


def _with_totals(
    truncation: Truncation, scan: "_Scan", start: int, *, ends: int, limit: int | None
) -> Truncation:
    """Put in the size of all lines asked for, of which the window holds just the first."""
    size = scan.file.tell() - start
    if ends == limit:  # the newline after the last line belongs to none of them
        return replace(truncation, total_lines=ends, total_bytes=size - 1)
    open_line = scan.last_byte() != b"\n"
    return replace(truncation, total_lines=ends + open_line, total_bytes=size)


class _Scan:
    """Walks a file line by line without looking at the lines."""

    def __init__(self, file: BinaryIO, check: Callable[[], None]) -> None:
        self.file = file
        self.at_end = False
        self._check = check

    def skip(self, lines: float, *, budget: float = math.inf) -> int:
        """Move past `lines` line ends, the end of the file or `budget` bytes; count the ends."""
        passed = 0
        self.at_end = False
        while passed < lines and budget > 0:
            self._check()
            chunk = self.file.read(_CHUNK_BYTES)
            if not chunk:
                self.at_end = True
                break
            budget -= len(chunk)
            found = chunk.count(b"\n")
            if passed + found >= lines:
                rest = chunk.split(b"\n", int(lines) - passed)[-1]
                self.file.seek(-len(rest), os.SEEK_CUR)
                found = int(lines) - passed
            passed += found
        return passed

    def last_byte(self) -> bytes:
        """Return the byte before the current position."""
        self.file.seek(-1, os.SEEK_CUR)
        return self.file.read(1)
