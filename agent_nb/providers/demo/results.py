"""What tools answered, taken apart: ours, and pi's in old sessions (pi 1.6.0, `core/tools`)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.core.content import ImageContent
from agent_nb.inspect.turns import CallRecord

_NOTICE = re.compile(r"(?:\A|\n\n)\[([^\[\]\n]*)\]\s*\Z")
_CONTINUE = re.compile(r"offset=(\d+)")
_SHOWN_OF = re.compile(r"(?i)lines \d+-\d+ of (\d+)")
_MORE = re.compile(r"^(\d+) more lines")
_ENCODING = re.compile(r"This is not UTF-8 text(?:; it looks like (\S+?))?\..*?U\+FFFD\.\s*")
_TOO_LONG = re.compile(r"Line \d+ (?:is|has) .*(?:exceeds|more than)")
_MISSING = re.compile(r"(?i)no such file|path not found|does not exist|ENOENT")
_DIRECTORY = re.compile(r"(?i)is a directory|EISDIR")
_BEYOND = re.compile(r"(?i)beyond (?:the )?end\b.*?(\d+)\D*$")
_IMAGE = re.compile(r"(?:Read image file \[|Image file, )")
_MATCH = re.compile(r"(?P<path>.+?):(?P<line>\d+): ?(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Part:
    """What one `read` gave.

    Attributes:
        lines: The lines it showed; the empty one after a final newline counts, as `read` does.
        first: Number of the first one.
        next_offset: Where to go on; None at the end of the file.
        total: How many lines the file has by `read`'s count, where it says so.
        too_long: True where the next line is longer than `read` can show.
        encoding: What `read` takes the encoding to be, if that is not UTF-8; "?" if it cannot tell.
    """

    lines: tuple[str, ...]
    first: int = 1
    next_offset: int | None = None
    total: int | None = None
    too_long: bool = False
    encoding: str = ""


def read_part(record: CallRecord) -> Part:
    """Take a successful `read` apart."""
    first = _positive(record.arguments.get("offset"))
    body, notice = _without_notice(record.text)
    if notice and _TOO_LONG.search(notice):
        return Part((), first, too_long=True)
    encoding = ""
    if notice and ("\ufffd" in body or "\0" in body) and (note := _ENCODING.match(notice)):
        encoding, notice = note[1] or "?", notice[note.end() :]
        if not notice:
            return Part(tuple(body.split("\n")), first, encoding=encoding)
    offset = int(found[1]) if notice and (found := _CONTINUE.search(notice)) else None
    lines = body.split("\n")
    # A file may end in a line like a notice: it is one only if its numbers fit what was shown.
    if offset is None or not 0 <= offset - first - len(lines) <= 1:
        return Part(tuple(record.text.split("\n")), first)
    lines += [""] * (offset - first - len(lines))
    return Part(tuple(lines), first, offset, _total(notice or "", offset), encoding=encoding)


def _positive(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 1


def _without_notice(text: str) -> tuple[str, str | None]:
    notice = _NOTICE.search(text)
    return (text[: notice.start()], notice[1]) if notice else (text, None)


def _total(notice: str, offset: int) -> int | None:
    if shown := _SHOWN_OF.search(notice):
        return int(shown[1])
    more = _MORE.search(notice)
    return offset - 1 + int(more[1]) if more else None


def is_image(record: CallRecord) -> bool:
    """Say whether `read` found an image."""
    blocks = record.result.content if record.result else ()
    return _IMAGE.match(record.text) is not None or any(
        isinstance(block, ImageContent) for block in blocks
    )


def is_missing(record: CallRecord) -> bool:
    """Say whether the call failed because there is no such file."""
    return record.is_error and _MISSING.search(record.text) is not None


def is_directory(record: CallRecord) -> bool:
    """Say whether the call failed because the path is a directory."""
    return record.is_error and _DIRECTORY.search(record.text) is not None


def lines_before_end(record: CallRecord) -> int | None:
    """Return how many lines there are, if the call asked for one behind the last."""
    found = _BEYOND.search(record.text) if record.is_error else None
    return int(found[1]) if found else None


_NOTHING = re.compile(
    r"(?i)\s*(?:no (?:files?|line|matches)\b.*|\((?:the directory is empty\.|empty.*)\))?\s*"
)
_CUT = re.compile(r"(?i)there are more|limit|entries;")


@dataclass(frozen=True, slots=True)
class Names:
    """What `ls` or `find` listed; directories end in `/`. `notice` is the tool's remark on it."""

    names: tuple[str, ...]
    notice: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether there is more."""
        return _CUT.search(self.notice) is not None

    @property
    def files(self) -> tuple[str, ...]:
        """The names that are no directories."""
        return tuple(name for name in self.names if not name.endswith("/"))

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of directories."""
        return tuple(name for name in self.names if name.endswith("/"))


def listed_names(record: CallRecord) -> Names:
    """Take the result of `ls` or `find` apart."""
    body, notice = _without_notice(record.text)
    if _NOTHING.fullmatch(body):
        return Names((), notice or "")
    return Names(tuple(line for line in body.split("\n") if line.strip()), notice or "")


@dataclass(frozen=True, slots=True)
class Match:
    """A line `grep` found."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Matches:
    """What `grep` found; `notice` is the tool's remark on it."""

    lines: Sequence[Match]
    notice: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether there is more."""
        return _CUT.search(self.notice) is not None

    def without_notebooks(self) -> "Matches":
        """Leave out what stands in notebooks and in their checkpoints."""
        lines = tuple(
            match
            for match in self.lines
            if not match.path.endswith(".ipynb") and ".ipynb_checkpoints/" not in match.path
        )
        return Matches(lines, self.notice)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files with a match, in the order they came."""
        return tuple(dict.fromkeys(match.path for match in self.lines))


def found_lines(record: CallRecord) -> Matches:
    """Take the result of `grep` apart."""
    body, notice = _without_notice(record.text)
    matches = (_MATCH.fullmatch(line) for line in body.split("\n"))
    lines = tuple(Match(m["path"], int(m["line"]), m["text"]) for m in matches if m)
    return Matches(lines, notice or "")
