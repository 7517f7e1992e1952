"""Read a session file: find its entries by bytes first, parse one when it is asked for.

A line that is torn or damaged stays in the file, is skipped, and is reported.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_nb.core import json_text
from agent_nb.core.errors import SessionFileError
from agent_nb.session.entries import VERSION, Entry, entry_from_wire

_ID = rb'"([ -!#-[\]-~]{1,64})"'
_HEAD = re.compile(
    rb'\{"type":"([a-z_]+)","id":' + _ID + rb',"parentId":(?:null|' + _ID + rb")[,}]"
)


@dataclass(slots=True)
class IndexedLine:
    """An entry's place in the tree, and its bytes until it is parsed."""

    id: str
    parent_id: str | None
    type: str
    raw: bytes
    entry: Entry | None = None


@dataclass(slots=True)
class LoadedFile:
    """What a session file holds.

    Attributes:
        header: The first line.
        lines: The entries by id, in file order.
        reports: What was set aside, one sentence each.
        ends_cleanly: Whether the last byte is a line end.
    """

    header: dict[str, Any]
    lines: dict[str, IndexedLine] = field(default_factory=dict)
    reports: list[str] = field(default_factory=list)
    ends_cleanly: bool = True


def load_file(path: Path) -> LoadedFile:
    """Index a session file of version 3; see `migrate` for older ones.

    Raises:
        SessionFileError: If it cannot be read or is no session file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SessionFileError(
            f"Cannot read the session file {path}: {error.strerror}", path=str(path)
        ) from error
    first, _, rest = data.partition(b"\n")
    header = _header(first, path)
    loaded = LoadedFile(header, ends_cleanly=data.endswith(b"\n"))
    for line in _indexed(rest, loaded.reports):
        if line.id in loaded.lines:
            loaded.reports.append(f"The entry id {line.id} occurs twice; the first was kept.")
            continue
        loaded.lines[line.id] = line
    return loaded


def version_of(header: dict[str, Any]) -> int:
    """Return the version a header names; the first one named none."""
    version = header.get("version", 1)
    return version if isinstance(version, int) else VERSION


def _header(line: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json_text.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("type") != "session":
        raise SessionFileError(
            f"{path} is not a session file: its first line is no session header.", path=str(path)
        )
    return header


def _indexed(data: bytes, reports: list[str]) -> Iterator[IndexedLine]:
    for number, raw in enumerate(data.split(b"\n"), start=2):
        head = _HEAD.match(raw)
        if head and raw.endswith(b"}"):
            kind, ident, parent = head.groups()
            yield IndexedLine(
                ident.decode(), parent.decode() if parent else None, kind.decode(), raw
            )
        elif raw.strip():
            line = _parsed(raw, number, reports)
            if line is not None:
                yield line


def _parsed(raw: bytes, number: int, reports: list[str]) -> IndexedLine | None:
    try:
        entry = entry_from_wire(json_text.loads(raw))
    except (ValueError, KeyError, AttributeError, TypeError):
        reports.append(f"Line {number} is damaged and was skipped; it stays in the file.")
        return None
    return IndexedLine(entry.id, entry.parent_id, entry.type, raw, entry)
