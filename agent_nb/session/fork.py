"""New sessions out of old ones: a fresh one beside it, or a copy of a branch with the same ids.

Source: pi 1.6.0, `agent-session-runtime` (`fork`) and `session-manager` (`createBranchedSession`).
pi moves labels to the end of a copy; here they stay where they are.
"""

from pathlib import Path

from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import UserMessage
from agent_nb.session.store import SessionStore


def fresh_store(old: SessionStore, cwd: Path, *, parent_session: str | None = None) -> SessionStore:
    """Make an empty session where `old` is: in the directory of its file, or in memory."""
    if old.path is None:
        return SessionStore.in_memory(cwd)
    return SessionStore.create(cwd, old.path.parent, parent_session=parent_session)


def branch_off(old: SessionStore, cwd: Path, leaf_id: str | None) -> SessionStore:
    """Make a session that begins as the branch up to `leaf_id`; None for its very beginning.

    Its file appears as that of any new session: once there is a user or assistant message.

    Raises:
        ConfigError: If `old` has not been saved yet, so that it could not be named as the parent.
    """
    if leaf_id is not None and old.path is not None and not old.is_saved:
        raise ConfigError(
            "This session has not been saved yet. Send a message before cloning or forking it."
        )
    parent = str(old.path) if old.path is not None else None
    new = fresh_store(old, cwd, parent_session=parent)
    if leaf_id is not None:
        new.copy(old.branch(leaf_id))
    return new


def forkable_prompts(store: SessionStore) -> list[tuple[str, str]]:
    """Return entry id and text of every user message, of every branch, that has text."""
    return [
        (entry.id, entry.message.text)
        for entry in store.entries()
        if isinstance(entry.message, UserMessage) and entry.message.text
    ]


def fork_point(store: SessionStore, entry_id: str) -> tuple[str | None, str]:
    """Return where a fork from a user message ends, and the text of that message.

    Raises:
        ConfigError: If `entry_id` names no user message.
    """
    entry = store.entry(entry_id)
    if entry is None or not isinstance(entry.message, UserMessage):
        raise ConfigError(f"There is no user message with the entry id {entry_id!r}.")
    return entry.parent_id, entry.message.text
