"""Requests of the chat-completions API, from our messages.

Source: pi-ai 1.6.0, `api/openai-completions`, and the requests it was seen to send.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_nb.core import json_text
from agent_nb.core.content import ImageContent, TextContent, ThinkingContent, ToolCall
from agent_nb.core.messages import AssistantMessage, ToolResultMessage, UserMessage
from agent_nb.core.model import Model
from agent_nb.core.provider import Request
from agent_nb.providers.answer_limit import answer_limit
from agent_nb.providers.openai_thinking import thinking_fields
from agent_nb.providers.replay import (
    TOOL_IMAGE_LEFT_OUT,
    USER_IMAGE_LEFT_OUT,
    Shown,
    Unit,
    encode,
    is_of_model,
    said,
    shown,
    with_call_ids,
)

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
CACHE_MARK = {"type": "ephemeral"}

_BRIDGE = {"role": "assistant", "content": "I have read the tool results."}
_ID_LENGTH = 40
_Wire = dict[str, Any]


class ChatMessages:
    """Encodes units for one model; an instance is a value."""

    def __init__(self, model: Model, compat: Mapping[str, Any]) -> None:
        self._model = model
        self._compat = compat

    def unit(self, unit: Unit, before: bytes) -> list[bytes]:
        """Return the wire messages of a unit, each as JSON."""
        if isinstance(unit.head, UserMessage):
            messages = self._user(unit.head, before)
        elif unit.head is not None:
            messages = self._answer(unit.head, unit.results)
        else:
            messages = []
        return [encode(message) for message in messages]

    def _user(self, message: UserMessage, before: bytes) -> list[_Wire]:
        blocks = shown(message.content, self._model, USER_IMAGE_LEFT_OUT)
        if not blocks:
            return []
        wants_bridge = self._compat.get("requiresAssistantAfterToolResult")
        bridge = wants_bridge and before.startswith(b'{"role":"tool"')
        return [*([_BRIDGE] if bridge else []), {"role": "user", "content": _content(blocks)}]

    def _answer(
        self, answer: AssistantMessage, results: Sequence[ToolResultMessage]
    ) -> list[_Wire]:
        if not is_of_model(answer, self._model):
            answer, results = with_call_ids(answer, results, self._call_id)
        message = self._assistant(answer)
        if not message["content"] and "tool_calls" not in message:
            return []
        return [message, *map(self._result, results), *self._images(results)]

    def _assistant(self, answer: AssistantMessage) -> _Wire:
        blocks = said(answer, self._model)
        text = "".join(block.text for block in blocks if isinstance(block, TextContent))
        thinking = [b for b in blocks if isinstance(b, ThinkingContent)]
        calls = [block for block in blocks if isinstance(block, ToolCall)]
        nothing = "" if self._compat["requiresNonNullAssistantContent"] else None
        message: _Wire = {"role": "assistant", "content": text or nothing}
        message.update(self._reasoning(thinking, calls))
        if self._compat.get("requiresThinkingAsText") and any(b.thinking for b in thinking):
            thoughts = "\n\n".join(b.thinking for b in thinking if b.thinking.strip())
            message["content"] = f"{thoughts}\n\n{text}" if text else thoughts
        if calls:
            message["tool_calls"] = [_tool_call(call) for call in calls]
        return message

    def _reasoning(
        self, thinking: Sequence[ThinkingContent], calls: Sequence[ToolCall]
    ) -> Mapping[str, Any]:
        """Return thinking in the field it came in, which its signature names."""
        fields: _Wire = {}
        if self._compat.get("requiresReasoningContentOnAssistantMessages") and (
            self._model.reasoning
        ):
            fields["reasoning_content"] = ""
        details = _reasoning_details(thinking, calls)
        if details:
            fields["reasoning_details"] = details
            return fields
        readable = [block for block in thinking if block.thinking.strip()]
        if readable and not self._compat.get("requiresThinkingAsText"):
            field = readable[0].thinking_signature
            if field in REASONING_FIELDS:
                fields[field] = "\n".join(block.thinking for block in readable)
        return fields

    def _result(self, result: ToolResultMessage) -> _Wire:
        blocks = shown(result.content, self._model, TOOL_IMAGE_LEFT_OUT)
        text = "\n".join(block.text for block in blocks if isinstance(block, TextContent))
        nothing = "(see the attached image)" if blocks else "(no output)"
        message: _Wire = {"role": "tool", "content": text or nothing}
        message["tool_call_id"] = result.tool_call_id
        if self._compat.get("requiresToolResultName"):
            message["name"] = result.tool_name
        return message

    def _images(self, results: Sequence[ToolResultMessage]) -> list[_Wire]:
        """Return a user message with the images of tool results: a `tool` message is only text."""
        if "image" not in self._model.inputs:
            return []
        images = [b for result in results for b in result.content if isinstance(b, ImageContent)]
        if not images:
            return []
        bridge = [_BRIDGE] if self._compat.get("requiresAssistantAfterToolResult") else []
        caption = TextContent("The tool results above come with these images:")
        return [*bridge, {"role": "user", "content": _content([caption, *images])}]

    def _call_id(self, call_id: str) -> str:
        """Shorten ids of the responses API, `call|item`: a hash keeps long ones apart."""
        if "|" in call_id:
            call, item = (re.sub(r"[^a-zA-Z0-9_-]", "_", p) for p in call_id.split("|", 1))
            joined = f"{call}_{item}" if item else call
            if len(joined) <= _ID_LENGTH:
                return joined
            digest = hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:8]
            return f"{call[: _ID_LENGTH - 9]}_{digest}"
        return call_id[:_ID_LENGTH] if self._model.provider == "openai" else call_id


def chat_fields(request: Request, compat: Mapping[str, Any]) -> _Wire:
    """Return all of a request's fields but the messages."""
    model = request.model
    limit = answer_limit(request)
    fields: _Wire = {"model": model.id, "stream": True}
    if compat["supportsUsageInStreaming"]:
        fields["stream_options"] = {"include_usage": True}
    if compat["supportsStore"]:
        fields["store"] = False
    fields[compat["maxTokensField"]] = limit
    fields.update(_tools(request, compat))
    fields.update(thinking_fields(model, request.thinking_level, compat, limit))
    fields.update(_routing(request, compat))
    return fields


