"""What RPC mode answers about a session, in pi's shapes (docs/rpc-commands.md of pi 1.6.0)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_nb.core.messages import AssistantMessage, BashExecutionMessage, message_to_wire
from agent_nb.core.model import Model
from agent_nb.core.wire import to_wire
from agent_nb.session.context import context_of
from agent_nb.session.entry_views import entries_since, tree_of
from agent_nb.session.fork import forkable_prompts
from agent_nb.session.session import AgentSession
from agent_nb.session.settings import PROJECT_DIRECTORY
from agent_nb.session.statistics import context_tokens, statistics_of

Data = dict[str, Any]


def model_data(model: Model) -> Data:
    """Describe a model; without its headers, which may hold keys."""
    data: Data = {
        "id": model.id,
        "name": model.name or model.id,
        "api": model.api,
        "provider": model.provider,
        "baseUrl": model.base_url,
        "reasoning": model.reasoning,
        "input": list(model.inputs),
        "contextWindow": model.context_window,
        "maxTokens": model.max_tokens,
    }
    if model.prices is not None:
        data["cost"] = to_wire(model.prices)
    return data


def state_data(session: AgentSession) -> Data:
    """Describe where the session stands."""
    data: Data = {
        "model": model_data(session.model),
        "thinkingLevel": session.thinking_level,
        "isStreaming": session.is_running,
        "isCompacting": False,
        "steeringMode": session.queues.steering.mode,
        "followUpMode": session.queues.follow_ups.mode,
        "sessionFile": _path(session),
        "sessionId": session.id,
        "sessionName": session.name,
        "autoCompactionEnabled": session.settings.compaction.enabled,
        "messageCount": len(context_of(session.store)),
        "pendingMessageCount": len(session.queues),
    }
    return _without_none(data)


def messages_data(session: AgentSession) -> Data:
    """Return the messages of the context, as they are stored."""
    placed = context_of(session.store)
    return {"messages": [message_to_wire(item.message) for item in placed]}


def statistics_data(session: AgentSession) -> Data:
    """Count messages, tokens and cost, and say how full the context is."""
    numbers = statistics_of(session.store)
    usage = numbers.usage
    data: Data = {
        "sessionFile": _path(session),
        "sessionId": session.id,
        "userMessages": numbers.user_messages,
        "assistantMessages": numbers.assistant_messages,
        "toolCalls": numbers.tool_calls,
        "toolResults": numbers.tool_results,
        "totalMessages": numbers.total_messages,
        "tokens": {
            "input": usage.input,
            "output": usage.output,
            "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write,
            "total": usage.input + usage.output + usage.cache_read + usage.cache_write,
        },
        "cost": usage.cost.total,
    }
    window = session.model.context_window
    if window > 0:
        tokens = context_tokens(session.store)
        percent = None if tokens is None else tokens / window * 100
        data["contextUsage"] = {"tokens": tokens, "contextWindow": window, "percent": percent}
    return _without_none(data)


def last_text_data(session: AgentSession) -> Data:
    """Return the last answer's text; `text` is missing if there is none, as in pi.

    Answers without text that did not end normally, or that only call tools, are passed over.
    """
    for item in reversed(context_of(session.store)):
        message = item.message
        if isinstance(message, AssistantMessage):
            text = message.text.strip()
            if text or message.stop_reason == "stop":
                return {"text": text} if text else {}
    return {}


def entries_data(session: AgentSession, since: str | None) -> Data:
    """Return the entries after `since`, or all.

    Raises:
        ConfigError: If there is no entry `since`.
    """
    entries = [entry.to_wire() for entry in entries_since(session.store, since)]
    return {"entries": entries, "leafId": session.store.leaf_id}


def tree_data(session: AgentSession) -> Data:
    """Return the entries as a tree."""
    return {"tree": tree_of(session.store), "leafId": session.store.leaf_id}


def fork_messages_data(session: AgentSession) -> Data:
    """Return the prompts one can fork from."""
    prompts = forkable_prompts(session.store)
    return {"messages": [{"entryId": ident, "text": text} for ident, text in prompts]}


def bash_data(message: BashExecutionMessage) -> Data:
    """Describe how a command of the user's ended."""
    return _without_none(
        {
            "output": message.output,
            "exitCode": message.exit_code,
            "cancelled": message.cancelled,
            "truncated": message.truncated,
            "fullOutputPath": message.full_output_path,
        }
    )


def commands_data(session: AgentSession) -> Data:
    """Return prompt templates and skills, as one calls them in a prompt."""
    commands = [
        _command(session, template.name, template.description, template.path, source="prompt")
        for template in session.resources.templates.values()
    ]
    commands += [
        _command(session, f"skill:{skill.name}", skill.description, skill.path, source="skill")
        for skill in session.resources.skills.values()
    ]
    return {"commands": commands}


def _command(
    session: AgentSession, name: str, description: str, path: Path, *, source: str
) -> Data:
    places = (session.cwd / PROJECT_DIRECTORY, session.cwd / ".agents")
    is_project = any(path.is_relative_to(place) for place in places)
    return {
        "name": name,
        "description": description,
        "source": source,
        "sourceInfo": {
            "path": str(path),
            "source": "local",
            "scope": "project" if is_project else "user",
            "origin": "top-level",
        },
    }


def _path(session: AgentSession) -> str | None:
    return str(session.path) if session.path is not None else None


def _without_none(data: Mapping[str, Any]) -> Data:
    return {key: value for key, value in data.items() if value is not None}
