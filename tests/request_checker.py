"""A strict reader of outgoing requests: what lenient servers let pass, these functions do not.

`check_chat`, `check_anthropic` and `check_responses` take a request's body and raise
`AssertionError` on the first thing that some server in use refuses.
"""

import base64
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def check_chat(body: bytes) -> dict[str, Any]:
    """Check a chat-completions request and return it as data."""
    request = _parsed(body)
    _check_common(request)
    limits = [key for key in ("max_tokens", "max_completion_tokens") if key in request]
    assert len(limits) == 1, limits
    assert request[limits[0]] > 0
    for tool in request.get("tools", ()):
        assert tool["type"] == "function"
    _check_tools([tool["function"] for tool in request.get("tools", ())], "parameters")
    messages: Sequence[Mapping[str, Any]] = request["messages"]
    for index, message in enumerate(messages):
        match message["role"]:
            case "system" | "developer":
                assert index == 0, "a system message must be first"
                assert _has_text(message["content"])
            case "user":
                _check_chat_parts(message["content"])
            case "assistant":
                _check_chat_answer(message, messages[index + 1 :])
            case "tool":
                assert isinstance(message["content"], str), "a tool message is only text"
                assert message["content"]
                assert index > 0
                assert messages[index - 1]["role"] in {"assistant", "tool"}, "orphan result"
            case role:
                raise AssertionError(f"unknown role {role!r}")
    assert messages[-1]["role"] in {"user", "tool"}, "nothing is asked"
    answered = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    called = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    assert sorted(answered) == sorted(called), "calls and results do not match"
    return request


def check_anthropic(body: bytes) -> dict[str, Any]:
    """Check an Anthropic Messages request and return it as data."""
    request = _parsed(body)
    _check_common(request)
    assert request["max_tokens"] > 0
    thinking = request.get("thinking", {})
    if thinking.get("type") == "enabled":
        assert 1024 <= thinking["budget_tokens"] < request["max_tokens"]
    _check_tools(request.get("tools", ()), "input_schema")
    for block in request.get("system", ()):
        assert _has_text([block])
    messages: Sequence[Mapping[str, Any]] = request["messages"]
    assert messages[0]["role"] == "user", "the first message is the user's"
    assert messages[-1]["role"] == "user", "nothing is asked"
    calls: set[str] = set()
    for message in messages:
        assert message["role"] in {"user", "assistant"}
        blocks = message["content"]
        assert isinstance(blocks, list)
        assert blocks
        if message["role"] == "user":
            _check_results(blocks, calls)
            calls = set()
        else:
            assert not calls, f"calls without a result: {calls}"
            calls = _check_anthropic_answer(blocks)
    assert len(list(_marks(request))) <= 4, "more than four cache marks"
    return request


def check_responses(body: bytes) -> dict[str, Any]:
    """Check a request of the responses API and return it as data."""
    request = _parsed(body)
    _check_common(request, "input")
    assert request["store"] is False
    assert request.get("max_output_tokens", 16) >= 16
    assert all(tool["type"] == "function" for tool in request.get("tools", ()))
    _check_tools(request.get("tools", ()), "parameters")
    items: Sequence[Mapping[str, Any]] = request["input"]
    ids = [item["id"] for item in items if item.get("role") == "assistant"]
    assert len(set(ids)) == len(ids), "two answers of one id"
    for item, following in itertools.zip_longest(items, items[1:]):
        _check_item(item)
        if item.get("type") == "reasoning":
            assert following, "reasoning that led to nothing"
            assert following["type"] in {"reasoning", "message", "function_call"}
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    called = [item["call_id"] for item in items if item.get("type") == "function_call"]
    assert sorted(answered) == sorted(called), "calls and results do not match"
    return request


def _check_item(item: Mapping[str, Any]) -> None:
    match item.get("type", "message"):
        case "message" if item["role"] == "assistant":
            assert re.fullmatch(r"msg_\w{1,60}", item["id"])
            assert item.get("phase", "commentary") in {"commentary", "final_answer"}
            assert all(part["type"] == "output_text" for part in item["content"])
            assert _has_text(item["content"])
        case "message" if item["role"] == "user":
            _check_input_parts(item["content"])
        case "message":
            assert item["role"] in {"system", "developer"}
            assert _has_text(item["content"])
        case "function_call":
            assert _CALL_ID.fullmatch(item["call_id"]), item["call_id"]
            assert item.get("id", "fc_").startswith("fc_")
            assert isinstance(json.loads(item["arguments"]), dict)
        case "function_call_output":
            assert item["output"], "an empty result"
            if not isinstance(item["output"], str):
                _check_input_parts(item["output"])
        case kind:
            assert kind == "reasoning"
            assert item["id"]


