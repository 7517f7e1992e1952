"""Bring a session file of version 1 or 2 to version 3; the old file stays beside the new one.

Version 1 was a plain list, version 2 a tree, version 3 renamed the role `hookMessage` to `custom`.
Source: pi 1.6.0, `session-manager` (`migrateV1ToV2`, `migrateV2ToV3`).
"""

import os
import shutil
from pathlib import Path
from typing import Any

from agent_nb.core import json_text
from agent_nb.core.errors import SessionFileError
from agent_nb.session.entries import VERSION, new_entry_id
from agent_nb.session.session_file import version_of


def migrate_file(path: Path) -> bool:
    """Rewrite an old session file in place; say whether it was old.

    The old file is kept as `NAME.v1.bak` (or `v2`). Damaged lines are carried over as they are.

    Raises:
        SessionFileError: If the file cannot be read or written.
    """
    try:
        lines = path.read_bytes().split(b"\n")
        parsed = [_parsed(line) for line in lines]
        header = parsed[0]
        if header is None or header.get("type") != "session" or version_of(header) >= VERSION:
            return False
        version = version_of(header)
        _upgrade(parsed, version)
        shutil.copy2(path, path.with_name(f"{path.name}.v{version}.bak"))
        upgraded = [
            line if entry is None else json_text.dumps(entry)
            for line, entry in zip(lines, parsed, strict=True)
        ]
        fresh = path.with_name(f"{path.name}.new")
        fresh.write_bytes(b"\n".join(upgraded).rstrip(b"\n") + b"\n")
        os.replace(fresh, path)  # noqa: PTH105 - one atomic step
    except OSError as error:
        raise SessionFileError(
            f"Cannot bring {path} to the current version: {error.strerror}", path=str(path)
        ) from error
    return True


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json_text.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _upgrade(lines: list[dict[str, Any] | None], version: int) -> None:
    entries = [line for line in lines if line is not None]
    if version < 2:
        _to_tree(entries)
    for entry in entries:
        if entry.get("type") == "session":
            entry["version"] = VERSION
        message = entry.get("message")
        if isinstance(message, dict) and message.get("role") == "hookMessage":
            message["role"] = "custom"


def _to_tree(entries: list[dict[str, Any]]) -> None:
    """Give each entry an id and the one before as its parent."""
    ids: set[str] = set()
    parent: str | None = None
    for entry in entries:
        if entry.get("type") == "session":
            continue
        ident = new_entry_id(ids)
        ids.add(ident)
        rest = dict(entry)
        entry.clear()
        entry.update({"type": rest.pop("type", ""), "id": ident, "parentId": parent, **rest})
        parent = ident
    for entry in entries:
        index = entry.pop("firstKeptEntryIndex", None)
        if isinstance(index, int) and 0 <= index < len(entries):
            entry["firstKeptEntryId"] = entries[index].get("id", entry["id"])