def with_cache_mark(message: bytes) -> bytes:
    """Return a message with Anthropic's cache mark on its last text, for gateways to Claude."""
    data: _Wire = json_text.loads(message)
    content = data["content"]
    parts: list[_Wire] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    )
    texts = [part for part in parts if part.get("text")]
    if not texts:
        return message
    texts[-1]["cache_control"] = CACHE_MARK
    return encode({**data, "content": parts})


def system_message(request: Request, compat: Mapping[str, Any]) -> _Wire:
    """Return the system prompt as a message."""
    developer = request.model.reasoning and compat["supportsDeveloperRole"]
    content: Any = request.system
    if compat.get("cacheControlFormat") == "anthropic":
        content = [{"type": "text", "text": content, "cache_control": CACHE_MARK}]
    return {"role": "developer" if developer else "system", "content": content}


def _tools(request: Request, compat: Mapping[str, Any]) -> _Wire:
    tools: list[_Wire] = []
    for tool in request.tools:
        function: _Wire = {key: tool[key] for key in ("name", "description", "parameters")}
        if compat["supportsStrictMode"]:
            function["strict"] = False
        tools.append({"type": "function", "function": function})
    if tools and compat.get("cacheControlFormat") == "anthropic":
        tools[-1]["cache_control"] = CACHE_MARK
    if not tools:
        used = any(isinstance(message, ToolResultMessage) for message in request.messages)
        return {"tools": []} if used and compat.get("requiresToolsWithToolHistory") else {}
    return {"tools": tools, **({"tool_stream": True} if compat.get("zaiToolStream") else {})}


def _routing(request: Request, compat: Mapping[str, Any]) -> _Wire:
    """Return where a gateway should send the request, and what the cache goes by."""
    fields: _Wire = {}
    if compat.get("vllmPriority") is not None:
        fields["priority"] = compat["vllmPriority"]
    if compat.get("openRouterRouting"):
        fields["provider"] = compat["openRouterRouting"]
    if vercel := compat.get("vercelGatewayRouting"):
        order = {key: vercel[key] for key in ("only", "order") if vercel.get(key)}
        fields["providerOptions"] = {"gateway": order}
    mode = compat["promptCacheKeyMode"]
    by_key = mode == "enabled" or (mode == "auto" and "api.openai.com" in request.model.base_url)
    if by_key and request.session_id:
        fields["prompt_cache_key"] = request.session_id[:64]
    return fields


def affinity_headers(request: Request, compat: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers by which a gateway keeps a session on one machine."""
    if not (request.session_id and compat.get("sendSessionAffinityHeaders")):
        return {}
    if compat["sessionAffinityFormat"] == "openrouter":
        return {"x-session-id": request.session_id}
    names = ["x-client-request-id", "x-session-affinity"]
    if compat["sessionAffinityFormat"] == "openai":
        names.append("session_id")
    return dict.fromkeys(names, request.session_id)


def _content(blocks: Sequence[Shown]) -> str | list[_Wire]:
    """A single text is sent as a string, which every server takes."""
    if len(blocks) == 1 and isinstance(blocks[0], TextContent):
        return blocks[0].text
    return [_part(block) for block in blocks]


def _part(block: Shown) -> _Wire:
    if isinstance(block, TextContent):
        return {"type": "text", "text": block.text}
    url = f"data:{block.mime_type};base64,{block.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _tool_call(call: ToolCall) -> _Wire:
    arguments = encode(call.arguments).decode()
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _reasoning_details(
    thinking: Sequence[ThinkingContent], calls: Sequence[ToolCall]
) -> list[Any] | None:
    """Return OpenRouter's structured reasoning, kept as JSON in a signature."""
    for block in thinking:
        details = _parsed(block.thinking_signature)
        if isinstance(details, list) and details:
            return details
    single = (_parsed(call.thought_signature) for call in calls)
    return [detail for detail in single if isinstance(detail, dict)] or None


def _parsed(signature: str | None) -> Any:
    if not signature or signature[0] not in "[{":
        return None
    try:
        return json_text.loads(signature)
    except ValueError:
        return None
