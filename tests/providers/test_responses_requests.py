"""Requests of the responses API: fields, reasoning, ids, images, and what other models said."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from request_checker import check_anthropic, check_chat, check_responses

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import ImageContent, TextContent, ThinkingContent, ToolCall
from agent_nb.core.errors import ProviderError
from agent_nb.core.json_text import loads
from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from agent_nb.core.model import Model, ThinkingLevel
from agent_nb.core.provider import Provider, Request, SentRequest
from agent_nb.providers.anthropic_messages import AnthropicMessages
from agent_nb.providers.catalog import Catalog
from agent_nb.providers.openai_completions import OpenAICompletions
from agent_nb.providers.openai_responses import OpenAIResponses
from agent_nb.session.provider_pool import ProviderPool, Terms

MODEL = Model(
    "m", "local", "openai-responses", "http://server.test/v1/", inputs=("text", "image"),
    max_tokens=8192,
)  # fmt: skip
THINKER = replace(MODEL, reasoning=True)
OPENAI = replace(THINKER, provider="openai", base_url="https://api.openai.com/v1")
REFUSING = httpx.MockTransport(lambda _request: httpx.Response(400))
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = {"name": "read", "description": "Read.", "parameters": SCHEMA}
PIXEL = ImageContent("iVBORw0KGgo=", "image/png")
IMAGE = {
    "type": "input_image",
    "detail": "auto",
    "image_url": "data:image/png;base64,iVBORw0KGgo=",
}
HI = [UserMessage.of("Hi")]
REASONING = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA="}'
THOUGHT = ThinkingContent("Hmm", REASONING)
ENCRYPTED = ["reasoning.encrypted_content"]


def said(*content: Any, **by: Any) -> AssistantMessage:
    return replace(AssistantMessage(content, MODEL.api, "local", "m"), **by)


def result(call_id: str, *content: Any) -> ToolResultMessage:
    return ToolResultMessage(call_id, "read", content or (TextContent("x"),))


async def request_of(
    model: Model = MODEL,
    messages: Sequence[Message] = HI,
    *,
    provider: Provider | None = None,
    system: str = "Be brief.",
    **more: Any,
) -> SentRequest:
    sent: list[SentRequest] = []
    asked = Request(model, system, messages, on_sent=sent.append, **more)
    with pytest.raises(ProviderError):
        async for _ in (provider or OpenAIResponses(transport=REFUSING)).stream(
            asked, AbortSignal()
        ):
            pass
    return sent[0]


async def body_of(
    model: Model = MODEL, messages: Sequence[Message] = HI, **more: Any
) -> dict[str, Any]:
    return check_responses((await request_of(model, messages, **more)).body)


async def history_of(*messages: Message, model: Model = MODEL) -> list[dict[str, Any]]:
    """Return the input after the system prompt and the first question."""
    body = await body_of(model, [*HI, *messages])
    rest: list[dict[str, Any]] = body["input"][2:]
    return rest


async def test_a_plain_request_is_what_pi_sends() -> None:
    sent = await request_of(tools=[TOOL], session_id="s")
    assert sent.url == "http://server.test/v1/responses"
    assert (sent.headers["session-id"], sent.headers["x-client-request-id"]) == ("s", "s")
    assert check_responses(sent.body) == {
        "model": "m",
        "stream": True,
        "store": False,
        "prompt_cache_key": "s",
        "max_output_tokens": 8192,
        "tools": [{"type": "function", **TOOL}],
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        ],
    }


@pytest.mark.parametrize(
    ("model", "level", "fields"),
    [
        (MODEL, "high", {}),
        (
            THINKER,
            "high",
            {"reasoning": {"effort": "high", "summary": "auto"}, "include": ENCRYPTED},
        ),
        (
            replace(THINKER, thinking_levels={"xhigh": "max"}),
            "xhigh",
            {"reasoning": {"effort": "max", "summary": "auto"}, "include": ENCRYPTED},
        ),
        (THINKER, "off", {"reasoning": {"effort": "none"}}),
        (
            replace(THINKER, thinking_levels={"off": "minimal"}),
            "off",
            {"reasoning": {"effort": "minimal"}},
        ),
        (replace(THINKER, thinking_levels={"off": None}), "off", {"include": ENCRYPTED}),
        (OPENAI, "off", {"include": ENCRYPTED}),
        (
            replace(OPENAI, thinking_levels={"off": "none"}),
            "off",
            {"reasoning": {"effort": "none"}},
        ),
    ],
)
async def test_thinking_is_an_effort(
    model: Model, level: ThinkingLevel, fields: dict[str, Any]
) -> None:
    body = await body_of(model, thinking_level=level)
    assert {key: body[key] for key in ("reasoning", "include") if key in body} == fields


async def test_a_thinker_has_a_developer_unless_its_server_knows_none() -> None:
    assert (await body_of(THINKER))["input"][0]["role"] == "developer"
    model = replace(THINKER, compat={"supportsDeveloperRole": False})
    assert (await body_of(model))["input"][0]["role"] == "system"


async def test_a_server_may_want_fewer_fields() -> None:
    compat = {"supportsMaxOutputTokens": False, "promptCacheKeyMode": "disabled"}
    body = await body_of(replace(MODEL, compat=compat), session_id="s")
    assert not {"max_output_tokens", "prompt_cache_key"} & body.keys()


async def test_tools_are_not_strict_where_that_must_be_said() -> None:
    assert (await body_of(OPENAI, tools=[TOOL]))["tools"][0]["strict"] is False
    model = replace(MODEL, compat={"supportsStrictMode": True})
    assert (await body_of(model, tools=[TOOL]))["tools"][0]["strict"] is False
    assert "strict" not in (await body_of(tools=[TOOL]))["tools"][0]


async def test_the_limit_is_never_below_what_the_api_takes() -> None:
    assert (await body_of(max_tokens=3))["max_output_tokens"] == 16


async def test_a_long_session_id_is_cut_where_the_api_wants_it() -> None:
    sent = await request_of(session_id="s" * 70)
    assert sent.json()["prompt_cache_key"] == "s" * 64


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("openai", {"session-id", "x-client-request-id"}),
        ("openai-nosession", {"x-client-request-id"}),
        ("openrouter", {"x-session-id"}),
    ],
)
async def test_a_session_can_be_kept_on_one_machine(kind: str, names: set[str]) -> None:
    model = replace(MODEL, compat={"sessionAffinityFormat": kind})
    headers = (await request_of(model, session_id="s")).headers
    assert {name for name, value in headers.items() if value == "s"} == names


async def test_openrouter_has_its_own_header() -> None:
    model = replace(MODEL, base_url="https://openrouter.ai/api/v1")
    assert (await request_of(model, session_id="s")).headers["x-session-id"] == "s"


async def test_an_own_answer_goes_back_with_its_ids() -> None:
    answer = said(
        THOUGHT,
        TextContent("a", '{"v":1,"id":"msg_1","phase":"commentary"}'),
        ToolCall("call_1|fc_1", "read", {"path": "é"}),
    )
    assert await history_of(answer, result("call_1|fc_1")) == [
        loads(REASONING),
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a", "annotations": []}],
            "status": "completed",
            "id": "msg_1",
            "phase": "commentary",
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "read",
            "arguments": '{"path":"é"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
    ]


@pytest.mark.parametrize("by", [{"model": "other"}, {"provider": "openai"}, {"api": "x"}])
async def test_an_answer_of_another_model_goes_without_reasoning_and_ids(by: Any) -> None:
    answer = said(THOUGHT, TextContent("a", "msg_1"), ToolCall("call_1|fc_1", "read", {}), **by)
    message, call, output = await history_of(answer, result("call_1|fc_1"))
    assert message["id"] == "msg_nb_1_0"
    assert "id" not in call
    assert call["call_id"] == output["call_id"] == "call_1"


async def test_ids_that_are_no_ids_here_are_made_some() -> None:
    ids = ("toolu:1", "toolu?1", "t" * 80, "call_9|b|c", "call_9|d")
    calls = said(*(ToolCall(call_id, "read", {}) for call_id in ids), api="anthropic-messages")
    items = await history_of(calls, *map(result, ids))
    expected = ["toolu_1", "toolu_2", "t" * 64, "call_9", "call_2"]
    assert [item["call_id"] for item in items] == expected * 2


@pytest.mark.parametrize(
    ("signature", "item_id"),
    [
        ("msg_old", "msg_old"),
        ('{"v":1,"id":"msg_1","phase":"new"}', "msg_1"),
        ('{"v":1}', "msg_nb_1_0"),
        (None, "msg_nb_1_0"),
    ],
)
async def test_a_text_is_known_by_its_signature(signature: str | None, item_id: str) -> None:
    (message,) = await history_of(said(TextContent("a", signature)))
    assert (message["id"], "phase" in message) == (item_id, False)


async def test_a_long_item_id_is_shortened_and_stays_different() -> None:
    long = [TextContent("a", f"msg_{'x' * 80}{end}") for end in "ab"]
    first, second = await history_of(said(*long))
    assert first["id"] != second["id"]


async def test_reasoning_that_led_to_nothing_is_left_out() -> None:
    assert await history_of(said(THOUGHT, stop_reason="length"), UserMessage.of("Go on")) == [
        {"role": "user", "content": [{"type": "input_text", "text": "Go on"}]}
    ]


@pytest.mark.parametrize("signature", [None, "", "sig=", "{", '{"type":"message"}', "[]"])
async def test_thinking_that_is_no_reasoning_item_is_left_out(signature: str | None) -> None:
    items = await history_of(said(ThinkingContent("Hmm", signature), TextContent("a", "msg_1")))
    assert [item["type"] for item in items] == ["message"]


async def test_a_call_without_a_result_gets_one() -> None:
    call, output = await history_of(said(ToolCall("call_1|fc_1", "read", {})))
    assert output["call_id"] == call["call_id"]
    assert "interrupted" in output["output"]


async def test_images_are_inside_messages_and_results() -> None:
    call = said(ToolCall("c1|fc_1", "read", {}), ToolCall("c2|fc_2", "read", {}))
    results = (
        result("c1|fc_1", TextContent("a"), PIXEL, TextContent("b")),
        result("c2|fc_2", PIXEL),
    )
    _, _, first, second, asked = await history_of(call, *results, UserMessage.of("This?", [PIXEL]))
    assert first["output"] == [{"type": "input_text", "text": "a\nb"}, IMAGE]
    assert second["output"] == [IMAGE]
    assert asked["content"] == [{"type": "input_text", "text": "This?"}, IMAGE]


async def test_a_model_without_eyes_is_told_of_images() -> None:
    blind = replace(MODEL, inputs=("text",))
    call, seen = said(ToolCall("c1|fc_1", "read", {})), result("c1|fc_1", PIXEL)
    _, output, asked = await history_of(call, seen, UserMessage.of("This?", [PIXEL]), model=blind)
    assert "takes no images" in output["output"]
    assert [part["type"] for part in asked["content"]] == ["input_text", "input_text"]


async def test_an_empty_result_says_so() -> None:
    call = said(ToolCall("c1|fc_1", "read", {}))
    nothing = ToolResultMessage("c1|fc_1", "read", ())
    assert (await history_of(call, nothing))[1]["output"] == "(no output)"


async def test_surrogate_halves_are_left_out() -> None:
    answer = said(TextContent("a\ud800"), ToolCall("c1|fc_1", "read", {"path": "b\ud800"}))
    message, call, _ = await history_of(answer, result("c1|fc_1", TextContent("c\ud800")))
    assert message["content"][0]["text"] == "a"
    assert loads(call["arguments"]) == {"path": "b"}


async def test_no_system_prompt_is_no_item() -> None:
    assert [item["role"] for item in (await body_of(system=""))["input"]] == ["user"]


async def test_openai_models_are_asked_over_this_api() -> None:
    catalog = Catalog({}, {"OPENAI_API_KEY": "test-key-0000"})
    pool = ProviderPool(catalog, {}, Terms())
    assert isinstance(pool.for_model(catalog.find("openai/gpt-5").model), OpenAIResponses)
    await pool.close()


async def test_the_ids_of_this_api_are_rewritten_for_the_others() -> None:
    answer = said(THOUGHT, TextContent("a", "msg_1"), ToolCall("call_1|fc_1", "read", {}))
    messages = [*HI, answer, result("call_1|fc_1")]
    chat = await request_of(
        replace(MODEL, api="openai-completions"),
        messages,
        provider=OpenAICompletions(transport=REFUSING),
    )
    *_, said_there, result_there = check_chat(chat.body)["messages"]
    assert said_there["tool_calls"][0]["id"] == result_there["tool_call_id"] == "call_1_fc_1"
    claude = await request_of(
        replace(MODEL, api="anthropic-messages"),
        messages,
        provider=AnthropicMessages(transport=REFUSING),
    )
    *_, said_there, result_there = check_anthropic(claude.body)["messages"]
    assert said_there["content"][1]["id"] == "call_1_fc_1"
    assert result_there["content"][0]["tool_use_id"] == "call_1_fc_1"
