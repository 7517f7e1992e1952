"""Limits on what a tool shows a model: whole lines, from the head or the tail.

Source of the limits and of the fields: pi 1.6.0, `core/tools/truncate.ts`.
"""

from dataclasses import dataclass
from typing import Any, Literal

MAX_LINES = 2_000
MAX_BYTES = 50 * 1024
NO_LIMIT = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Truncation:
    """What was kept of a text and what there was.

    Attributes:
        content: What was kept.
        truncated_by: Which limit cut it; None if it is whole.
        total_lines: Lines there were; an empty line after a final newline does not count.
        total_bytes: UTF-8 bytes there were.
        last_line_partial: Only the end of an over-long last line was kept.
        first_line_exceeds_limit: Nothing was kept, the first line alone is too long.
    """

    content: str
    truncated_by: Literal["lines", "bytes"] | None
    total_lines: int
    total_bytes: int
    output_lines: int
    output_bytes: int
    last_line_partial: bool = False
    first_line_exceeds_limit: bool = False
    max_lines: int = MAX_LINES
    max_bytes: int = MAX_BYTES

    @property
    def truncated(self) -> bool:
        """Whether anything is missing."""
        return self.truncated_by is not None

    def details(self) -> dict[str, Any]:
        """The facts under pi's names. pi repeats the content here, we do not: the result has it."""
        return {
            "truncated": self.truncated,
            "truncatedBy": self.truncated_by,
            "totalLines": self.total_lines,
            "totalBytes": self.total_bytes,
            "outputLines": self.output_lines,
            "outputBytes": self.output_bytes,
            "lastLinePartial": self.last_line_partial,
            "firstLineExceedsLimit": self.first_line_exceeds_limit,
            "maxLines": self.max_lines,
            "maxBytes": self.max_bytes,
        }


def truncate_head(
    text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> Truncation:
    r"""Keep the first whole lines that fit.

    >>> truncate_head("one\ntwo\nthree\n", max_lines=2).content
    'one\ntwo'
    """
    lines = _lines(text)
    total_bytes = byte_length(text)
    if len(lines) <= max_lines and total_bytes <= max_bytes:
        return _whole(text, len(lines), total_bytes, max_lines=max_lines, max_bytes=max_bytes)
    kept, size = _fitting(lines, max_lines, max_bytes)
    return Truncation(
        content="\n".join(kept),
        truncated_by="lines" if len(kept) == max_lines else "bytes",
        total_lines=len(lines),
        total_bytes=total_bytes,
        output_lines=len(kept),
        output_bytes=size,
        first_line_exceeds_limit=not kept,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def truncate_tail(
    text: str, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> Truncation:
    r"""Keep the last whole lines that fit, or the end of the last line if that alone is too long.

    >>> truncate_tail("one\ntwo\nthree\n", max_lines=2).content
    'two\nthree'
    """
    lines = _lines(text)
    total_bytes = byte_length(text)
    if len(lines) <= max_lines and total_bytes <= max_bytes:
        return _whole(text, len(lines), total_bytes, max_lines=max_lines, max_bytes=max_bytes)
    kept, size = _fitting(lines[::-1], max_lines, max_bytes)
    partial = not kept
    if partial:
        # A character that the cut went through is left out.
        end = lines[-1].encode("utf-8", "replace")[-max_bytes:].decode("utf-8", "ignore")
        kept, size = [end], byte_length(end)
    return Truncation(
        content="\n".join(reversed(kept)),
        truncated_by="lines" if len(kept) == max_lines and not partial else "bytes",
        total_lines=len(lines),
        total_bytes=total_bytes,
        output_lines=len(kept),
        output_bytes=size,
        last_line_partial=partial,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def truncate_line(line: str, max_chars: int) -> str:
    """Cut a line that is longer than `max_chars`, and say so in it."""
    return line if len(line) <= max_chars else f"{line[:max_chars]}… [line cut]"


def byte_length(text: str) -> int:
    """Return the length of `text` in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def format_size(size_bytes: int) -> str:
    """Write a size for people.

    >>> format_size(51200)
    '50.0 KB'
    """
    if size_bytes < 1024:
        return f"{size_bytes} bytes"
    size, unit = size_bytes / 1024, "KB"
    for larger in ("MB", "GB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.1f} {unit}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _whole(text: str, lines: int, size_bytes: int, *, max_lines: int, max_bytes: int) -> Truncation:
    return Truncation(
        content=text,
        truncated_by=None,
        total_lines=lines,
        total_bytes=size_bytes,
        output_lines=lines,
        output_bytes=size_bytes,
        max_lines=max_lines,
        max_bytes=max_bytes,
    )


def _fitting(lines: list[str], max_lines: int, max_bytes: int) -> tuple[list[str], int]:
    kept: list[str] = []
    size = 0
    for line in lines[:max_lines]:
        grown = size + byte_length(line) + bool(kept)
        if grown > max_bytes:
            break
        kept.append(line)
        size = grown
    return kept, size
