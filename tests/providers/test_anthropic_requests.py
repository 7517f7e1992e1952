"""Requests of the Anthropic Messages API: fields, thinking, cache marks, messages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from request_checker import check_anthropic

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import ImageContent, TextContent, ThinkingContent, ToolCall
from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from agent_nb.core.model import Model, ThinkingLevel
from agent_nb.core.provider import Request, SentRequest
from agent_nb.providers.anthropic_messages import AnthropicMessages

MODEL = Model(
    "m", "claude", "anthropic-messages", "http://server.test", inputs=("text", "image"),
    max_tokens=8192,
)  # fmt: skip
REFUSING = httpx.MockTransport(lambda _request: httpx.Response(400))
THINKER = replace(MODEL, reasoning=True)
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = {"name": "read", "description": "Read.", "parameters": SCHEMA}
PIXEL = ImageContent("iVBORw0KGgo=", "image/png")
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
MARK = {"type": "ephemeral"}
HI = [UserMessage.of("Hi")]


def said(*content: Any) -> AssistantMessage:
    return AssistantMessage(content, MODEL.api, "claude", "m")


async def request_of(
    model: Model = MODEL, messages: Sequence[Message] = HI, **more: Any
) -> SentRequest:
    sent: list[SentRequest] = []
    asked = Request(model, "Be brief.", messages, on_sent=sent.append, **more)
    with pytest.raises(ProviderError):
        async for _ in AnthropicMessages(transport=REFUSING).stream(asked, AbortSignal()):
            pass
    return sent[0]


async def body_of(
    model: Model = MODEL, messages: Sequence[Message] = HI, **more: Any
) -> dict[str, Any]:
    return check_anthropic((await request_of(model, messages, **more)).body)


async def test_a_plain_request_is_what_pi_sends() -> None:
    sent = await request_of(tools=[TOOL])
    assert sent.url == "http://server.test/v1/messages"
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert "anthropic-beta" not in sent.headers
    assert check_anthropic(sent.body) == {
        "model": "m",
        "stream": True,
        "max_tokens": 8192,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": MARK}],
        "tools": [
            {
                "name": "read",
                "description": "Read.",
                "eager_input_streaming": True,
                "input_schema": SCHEMA,
                "cache_control": MARK,
            }
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": MARK}]}
        ],
    }


async def test_a_base_url_may_end_in_v1() -> None:
    sent = await request_of(replace(MODEL, base_url="http://server.test/anthropic/v1/"))
    assert sent.url == "http://server.test/anthropic/v1/messages"


@pytest.mark.parametrize(
    ("level", "max_tokens", "limit", "thinking"),
    [
        ("high", 8192, 8192, {"type": "enabled", "budget_tokens": 7168, "display": "summarized"}),
        ("low", 64_000, 64_000, {"type": "enabled", "budget_tokens": 2048}),
        ("off", 8192, 8192, {"type": "disabled"}),
        ("high", 2000, 2000, None),
    ],
)
async def test_thinking_leaves_room_for_the_answer(
    level: ThinkingLevel, max_tokens: int, limit: int, thinking: dict[str, Any] | None
) -> None:
    body = await body_of(replace(THINKER, max_tokens=max_tokens), thinking_level=level)
    assert body["max_tokens"] == limit
    assert (thinking or {}).items() <= (body.get("thinking") or {}).items()
    assert ("thinking" in body) == (thinking is not None)


async def test_thinking_comes_on_top_of_the_answer_that_is_wanted() -> None:
    body = await body_of(
        replace(THINKER, max_tokens=64_000), thinking_level="medium", max_tokens=1000
    )
    assert (body["max_tokens"], body["thinking"]["budget_tokens"]) == (9192, 8168)


async def test_thinking_of_newer_models_is_an_effort() -> None:
    model = replace(THINKER, compat={"forceAdaptiveThinking": True})
    sent = await request_of(model, thinking_level="medium")
    body = check_anthropic(sent.body)
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "medium"}
    assert "anthropic-beta" not in sent.headers
    worded = replace(model, thinking_levels={"high": "max"})
    assert (await body_of(worded, thinking_level="high"))["output_config"] == {"effort": "max"}


async def test_a_model_that_cannot_stop_thinking_is_not_told_to() -> None:
    assert "thinking" not in await body_of(replace(THINKER, thinking_levels={"off": None}))


async def test_optional_features_are_named_in_a_header() -> None:
    sent = await request_of(THINKER, thinking_level="low")
    assert sent.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
    old = replace(MODEL, compat={"supportsEagerToolInputStreaming": False})
    sent = await request_of(old, tools=[TOOL])
    assert sent.headers["anthropic-beta"] == "fine-grained-tool-streaming-2025-05-14"
    assert "eager_input_streaming" not in sent.json()["tools"][0]


async def test_marks_on_tools_can_be_left_out() -> None:
    model = replace(MODEL, compat={"supportsCacheControlOnTools": False})
    assert "cache_control" not in (await body_of(model, tools=[TOOL]))["tools"][0]


async def test_a_session_can_be_kept_on_one_machine() -> None:
    model = replace(MODEL, compat={"sendSessionAffinityHeaders": True})
    assert (await request_of(model, session_id="s")).headers["x-session-affinity"] == "s"
    routed = replace(model, compat={**model.compat, "sessionAffinityFormat": "openrouter"})
    assert (await request_of(routed, session_id="s")).headers["x-session-id"] == "s"


async def test_only_the_last_block_of_a_request_is_marked() -> None:
    results = [ToolResultMessage(call_id, "read", (TextContent("x"),)) for call_id in ("c1", "c2")]
    calls = said(ToolCall("c1", "read", {}), ToolCall("c2", "read", {}))
    messages = (await body_of(messages=[*HI, calls, *results]))["messages"]
    assert messages[0]["content"] == [{"type": "text", "text": "Hi"}]
    first, second = messages[2]["content"]
    assert "cache_control" not in first
    assert second == {
        "type": "tool_result",
        "tool_use_id": "c2",
        "content": "x",
        "is_error": False,
        "cache_control": MARK,
    }


async def test_signed_and_redacted_thinking_goes_back_as_it_came() -> None:
    answer = said(
        ThinkingContent("Hmm", "sig="),
        ThinkingContent("", "secret", redacted=True),
        ThinkingContent("", "sig2="),
        TextContent("a"),
    )
    messages = (await body_of(THINKER, [*HI, answer, *HI]))["messages"]
    assert messages[1]["content"] == [
        {"type": "thinking", "thinking": "Hmm", "signature": "sig="},
        {"type": "redacted_thinking", "data": "secret"},
        {"type": "thinking", "thinking": "", "signature": "sig2="},
        {"type": "text", "text": "a"},
    ]


async def test_unsigned_thinking_goes_back_as_text_unless_the_server_takes_it() -> None:
    answer = said(ThinkingContent("Hmm", ""), TextContent("a"))
    messages = (await body_of(THINKER, [*HI, answer, *HI]))["messages"]
    assert messages[1]["content"][0] == {"type": "text", "text": "Hmm"}
    lenient = replace(THINKER, compat={"allowEmptySignature": True})
    sent = (await request_of(lenient, [*HI, answer, *HI])).json()
    first = sent["messages"][1]["content"][0]
    assert first == {"type": "thinking", "thinking": "Hmm", "signature": ""}


async def test_images_of_results_are_inside_the_result() -> None:
    call, pixel = said(ToolCall("c1", "read", {})), ToolResultMessage("c1", "read", (PIXEL,))
    messages = (await body_of(messages=[*HI, call, pixel, *HI]))["messages"]
    words = {"type": "text", "text": "(see the image)"}
    assert messages[2]["content"][0]["content"] == [words, IMAGE]


async def test_images_of_failed_calls_follow_after_all_results() -> None:
    calls = said(ToolCall("c1", "read", {}), ToolCall("c2", "read", {}))
    failed = ToolResultMessage("c1", "read", (TextContent("no"), PIXEL), is_error=True)
    fine = ToolResultMessage("c2", "read", (TextContent("yes"),))
    blocks = (await body_of(messages=[*HI, calls, failed, fine, *HI]))["messages"][2]["content"]
    assert [block["type"] for block in blocks] == ["tool_result", "tool_result", "text", "image"]
    assert blocks[0]["content"].startswith("no\n")


async def test_an_empty_result_says_so() -> None:
    call, nothing = said(ToolCall("c1", "read", {})), ToolResultMessage("c1", "read", ())
    messages = (await body_of(messages=[*HI, call, nothing, *HI]))["messages"]
    assert messages[2]["content"][0]["content"] == "(no output)"


async def test_a_schema_keeps_what_its_references_need() -> None:
    schema = {**SCHEMA, "$defs": {"a": {}}, "additionalProperties": False, "oneOf": []}
    body = await body_of(tools=[{**TOOL, "parameters": schema}])
    kept = {**SCHEMA, "$defs": {"a": {}}, "additionalProperties": False}
    assert body["tools"][0]["input_schema"] == kept
