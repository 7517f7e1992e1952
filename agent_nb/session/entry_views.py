"""Views of a session's entries: its name, what came after an entry, and the tree they form.

Source: pi 1.6.0, `session-manager` (`getTree`, `getSessionName`).
"""

from typing import Any

from agent_nb.core.errors import ConfigError
from agent_nb.session.entries import Entry
from agent_nb.session.store import SessionStore


def session_name(store: SessionStore) -> str | None:
    """Return the name that was given last, None if there is none."""
    for ident in reversed(store.ids):
        if store.type_of(ident) == "session_info":
            entry = store.entry(ident)
            name = str(entry.data.get("name") or "") if entry else ""
            return name.strip() or None
    return None


def entries_since(store: SessionStore, since: str | None = None) -> list[Entry]:
    """Return all entries in the order of the file, or those after the entry `since`.

    Raises:
        ConfigError: If there is no entry `since`.
    """
    entries = list(store.entries())
    if since is None:
        return entries
    for index, entry in enumerate(entries):
        if entry.id == since:
            return entries[index + 1 :]
    raise ConfigError(f"There is no entry {since!r}.")


def tree_of(store: SessionStore) -> list[dict[str, Any]]:
    """Return the roots as nodes `{entry, children, label?, labelTimestamp?}`, oldest child first.

    An entry whose parent is missing is a root.
    """
    entries = list(store.entries())
    nodes: dict[str, dict[str, Any]] = {
        entry.id: {"entry": entry.to_wire(), "children": []} for entry in entries
    }
    for entry in entries:
        target = nodes.get(str(entry.data.get("targetId")))
        if entry.type == "label" and target is not None:
            label = entry.data.get("label")
            target.pop("label", None)
            target.pop("labelTimestamp", None)
            if label:
                target.update(label=label, labelTimestamp=entry.timestamp)
    roots: list[dict[str, Any]] = []
    for entry in sorted(entries, key=lambda entry: entry.timestamp):
        parent = nodes.get(entry.parent_id or "")
        siblings = roots if parent is None or entry.parent_id == entry.id else parent["children"]
        siblings.append(nodes[entry.id])
    return roots
