"""How an answer of the responses API ended: why, and what it took."""

from collections.abc import Mapping
from typing import Any

from agent_nb.core.events import Finish
from agent_nb.core.messages import Usage
from agent_nb.providers.failures import error_text
from agent_nb.providers.lenient import mapping, text, whole


def finish_of(response: Mapping[str, Any], *, has_calls: bool) -> Finish | None:
    """Return how the answer ended; None if it failed."""
    status = text(response.get("status")) or "completed"
    why = text(mapping(response.get("incomplete_details")).get("reason"))
    raw = f"{status}.{why}" if why else status
    match status:
        case "completed" | "in_progress" | "queued":
            return Finish("toolUse" if has_calls else "stop", raw)
        case "incomplete" if why == "max_output_tokens":
            return Finish("length", raw)
        case "incomplete":
            shown = why or "the server gave no reason"
            return Finish("error", raw, f"The server left the answer incomplete: {shown}")
        case _:
            return None


def failure_of(response: Mapping[str, Any]) -> str:
    """Say why an answer failed, in the server's words."""
    if error := response.get("error"):
        return error_text(error)
    why = text(mapping(response.get("incomplete_details")).get("reason"))
    status = text(response.get("status")) or "failed"
    return f"The server ended the answer: {status}, {why or 'without a reason'}"


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Read token counts; `input_tokens` holds what came from the cache and what went there."""
    details = mapping(usage.get("input_tokens_details"))
    read, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    fresh = max(0, _count(usage, "input_tokens") - read - written)
    output = _count(usage, "output_tokens")
    reasoning = _count(mapping(usage.get("output_tokens_details")), "reasoning_tokens")
    return Usage(fresh, output, read, written, fresh + output + read + written, reasoning)


def _count(counts: Mapping[str, Any], name: str) -> int:
    return whole(counts.get(name)) or 0
