"""The session store: an append-only tree of entries, in memory or in a file.

A new session is written once it holds a user or assistant message; from then on each entry is
appended as it comes, in one write. Nothing is rewritten in place.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent_nb.core import json_text
from agent_nb.core.errors import SessionFileError
from agent_nb.core.messages import AssistantMessage, Message, UserMessage
from agent_nb.session.entries import Entry, entry_from_wire, iso_now, new_entry_id, new_header
from agent_nb.session.migrate import migrate_file
from agent_nb.session.session_file import IndexedLine, load_file


class SessionStore:
    """The entries of one session. `leaf_id` is the tip of the current branch."""

    def __init__(self, header: Mapping[str, Any], path: Path | None = None) -> None:
        self.header = dict(header)
        self.path = path
        self.leaf_id: str | None = None
        self.reports: list[str] = []
        self._lines: dict[str, IndexedLine] = {}
        self._backlog: list[Entry] = []
        self._file: int | None = None
        self._on_disk = False
        self._needs_line_end = False

    @classmethod
    def in_memory(cls, cwd: Path) -> "SessionStore":
        """Make a session that is never written."""
        return cls(new_header(str(cwd)))

    @classmethod
    def create(
        cls, cwd: Path, directory: Path, *, parent_session: str | None = None
    ) -> "SessionStore":
        """Make a session whose file will appear in `directory`, named by time and id as pi does."""
        header = new_header(str(cwd), parent_session=parent_session)
        stamp = header["timestamp"].replace(":", "-").replace(".", "-")
        return cls(header, directory / f"{stamp}_{header['id']}.jsonl")

    @classmethod
    def open(cls, path: Path, cwd: Path) -> "SessionStore":
        """Open a session file, or make one there if there is none.

        Raises:
            SessionFileError: If it cannot be read or is no session file.
        """
        if not path.exists():
            return cls(new_header(str(cwd)), path)
        migrate_file(path)
        loaded = load_file(path)
        store = cls(loaded.header, path)
        store._lines = loaded.lines
        store.reports = loaded.reports
        store.leaf_id = next(reversed(loaded.lines), None)
        store._on_disk = True
        store._needs_line_end = not loaded.ends_cleanly
        return store

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.header.get("id", ""))

    @property
    def is_saved(self) -> bool:
        """Whether there is a file."""
        return self._on_disk

    def append(self, kind: str, **data: Any) -> Entry:
        """Add an entry below the leaf; `data` is in pi's spelling."""
        return self._add(Entry(kind, self._new_id(), self.leaf_id, iso_now(), data))

    def append_message(self, message: Message) -> Entry:
        """Add a message below the leaf."""
        return self._add(Entry("message", self._new_id(), self.leaf_id, iso_now(), {}, message))

    def copy(self, entries: Iterable[Entry]) -> None:
        """Add entries of another session as they are, ids and all; the last one is the leaf."""
        for entry in entries:
            self._add(entry)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of all entries, in the order of the file."""
        return tuple(self._lines)

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, of every branch, in the order of the file."""
        for ident in self.ids:
            entry = self.entry(ident)
            if entry is not None:
                yield entry

    def entry(self, ident: str) -> Entry | None:
        """Return the entry of that id, parsing its line if that has not been done."""
        line = self._lines.get(ident)
        if line is None:
            return None
        if line.entry is None:
            try:
                line.entry = entry_from_wire(json_text.loads(line.raw))
            except (ValueError, KeyError, TypeError, AttributeError):
                self.reports.append(f"The entry {ident} is damaged and was left out.")
                line.entry = Entry("damaged", ident, line.parent_id, "", {})
            else:
                line.raw = b""
        return line.entry

    def branch_ids(self, leaf_id: str | None = None) -> list[str]:
        """Return the ids from the root to `leaf_id` (default: the leaf); a cycle ends the walk."""
        ids: list[str] = []
        seen: set[str] = set()
        current = leaf_id or self.leaf_id
        while current is not None and current not in seen:
            line = self._lines.get(current)
            if line is None:
                self.reports.append(f"The parent {current} is missing; its branch starts below it.")
                break
            seen.add(current)
            ids.append(current)
            current = line.parent_id
        ids.reverse()
        return ids

    def branch(self, leaf_id: str | None = None) -> Iterator[Entry]:
        """Yield the entries from the root to the leaf, parsing them as they are reached."""
        for ident in self.branch_ids(leaf_id):
            entry = self.entry(ident)
            if entry is not None:
                yield entry

    def type_of(self, ident: str) -> str:
        """Return the type of an entry without parsing it."""
        return self._lines[ident].type

    def __len__(self) -> int:
        return len(self._lines)

    async def sync(self) -> None:
        """Make the operating system write what was appended to the disk."""
        if self._file is not None:
            await asyncio.to_thread(os.fsync, self._file)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _new_id(self) -> str:
        return new_entry_id(self._lines)

    def _add(self, entry: Entry) -> Entry:
        if self.path is not None:
            self._write(entry)
        self._lines[entry.id] = IndexedLine(entry.id, entry.parent_id, entry.type, b"", entry)
        self.leaf_id = entry.id
        return entry

    def _write(self, entry: Entry) -> None:
        self._backlog.append(entry)
        if not self._on_disk and not isinstance(entry.message, UserMessage | AssistantMessage):
            return
        data = b"".join(waiting.line() for waiting in self._backlog)
        if self._on_disk and self._is_gone():
            self.reports.append(f"The session file {self.path} was deleted; it was written anew.")
            self.close()
            self._on_disk = self._needs_line_end = False
            data = b"".join(map(_line_of, self._lines.values())) + data
        if not self._on_disk:
            data = json_text.dumps(self.header) + b"\n" + data
        elif self._needs_line_end:
            data = b"\n" + data
        try:
            self._append_bytes(data)
        except OSError as error:
            self._backlog.pop()
            raise SessionFileError(
                f"Cannot write the session file {self.path}: {error.strerror}",
                path=str(self.path),
            ) from error
        self._backlog.clear()
        self._on_disk = True
        self._needs_line_end = False

    def _append_bytes(self, data: bytes) -> None:
        assert self.path is not None
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._file = os.open(self.path, flags, 0o600)
        start = os.fstat(self._file).st_size
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            self._take_back(start, len(data) - len(view))
            raise

    def _take_back(self, start: int, count: int) -> None:
        """Remove what was written of a batch that did not fit, so that it is not there twice."""
        assert self._file is not None
        assert self.path is not None
        if os.fstat(self._file).st_size == start + count:  # nobody else wrote after it
            os.ftruncate(self._file, start)
            if start == 0:  # an empty file is no session file
                self.close()
                self.path.unlink(missing_ok=True)
        else:
            self._needs_line_end = True

    def _is_gone(self) -> bool:
        if self._file is not None:
            return os.fstat(self._file).st_nlink == 0
        return self.path is not None and not self.path.exists()


def _line_of(line: IndexedLine) -> bytes:
    return line.raw + b"\n" if line.raw or line.entry is None else line.entry.line()
