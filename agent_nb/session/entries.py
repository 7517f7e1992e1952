"""Entries: the lines of a session file, each with a parent.

Source: pi 1.6.0, docs/session-format.md.
"""

import os
import time
import uuid
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agent_nb.core import json_text
from agent_nb.core.messages import Message, message_from_wire, message_to_wire

VERSION = 3
_BASE = frozenset({"type", "id", "parentId", "timestamp", "message"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One line after the header.

    Attributes:
        type: "message", "model_change", "compaction", …; kinds we do not know are kept as they are.
        data: The line's other fields, in pi's spelling.
        message: What a "message" entry holds.
    """

    type: str
    id: str
    parent_id: str | None
    timestamp: str
    data: Mapping[str, Any]
    message: Message | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the line as JSON data."""
        line = {
            "type": self.type,
            "id": self.id,
            "parentId": self.parent_id,
            "timestamp": self.timestamp,
            **self.data,
        }
        if self.message is not None:
            line["message"] = message_to_wire(self.message)
        return line

    def line(self) -> bytes:
        """Return the line as bytes, with its line end."""
        return json_text.dumps(self.to_wire()) + b"\n"


def entry_from_wire(line: Mapping[str, Any]) -> Entry:
    """Build an entry from a parsed line.

    Raises:
        KeyError: If it has no type or no id.
        ValueError: If these, or its parent's id, are no texts.
    """
    message = line.get("message")
    kind, ident, parent = line["type"], line["id"], line.get("parentId")
    if not (isinstance(kind, str) and isinstance(ident, str) and isinstance(parent, str | None)):
        raise ValueError("type, id and parentId must be texts")
    return Entry(
        kind,
        ident,
        parent,
        str(line.get("timestamp", "")),
        {key: value for key, value in line.items() if key not in _BASE},
        message_from_wire(message) if isinstance(message, dict) else None,
    )


def iso_now() -> str:
    """Return the time as entries carry it: ISO 8601 in UTC, milliseconds.

    >>> len(iso_now())
    24
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_entry_id(taken: Container[str]) -> str:
    """Return an unused id of 8 hexadecimal digits."""
    while (candidate := os.urandom(4).hex()) in taken:
        pass
    return candidate


def new_session_id() -> str:
    """Return a UUID of version 7: random, but sorted by time."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return str(uuid.UUID(int=value))


def new_header(cwd: str, *, parent_session: str | None = None) -> dict[str, Any]:
    """Return the first line of a new session file."""
    header = {
        "type": "session",
        "version": VERSION,
        "id": new_session_id(),
        "timestamp": iso_now(),
        "cwd": cwd,
    }
    return {**header, "parentSession": parent_session} if parent_session else header
