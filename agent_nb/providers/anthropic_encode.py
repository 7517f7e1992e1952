"""Requests of the Anthropic Messages API, from our messages.

Source: pi-ai 1.6.0, `api/anthropic-messages`, and the requests it was seen to send.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_nb.core.content import ImageContent, TextContent, ThinkingContent
from agent_nb.core.messages import AssistantMessage, ToolResultMessage, UserMessage
from agent_nb.core.model import Model, ThinkingLevel
from agent_nb.core.provider import Request
from agent_nb.providers.answer_limit import LEAST_ANSWER, THINKING_BUDGETS, answer_limit
from agent_nb.providers.replay import (
    TOOL_IMAGE_LEFT_OUT,
    USER_IMAGE_LEFT_OUT,
    Said,
    Shown,
    Unit,
    encode,
    is_of_model,
    said,
    shown,
    with_call_ids,
)

CACHE_MARK = {"type": "ephemeral"}
LEAST_THINKING = 1024
"""Tokens of thinking below which the API refuses a request."""

_IMAGES_BELOW = "(The images follow after the tool results.)"
_Wire = dict[str, Any]


class AnthropicMessagesEncoder:
    """Encodes units for one model; an instance is a value."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def unit(self, unit: Unit, _before: bytes) -> list[bytes]:
        """Return the wire messages of a unit; a user message takes two fragments."""
        if isinstance(unit.head, UserMessage):
            return _user(_parts(shown(unit.head.content, self._model, USER_IMAGE_LEFT_OUT)))
        if unit.head is None:
            return []
        return self._answer(unit.head, unit.results)

    def _answer(
        self, answer: AssistantMessage, results: Sequence[ToolResultMessage]
    ) -> list[bytes]:
        if not is_of_model(answer, self._model):
            answer, results = with_call_ids(answer, results, _call_id)
        parts = [part for block in said(answer, self._model) if (part := self._said(block))]
        if not parts:
            return []
        message = encode({"role": "assistant", "content": parts})
        return [message, *self._results(results)]

    def _said(self, block: Said) -> _Wire | None:
        if isinstance(block, TextContent):
            return {"type": "text", "text": block.text}
        if isinstance(block, ThinkingContent):
            return self._thinking(block)
        arguments = dict(block.arguments)
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": arguments}

    def _thinking(self, block: ThinkingContent) -> _Wire | None:
        signature = block.thinking_signature or ""
        if block.redacted:
            return {"type": "redacted_thinking", "data": signature}
        if signature.strip() or self._model.compat.get("allowEmptySignature"):
            return {"type": "thinking", "thinking": block.thinking, "signature": signature}
        # Thinking that lost its signature is refused as thinking; as text it still helps.
        return {"type": "text", "text": block.thinking} if block.thinking.strip() else None

    def _results(self, results: Sequence[ToolResultMessage]) -> list[bytes]:
        """Return one user message: all results first, as the API wants, then images of errors."""
        parts: list[_Wire] = []
        below: list[_Wire] = []
        for result in results:
            blocks = shown(result.content, self._model, TOOL_IMAGE_LEFT_OUT)
            images = [block for block in blocks if isinstance(block, ImageContent)]
            if images and result.is_error:  # the API takes only text in the result of an error
                caption = f"Images of the failed call {result.tool_call_id} ({result.tool_name}):"
                below += _parts([TextContent(caption), *images])
                texts = [block for block in blocks if isinstance(block, TextContent)]
                blocks = [*texts, TextContent(_IMAGES_BELOW)]
            parts.append(_result(result, blocks))
        return _user([*parts, *below])


def _result(result: ToolResultMessage, blocks: Sequence[Shown]) -> _Wire:
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    content: str | list[_Wire] = "\n".join(texts) or "(no output)"
    if len(texts) < len(blocks):
        caption = [] if texts else [TextContent("(see the image)")]
        content = _parts([*caption, *blocks])
    return {
        "type": "tool_result",
        "tool_use_id": result.tool_call_id,
        "content": content,
        "is_error": result.is_error,
    }


def _parts(blocks: Sequence[Shown]) -> list[_Wire]:
    return [_part(block) for block in blocks]


