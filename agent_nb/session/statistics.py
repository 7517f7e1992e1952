"""What a session has used: messages, tokens, cost, and how full the context is.

Source: pi 1.6.0, `agent-session` (`getSessionStats`, `getContextUsage`).
"""

from dataclasses import dataclass
from math import ceil

from agent_nb.core import json_text
from agent_nb.core.content import ContentBlock, ImageContent, TextContent, ThinkingContent, ToolCall
from agent_nb.core.messages import (
    NO_USAGE,
    AssistantMessage,
    Message,
    ToolResultMessage,
    Usage,
    UserMessage,
    usage_from_wire,
)
from agent_nb.session.context import context_of, for_model
from agent_nb.session.entries import Entry
from agent_nb.session.store import SessionStore

_CHARACTERS_PER_TOKEN = 4
_IMAGE_CHARACTERS = 4_800


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers over all entries, also those that were compacted or are on other branches.

    Attributes:
        usage: Of answers, of tools that report it, and of summaries.
    """

    user_messages: int
    assistant_messages: int
    tool_calls: int
    tool_results: int
    total_messages: int
    usage: Usage


def statistics_of(store: SessionStore) -> Statistics:
    """Count what the session holds."""
    entries = list(store.entries())
    messages = [entry.message for entry in entries if entry.message is not None]
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    return Statistics(
        user_messages=sum(isinstance(message, UserMessage) for message in messages),
        assistant_messages=len(answers),
        tool_calls=sum(len(answer.tool_calls) for answer in answers),
        tool_results=sum(isinstance(message, ToolResultMessage) for message in messages),
        total_messages=len(messages),
        usage=sum(map(_usage_of, entries), NO_USAGE),
    )


def _usage_of(entry: Entry) -> Usage:
    message = entry.message
    if isinstance(message, AssistantMessage | ToolResultMessage):
        return message.usage or NO_USAGE
    usage = entry.data.get("usage")
    try:
        return usage_from_wire(usage) if isinstance(usage, dict) else NO_USAGE
    except (ValueError, AttributeError):
        return NO_USAGE


def context_tokens(store: SessionStore) -> int | None:
    """Return about how many tokens the next request holds, its prompt not counted.

    That is what the last good answer reported, and an estimate of what came after it. None right
    after a compaction: what was reported before it no longer holds.
    """
    placed = context_of(store)
    since = _after_compaction(store)
    later = 0
    for item in reversed(placed):
        message = item.message
        if isinstance(message, AssistantMessage) and (since is None or item.entry_id in since):
            reported = _reported(message)
            if reported:
                return reported + later
        later += estimated_tokens(message)
    return None if since is not None else later


def _after_compaction(store: SessionStore) -> frozenset[str] | None:
    """Return the ids after the branch's last compaction; None if there was none."""
    ids = store.branch_ids()
    for index in range(len(ids) - 1, -1, -1):
        if store.type_of(ids[index]) == "compaction":
            return frozenset(ids[index + 1 :])
    return None


def _reported(message: AssistantMessage) -> int:
    if message.stop_reason in {"error", "aborted"}:
        return 0
    usage = message.usage
    return usage.input + usage.output + usage.cache_read + usage.cache_write


def estimated_tokens(message: Message) -> int:
    """Estimate a message's tokens from its length: four characters each, an image counts 4,800.

    >>> estimated_tokens(UserMessage("12345"))
    2
    """
    sent = for_model(message)
    if sent is None or not isinstance(sent, UserMessage | AssistantMessage | ToolResultMessage):
        return 0
    content = sent.content
    blocks = (TextContent(content),) if isinstance(content, str) else content
    return ceil(sum(map(_characters, blocks)) / _CHARACTERS_PER_TOKEN)


def _characters(block: ContentBlock) -> int:
    match block:
        case TextContent(text=text):
            return len(text)
        case ThinkingContent(thinking=thinking):
            return len(thinking)
        case ImageContent():
            return _IMAGE_CHARACTERS
        case ToolCall(name=name, arguments=arguments):
            return len(name) + len(json_text.dumps(dict(arguments)))
        case _:
            return 0