def _check_input_parts(parts: Sequence[Mapping[str, Any]]) -> None:
    assert parts, "no parts"
    for part in parts:
        if part["type"] == "input_text":
            assert part["text"], "empty text"
        else:
            assert part["type"] == "input_image"
            assert re.match(r"data:image/[a-z+.-]+;base64,.", part["image_url"])


def _parsed(body: bytes) -> dict[str, Any]:
    text = body.decode("utf-8")  # strict
    request = json.loads(text)
    assert not any(_SURROGATE.search(string) for string in _strings(request)), "lone surrogate"
    assert isinstance(request, dict)
    return request


def _check_common(request: Mapping[str, Any], history: str = "messages") -> None:
    assert isinstance(request["model"], str)
    assert request["model"]
    assert request["stream"] is True
    assert request[history], f"no {history}"


def _check_tools(tools: Sequence[Mapping[str, Any]], schema: str) -> None:
    names = [tool["name"] for tool in tools]
    assert len(names) == len(set(names)), "two tools of one name"
    for tool in tools:
        assert _CALL_ID.fullmatch(tool["name"])
        assert tool["description"]
        assert tool[schema]["type"] == "object"


def _check_chat_parts(content: Any) -> None:
    if isinstance(content, str):
        assert content, "empty content"
        return
    assert content, "no parts"
    for part in content:
        if part["type"] == "text":
            assert part["text"], "empty text"
        else:
            assert part["type"] == "image_url"
            head, data = part["image_url"]["url"].split(",", 1)
            assert re.fullmatch(r"data:image/[a-z+.-]+;base64", head)
            assert base64.b64decode(data, validate=True)


def _check_chat_answer(message: Mapping[str, Any], following: Sequence[Mapping[str, Any]]) -> None:
    calls = message.get("tool_calls")
    if calls is None:
        assert message["content"], "an answer without content"
        return
    assert calls, "an empty list of calls"
    for call in calls:
        assert call["id"]
        assert call["type"] == "function"
        assert call["function"]["name"]
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
    ids = [call["id"] for call in calls]
    assert len(set(ids)) == len(ids), "two calls of one id"
    results = following[: len(calls)]
    assert all(result["role"] == "tool" for result in results), "a call without a result"
    assert sorted(result["tool_call_id"] for result in results) == sorted(ids)


def _check_results(blocks: Sequence[Mapping[str, Any]], calls: set[str]) -> None:
    results = [block for block in blocks if block["type"] == "tool_result"]
    assert blocks[: len(results)] == results, "results come first"
    assert sorted(result["tool_use_id"] for result in results) == sorted(calls)
    for block in blocks:
        if block["type"] == "tool_result":
            _check_result(block)
        else:
            _check_shown(block)


def _check_result(block: Mapping[str, Any]) -> None:
    content = block["content"]
    assert content, "an empty result"
    assert isinstance(block["is_error"], bool)
    if not isinstance(content, str):
        for part in content:
            _check_shown(part)
        assert not block["is_error"], "the result of an error is only text"


def _check_shown(block: Mapping[str, Any]) -> None:
    if block["type"] == "text":
        assert block["text"].strip(), "blank text"
    else:
        assert block["type"] == "image"
        assert block["source"]["type"] == "base64"
        assert block["source"]["media_type"].startswith("image/")
        assert base64.b64decode(block["source"]["data"], validate=True)


def _check_anthropic_answer(blocks: Sequence[Mapping[str, Any]]) -> set[str]:
    ids: list[str] = []
    for block in blocks:
        match block["type"]:
            case "text":
                assert block["text"].strip(), "blank text"
            case "thinking":
                assert block["signature"], "thinking without a signature"
            case "redacted_thinking":
                assert block["data"]
            case "tool_use":
                assert _CALL_ID.fullmatch(block["id"]), block["id"]
                assert isinstance(block["input"], dict)
                ids.append(block["id"])
            case kind:
                raise AssertionError(f"unknown block {kind!r}")
    assert len(set(ids)) == len(ids), "two calls of one id"
    return set(ids)


def _has_text(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content.strip())
    return bool(content) and all(part["text"].strip() for part in content)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _marks(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "cache_control" in value:
            yield value["cache_control"]
        for item in value.values():
            yield from _marks(item)
    elif isinstance(value, list):
        for item in value:
            yield from _marks(item)