def _part(block: Shown) -> _Wire:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    source = {"type": "base64", "media_type": block.mime_type, "data": block.data}
    return {"type": "image", "source": source}


def _call_id(call_id: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)[:64]


def _user(parts: list[_Wire]) -> list[bytes]:
    """Return a user message as two fragments, the second just the last block's `type`.

    The request's last block carries the cache mark, and the next request's history has the same
    block without it. So only this small fragment differs, and the rest is encoded once and shared.
    """
    if not parts:
        return []
    last = dict(parts[-1])
    kind = encode(last.pop("type"))
    message = encode({"role": "user", "content": [*parts[:-1], last]})
    return [message.removesuffix(b"}]}"), b'"type":%b}]}' % kind]


def with_cache_mark(fragment: bytes) -> bytes:
    """Return the second fragment of a user message with the cache mark, others as they are."""
    if not fragment.startswith(b'"type":'):
        return fragment
    return fragment.removesuffix(b"}]}") + b',"cache_control":%b}]}' % encode(CACHE_MARK)


def messages_fields(request: Request) -> _Wire:
    """Return all of a request's fields but the messages."""
    model, compat = request.model, request.model.compat
    fields: _Wire = {"model": model.id, "stream": True}
    fields.update(_thinking_fields(request))
    if request.system:
        fields["system"] = [{"type": "text", "text": request.system, "cache_control": CACHE_MARK}]
    tools = [_tool(tool, compat) for tool in request.tools]
    if tools:
        if compat.get("supportsCacheControlOnTools") is not False:
            tools[-1]["cache_control"] = CACHE_MARK
        fields["tools"] = tools
    return fields


def _thinking_fields(request: Request) -> _Wire:
    model, level = request.model, request.thinking_level
    limit = answer_limit(request)
    if not model.reasoning:
        return {"max_tokens": limit}
    if level == "off":
        can_be_off = model.thinking_levels.get("off", "") is not None
        off = {"thinking": {"type": "disabled"}} if can_be_off else {}
        return {"max_tokens": limit, **off}
    if model.compat.get("forceAdaptiveThinking"):
        effort = model.thinking_levels.get(level) or _EFFORTS.get(level, "high")
        thinking = {"type": "adaptive", "display": "summarized"}
        return {
            "max_tokens": limit,
            "thinking": thinking,
            "output_config": {"effort": effort},
        }
    budget = THINKING_BUDGETS[level]
    # Thinking counts as part of the answer, so it comes on top of what is wanted for the answer.
    limit = answer_limit(request, min(limit + budget, model.max_tokens))
    budget = min(budget, limit - LEAST_ANSWER)
    if budget < LEAST_THINKING:
        return {"max_tokens": limit}
    enabled = {"type": "enabled", "budget_tokens": budget, "display": "summarized"}
    return {"max_tokens": limit, "thinking": enabled}


_EFFORTS: Mapping[ThinkingLevel, str] = {"minimal": "low", "low": "low", "medium": "medium"}


def _tool(tool: Mapping[str, Any], compat: Mapping[str, Any]) -> _Wire:
    schema = tool["parameters"]
    kept = ("additionalProperties", "$defs", "definitions")
    wire: _Wire = {"name": tool["name"], "description": tool["description"]}
    if compat.get("supportsEagerToolInputStreaming") is not False:
        wire["eager_input_streaming"] = True
    wire["input_schema"] = {
        "type": "object",
        "properties": schema.get("properties") or {},
        "required": schema.get("required") or [],
        **{key: schema[key] for key in kept if key in schema},
    }
    return wire


def beta_features(request: Request) -> list[str]:
    """Return the API's optional features that a request needs."""
    model, compat = request.model, request.model.compat
    features = []
    if request.tools and compat.get("supportsEagerToolInputStreaming") is False:
        features.append("fine-grained-tool-streaming-2025-05-14")
    thinks = model.reasoning and request.thinking_level != "off"
    if thinks and not compat.get("forceAdaptiveThinking"):
        features.append("interleaved-thinking-2025-05-14")
    return features
