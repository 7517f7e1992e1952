"""Files as the conversation holds them: what earlier `read` calls showed, and attachments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.core.messages import Message
from agent_nb.inspect.turns import CallRecord, turns_of
from agent_nb.providers.demo.results import Part, is_image, read_part

_ATTACHED = re.compile(r'<file name="([^"\n]*)">\n?(.*?)\n?</file>\n?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Document:
    """A file, or the part of it that is known.

    Attributes:
        path: As the `read` call named it.
        lines: Known lines, one after the other.
        first: Number of the first one.
        next_offset: Where `read` would go on; None at the end of the file.
        total: Lines of the file by `read`'s count, where it said so.
    """

    path: str
    lines: tuple[str, ...]
    first: int = 1
    next_offset: int | None = None
    total: int | None = None

    @property
    def text(self) -> str:
        """The known lines as one text."""
        return "\n".join(self.lines)

    @property
    def is_whole(self) -> bool:
        """Whether this is all of the file."""
        return self.first == 1 and self.next_offset is None

    @property
    def line_count(self) -> int:
        """Known lines; the emptiness after a final newline is none."""
        ends_here = self.next_offset is None and self.lines and self.lines[-1] == ""
        return len(self.lines) - bool(ends_here)

    @property
    def last(self) -> int:
        """Number of the last known line."""
        return self.first + self.line_count - 1

    def extended(self, part: Part) -> "Document":
        """Add what a later `read` showed; where the file has changed since, keep only that."""
        start = part.first - self.first
        if not 0 <= start <= len(self.lines):
            return document_of(self.path, part)
        known = self.lines[start : start + len(part.lines)]
        if known != part.lines[: len(known)]:
            return document_of(self.path, part)
        if len(known) == len(part.lines) and part.next_offset is not None:
            return self
        lines = self.lines[:start] + part.lines
        return Document(self.path, lines, self.first, part.next_offset, part.total)


def document_of(path: str, part: Part) -> Document:
    """Make a document of what one `read` showed."""
    return Document(path, part.lines, part.first, part.next_offset, part.total)


def is_garbled(text: str) -> bool:
    """Say whether a text was not UTF-8: `read` shows bytes it cannot decode as U+FFFD."""
    return "\ufffd" in text or "\0" in text


def name_of(path: str) -> str:
    """Return the last part of a path."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


def same_path(known: str, named: str) -> bool:
    """Say whether `named` means the file known as `known`: the same path, or the end of it.

    >>> same_path("/home/ada/notes.md", "notes.md"), same_path("./a.md", "a.md")
    (True, True)
    """
    known, named = (re.sub(r"^(?:\./)+|^@", "", path) for path in (known, named))
    return known == named or known.endswith(f"/{named}")


def documents_of(messages: Sequence[Message]) -> tuple[Document, ...]:
    """Return the files that were read, the latest last; changed ones are forgotten."""
    known: dict[str, Document] = {}
    for turn in turns_of(messages):
        for call in turn.tool_calls:
            _take(known, call)
    return tuple(known.values())


def _take(known: dict[str, Document], call: CallRecord) -> None:
    path = str(call.arguments.get("path", ""))
    if call.name in {"write", "edit"}:
        known.pop(path, None)
    elif call.name == "read" and not call.is_error and not is_image(call):
        part = read_part(call)
        before = known.pop(path, None)  # so that the latest stands last
        known[path] = before.extended(part) if before else document_of(path, part)


def split_attachments(text: str) -> tuple[str, tuple[Document, ...]]:
    r"""Separate a question from the files attached to it.

    >>> split_attachments('<file name="a.txt">\nOne.\n</file>\nWhat is it?')[0]
    'What is it?'
    """
    attached = tuple(
        Document(path, tuple(body.split("\n"))) for path, body in _ATTACHED.findall(text)
    )
    return _ATTACHED.sub("", text), attached
