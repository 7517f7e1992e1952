"""Requests of the responses API, from our messages.

Source: pi-ai 1.6.0, `api/openai-responses`, and the requests it was seen to send.
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

LEAST_OUTPUT_TOKENS = 16
"""The API refuses a lower limit."""

_ID_LENGTH = 64
_PHASES = ("commentary", "final_answer")
_Wire = dict[str, Any]


class ResponsesInput:
    """Encodes units for one model; an instance is a value."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def unit(self, unit: Unit, _before: bytes) -> list[bytes]:
        """Return the input items of a unit, each as JSON."""
        if isinstance(unit.head, UserMessage):
            parts = [_part(b) for b in shown(unit.head.content, self._model, USER_IMAGE_LEFT_OUT)]
            items: list[_Wire] = [{"role": "user", "content": parts}] if parts else []
        elif unit.head is not None:
            items = self._answer(unit.head, unit.results, f"msg_nb_{unit.start}")
        else:
            items = []
        return [encode(item) for item in items]

    def _answer(
        self, answer: AssistantMessage, results: Sequence[ToolResultMessage], made_up_id: str
    ) -> list[_Wire]:
        is_own = is_of_model(answer, self._model)
        if not is_own:
            answer, results = with_call_ids(answer, results, _call_id)
        items: list[_Wire] = []
        for index, block in enumerate(said(answer, self._model)):
            if isinstance(block, TextContent):
                made_up = {"id": f"{made_up_id}_{index}"}
                given = _identity(block.text_signature) if is_own else {}
                items.append(_message(block.text, made_up | given))
            elif isinstance(block, ToolCall):
                items.append(_function_call(block, is_own=is_own))
            elif item := _reasoning(block):
                items.append(item)
        while items and items[-1]["type"] == "reasoning":  # refused without what it led to
            items.pop()
        return [*items, *map(self._result, results)]

    def _result(self, result: ToolResultMessage) -> _Wire:
        blocks = shown(result.content, self._model, TOOL_IMAGE_LEFT_OUT)
        text = "\n".join(block.text for block in blocks if isinstance(block, TextContent))
        output: str | list[_Wire] = text or "(no output)"
        images = [block for block in blocks if isinstance(block, ImageContent)]
        if images:
            texts: list[Shown] = [TextContent(text)] if text else []
            output = [_part(block) for block in (*texts, *images)]
        call_id = result.tool_call_id.partition("|")[0]
        return {"type": "function_call_output", "call_id": call_id, "output": output}


def responses_fields(request: Request) -> _Wire:
    """Return all of a request's fields but the input."""
    model, compat = request.model, request.model.compat
    fields: _Wire = {"model": model.id, "stream": True, "store": False}
    if request.session_id and compat.get("promptCacheKeyMode") != "disabled":
        fields["prompt_cache_key"] = request.session_id[:64]
    if compat.get("supportsMaxOutputTokens") is not False:
        fields["max_output_tokens"] = max(answer_limit(request), LEAST_OUTPUT_TOKENS)
    if request.tools:
        # Left out, `strict` means true at OpenAI, where optional parameters then are not.
        strict = compat.get("supportsStrictMode", _is_openai(model))
        fields["tools"] = [_tool(tool, knows_strict=strict) for tool in request.tools]
    return {**fields, **_reasoning_fields(request)}


def instructions(request: Request) -> _Wire:
    """Return the system prompt as an input item."""
    developer = request.model.reasoning and (
        request.model.compat.get("supportsDeveloperRole") is not False
    )
    return {"role": "developer" if developer else "system", "content": request.system}


def affinity_headers(request: Request) -> dict[str, str]:
    """Return the headers by which a gateway keeps a session on one machine."""
    if not request.session_id:
        return {}
    is_openrouter = "openrouter.ai" in request.model.base_url
    kind = request.model.compat.get("sessionAffinityFormat") or (
        "openrouter" if is_openrouter else "openai"
    )
    names = {
        "openrouter": ("x-session-id",),
        "openai-nosession": ("x-client-request-id",),
    }.get(kind, ("session-id", "x-client-request-id"))
    return dict.fromkeys(names, request.session_id)


def text_signature(item: Mapping[str, Any]) -> str | None:
    """Return a message item's id and phase as a block keeps them, in pi's form.

    >>> text_signature({"id": "msg_1", "phase": "final_answer"})
    '{"v":1,"id":"msg_1","phase":"final_answer"}'
    """
    if not isinstance(item.get("id"), str):
        return None
    phase = {"phase": item["phase"]} if item.get("phase") else {}
    return json_text.dumps({"v": 1, "id": item["id"], **phase}).decode()


def _reasoning(block: ThinkingContent) -> _Wire | None:
    """Return a reasoning item as it came."""
    item = _parsed(block.thinking_signature or "")
    return item if item and item.get("type") == "reasoning" else None


def _identity(signature: str | None) -> _Wire:
    """Return id and phase of a message item; older sessions have the bare id as the signature."""
    data = _parsed(signature or "") or {"id": signature}
    item_id, phase = data.get("id"), data.get("phase")
    if not item_id or not isinstance(item_id, str):
        return {}
    if len(item_id) > _ID_LENGTH:
        digest = hashlib.sha256(item_id.encode("utf-8", "replace")).hexdigest()
        item_id = f"msg_{digest[:32]}"
    return {"id": item_id, **({"phase": phase} if phase in _PHASES else {})}


def _message(text: str, identity: _Wire) -> _Wire:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
        "status": "completed",
        **identity,
    }


def _function_call(call: ToolCall, *, is_own: bool) -> _Wire:
    call_id, _, item_id = call.id.partition("|")
    # The API knows which reasoning led to the item of an id; without an id it does not ask for it.
    known = {"id": item_id} if is_own and item_id.startswith("fc_") else {}
    return {
        "type": "function_call",
        **known,
        "call_id": call_id,
        "name": call.name,
        "arguments": encode(call.arguments).decode(),
    }


def _reasoning_fields(request: Request) -> _Wire:
    """Return how much to think; reasoning comes back encrypted, since nothing is stored there."""
    model, level = request.model, request.thinking_level
    if not model.reasoning:
        return {}
    include = {"include": ["reasoning.encrypted_content"]}
    if level == "off":
        # pi says "none", and has a list of OpenAI's models that refuse it; we have none. Those
        # cannot but think, and the others do not think unless told to.
        word = model.thinking_levels.get("off", None if _is_openai(model) else "none")
        return {"reasoning": {"effort": word}} if word else include
    effort = model.thinking_levels.get(level) or level
    return {"reasoning": {"effort": effort, "summary": "auto"}, **include}


def _tool(tool: Mapping[str, Any], *, knows_strict: bool) -> _Wire:
    wire: _Wire = {"type": "function"}
    wire.update((key, tool[key]) for key in ("name", "description", "parameters"))
    return {**wire, "strict": False} if knows_strict else wire


def _part(block: Shown) -> _Wire:
    if isinstance(block, TextContent):
        return {"type": "input_text", "text": block.text}
    url = f"data:{block.mime_type};base64,{block.data}"
    return {"type": "input_image", "detail": "auto", "image_url": url}


def _call_id(call_id: str) -> str:
    """Return the id of another model's call as any server takes it."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id.partition("|")[0])[:_ID_LENGTH]


def _is_openai(model: Model) -> bool:
    return model.provider == "openai" or "api.openai.com" in model.base_url


def _parsed(signature: str) -> _Wire | None:
    if not signature.startswith("{"):
        return None
    try:
        data = json_text.loads(signature)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
