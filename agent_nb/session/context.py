"""The context: which messages of a branch the next request carries.

Source: pi 1.6.0, `session-manager` (`buildSessionProjection`) and `messages` (`convertToLlm`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_nb.core.content import ContentBlock, TextContent, blocks_from_wire
from agent_nb.core.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
    message_from_wire,
)
from agent_nb.session.entries import Entry
from agent_nb.session.store import SessionStore


@dataclass(frozen=True, slots=True)
class Placed:
    """A message of the context with the entry it comes from."""

    entry_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class BranchState:
    """What the entries of a branch say of the session's settings; None where they say nothing."""

    model: tuple[str, str] | None = None
    thinking_level: str | None = None


def branch_state(store: SessionStore) -> BranchState:
    """Return model and thinking level as the branch left them, parsing no more than needed."""
    model: tuple[str, str] | None = None
    thinking: str | None = None
    for ident in reversed(store.branch_ids()):
        kind = store.type_of(ident)
        if kind == "thinking_level_change" and thinking is None:
            entry = store.entry(ident)
            thinking = str(entry.data.get("thinkingLevel", "off")) if entry else None
        elif kind in {"model_change", "message"} and model is None:
            model = _model_of(store.entry(ident))
        if model and thinking:
            break
    return BranchState(model, thinking)


def _model_of(entry: Entry | None) -> tuple[str, str] | None:
    if entry is None:
        return None
    if isinstance(entry.message, AssistantMessage):
        return entry.message.provider, entry.message.model
    if entry.type == "model_change":
        return str(entry.data.get("provider")), str(entry.data.get("modelId"))
    return None


def context_of(store: SessionStore) -> list[Placed]:
    """Return the branch's messages as the model is to see them, summaries and edits applied."""
    ids = store.branch_ids()
    compactions = [i for i, ident in enumerate(ids) if store.type_of(ident) == "compaction"]
    selected = _entries(store, ids)
    if compactions:
        selected = _after_compaction(store, ids, compactions[-1])
    entries = list(selected)
    edits = {
        str(entry.data.get("targetId")): entry.data.get("replacement")
        for entry in entries
        if entry.type == "context_edit"
    }
    placed: list[Placed] = []
    for index, entry in enumerate(entries):
        if entry.type == "compaction" and index > 0:
            continue  # an older one inside the kept range
        for message in messages_of(entry):
            edited = _edited(message, edits, entry.id)
            if edited is not None:
                placed.append(Placed(entry.id, edited))
    return placed


def _entries(store: SessionStore, ids: Iterable[str]) -> Iterable[Entry]:
    return (entry for ident in ids if (entry := store.entry(ident)) is not None)


def _after_compaction(store: SessionStore, ids: list[str], index: int) -> Iterable[Entry]:
    """Yield the compaction, what it kept, and what came after it."""
    compaction = store.entry(ids[index])
    assert compaction is not None
    yield compaction
    first_kept = compaction.data.get("firstKeptEntryId")
    before = ids[:index]
    if first_kept in before:
        for entry in _entries(store, before[before.index(first_kept) :]):
            if not isinstance(entry.message, SystemMessage):
                yield entry
    yield from _entries(store, ids[index + 1 :])


def messages_of(entry: Entry) -> list[Message]:
    """Return the messages an entry puts into the context."""
    if entry.message is not None:
        return [entry.message]
    data = entry.data
    if entry.type == "compaction":
        tokens = data.get("tokensBefore")
        summary = CompactionSummaryMessage(
            str(data.get("summary", "")), tokens if isinstance(tokens, int) else 0
        )
        system = data.get("systemMessage")
        return [message_from_wire(system), summary] if isinstance(system, dict) else [summary]
    if entry.type == "branch_summary" and data.get("summary"):
        return [BranchSummaryMessage(str(data["summary"]), data.get("fromId"))]
    if entry.type == "custom_message":
        content = _content(data.get("content"))
        if content is None:
            return []
        return [CustomMessage(str(data.get("customType", "")), content)]
    return []


def _content(data: Any) -> str | tuple[ContentBlock, ...] | None:
    """Build the content of an entry; None if it is none."""
    try:
        return blocks_from_wire(data or "")
    except (AttributeError, TypeError):
        return None


def _edited(message: Message, edits: Mapping[str, Any], entry_id: str) -> Message | None:
    if entry_id not in edits:
        return message
    replacement = edits[entry_id]
    if replacement is None:
        return None
    content = _content(replacement.get("content")) if isinstance(replacement, dict) else None
    if content is None:
        return message  # an edit that says nothing changes nothing
    if isinstance(message, AssistantMessage | ToolResultMessage):
        blocks = (TextContent(content),) if isinstance(content, str) else content
        return replace(message, content=blocks)
    if isinstance(message, UserMessage | CustomMessage):
        return replace(message, content=content)
    return message


def for_model(message: Message) -> Message | None:
    """Return `message` as a provider takes it, or None if it is not for the model."""
    match message:
        case UserMessage() | AssistantMessage() | ToolResultMessage():
            return message
        case BashExecutionMessage():
            return None if message.exclude_from_context else _bash_text(message)
        case CustomMessage():
            return UserMessage(message.content, message.timestamp)
        case CompactionSummaryMessage():
            return _wrapped(
                "The conversation before this point was compacted. Its summary:",
                message.summary,
                message.timestamp,
            )
        case BranchSummaryMessage():
            return _wrapped(
                "This is a summary of another branch of the conversation, which was left:",
                message.summary,
                message.timestamp,
            )
        case _:
            return None


def _wrapped(lead: str, summary: str, timestamp: int) -> UserMessage:
    text = f"{lead}\n\n<summary>\n{summary}\n</summary>"
    return UserMessage((TextContent(text),), timestamp)


def _bash_text(message: BashExecutionMessage) -> UserMessage:
    output = f"```\n{message.output}\n```" if message.output else "(no output)"
    lines = [f"I ran `{message.command}`:", output]
    if message.cancelled:
        lines.append("(cancelled)")
    elif message.exit_code:
        lines.append(f"It ended with exit code {message.exit_code}.")
    if message.truncated and message.full_output_path:
        lines.append(f"The output was cut; all of it is in {message.full_output_path}.")
    return UserMessage((TextContent("\n".join(lines)),), message.timestamp)
