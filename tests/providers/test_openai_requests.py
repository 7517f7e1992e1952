"""Requests of the chat-completions API: fields, quirks of servers, messages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from request_checker import check_chat

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import ImageContent, TextContent, ThinkingContent, ToolCall
from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from agent_nb.core.model import Model, ThinkingLevel
from agent_nb.core.provider import Request, SentRequest
from agent_nb.providers.openai_completions import OpenAICompletions

MODEL = Model(
    "m", "local", "openai-completions", "http://server.test/v1/", inputs=("text", "image"),
    max_tokens=8192,
)  # fmt: skip
REFUSING = httpx.MockTransport(lambda _request: httpx.Response(400))
TOOL = {"name": "read", "description": "Read.", "parameters": {"type": "object"}}
PIXEL = ImageContent("iVBORw0KGgo=", "image/png")
HI = [UserMessage.of("Hi")]
LOOKED = [
    UserMessage.of("Look"),
    AssistantMessage((ToolCall("c1", "read", {}),), MODEL.api, "local", "m"),
    ToolResultMessage("c1", "read", (TextContent("png"), PIXEL)),
]


async def request_of(
    model: Model = MODEL, messages: Sequence[Message] = HI, **more: Any
) -> SentRequest:
    sent: list[SentRequest] = []
    asked = Request(model, "Be brief.", messages, on_sent=sent.append, **more)
    with pytest.raises(ProviderError):
        async for _ in OpenAICompletions(transport=REFUSING).stream(asked, AbortSignal()):
            pass
    return sent[0]


async def body_of(
    model: Model = MODEL, messages: Sequence[Message] = HI, **more: Any
) -> dict[str, Any]:
    return check_chat((await request_of(model, messages, **more)).body)


def with_compat(**compat: Any) -> Model:
    return replace(MODEL, compat=compat)


async def test_a_plain_request_is_what_pi_sends() -> None:
    sent = await request_of(tools=[TOOL])
    assert sent.url == "http://server.test/v1/chat/completions"
    assert sent.json() == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "store": False,
        "max_completion_tokens": 8192,
        "tools": [{"type": "function", "function": TOOL}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
    }


async def test_a_limit_of_the_request_wins() -> None:
    assert (await body_of(max_tokens=100))["max_completion_tokens"] == 100


async def test_quirks_of_the_server_are_honoured() -> None:
    model = with_compat(
        maxTokensField="max_tokens",
        supportsStore=False,
        supportsUsageInStreaming=False,
        requiresToolResultName=True,
        requiresAssistantAfterToolResult=True,
        supportsStrictMode=True,
        zaiToolStream=True,
        vllmPriority=3,
        openRouterRouting={"only": ["x"]},
        vercelGatewayRouting={"order": ["y"]},
    )
    body = await body_of(model, [*LOOKED, *HI], tools=[TOOL])
    assert body["max_tokens"] == 8192
    assert not {"store", "stream_options", "max_completion_tokens"} & body.keys()
    assert body["tools"][0]["function"]["strict"] is False
    assert (body["tool_stream"], body["priority"]) == (True, 3)
    assert body["provider"] == {"only": ["x"]}
    assert body["providerOptions"] == {"gateway": {"order": ["y"]}}
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "user"]
    assert body["messages"][3]["name"] == "read"


async def test_a_user_after_results_gets_an_answer_in_between_where_wanted() -> None:
    model = with_compat(requiresAssistantAfterToolResult=True)
    results = [LOOKED[0], LOOKED[1], ToolResultMessage("c1", "read", (TextContent("x"),))]
    body = await body_of(model, [*results, *HI])
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_known_hosts_have_known_quirks() -> None:
    deepseek = replace(MODEL, base_url="https://api.deepseek.com", reasoning=True)
    said = AssistantMessage((TextContent("a"),), MODEL.api, "local", "m")
    sent = await request_of(deepseek, [*HI, said, *HI])
    body = check_chat(sent.body)
    assert body["max_tokens"] == 8192
    assert body["thinking"] == {"type": "disabled"}
    assert body["messages"][2]["reasoning_content"] == ""


async def test_empty_tools_are_declared_where_history_has_calls_and_the_server_wants_it() -> None:
    model = with_compat(requiresToolsWithToolHistory=True)
    assert (await body_of(model, LOOKED))["tools"] == []
    assert "tools" not in await body_of(model)
    assert "tools" not in await body_of(MODEL, LOOKED)


@pytest.mark.parametrize(
    ("compat", "level", "fields"),
    [
        ({}, "off", {}),
        ({}, "high", {"reasoning_effort": "high"}),
        ({"supportsReasoningEffort": False}, "high", {}),
        (
            {"thinkingFormat": "zai"},
            "low",
            {
                "thinking": {"type": "enabled", "clear_thinking": False},
                "reasoning_effort": "low",
            },
        ),
        ({"thinkingFormat": "qwen"}, "off", {"enable_thinking": False}),
        (
            {"thinkingFormat": "qwen-chat-template"},
            "low",
            {"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
        ),
        (
            {
                "thinkingFormat": "chat-template",
                "chatTemplateKwargs": {
                    "on": {"$var": "thinking.enabled"},
                    "effort": {"$var": "thinking.effort", "omitWhenOff": True},
                    "budget": {"$var": "thinking.budget"},
                    "plain": 1,
                },
            },
            "off",
            {"chat_template_kwargs": {"on": False, "plain": 1}},
        ),
        (
            {"thinkingFormat": "baseten", "chatTemplateArgs": {"b": {"$var": "thinking.budget"}}},
            "medium",
            {"chat_template_args": {"b": 7168}, "reasoning_effort": "medium"},
        ),
        ({"thinkingFormat": "deepseek"}, "off", {"thinking": {"type": "disabled"}}),
        ({"thinkingFormat": "openrouter"}, "off", {"reasoning": {"effort": "none"}}),
        ({"thinkingFormat": "openrouter"}, "high", {"reasoning": {"effort": "high"}}),
        ({"thinkingFormat": "ant-ling"}, "high", {}),
        (
            {"thinkingFormat": "together"},
            "low",
            {"reasoning": {"enabled": True}, "reasoning_effort": "low"},
        ),
        ({"thinkingFormat": "string-thinking"}, "off", {"thinking": "none"}),
        (
            {"thinkingTokenBudgetField": "thinking_budget"},
            "high",
            {"reasoning_effort": "high", "thinking_budget": 7168},
        ),
    ],
)
async def test_thinking_is_asked_for_in_the_servers_way(
    compat: Mapping[str, Any], level: ThinkingLevel, fields: Mapping[str, Any]
) -> None:
    plain = await body_of()
    model = replace(MODEL, reasoning=True, compat=compat)
    body = await body_of(model, thinking_level=level)
    assert {key: value for key, value in body.items() if key not in plain} == fields


async def test_levels_go_out_in_the_servers_words() -> None:
    model = replace(MODEL, reasoning=True, thinking_levels={"high": "max", "off": "none"})
    assert (await body_of(model, thinking_level="high"))["reasoning_effort"] == "max"
    assert (await body_of(model))["reasoning_effort"] == "none"
    never_off = replace(
        model, thinking_levels={"off": None}, compat={"thinkingFormat": "openrouter"}
    )
    assert "reasoning" not in await body_of(never_off)


async def test_a_model_that_does_not_think_is_not_asked_to() -> None:
    assert "reasoning_effort" not in await body_of(thinking_level="high")


async def test_images_of_results_follow_in_a_user_message() -> None:
    messages = (await body_of(messages=LOOKED))["messages"]
    assert messages[3] == {"role": "tool", "content": "png", "tool_call_id": "c1"}
    assert messages[4]["role"] == "user"
    assert messages[4]["content"][1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="},
    }


async def test_a_result_without_text_says_so() -> None:
    image = ToolResultMessage("c1", "read", (PIXEL,))
    nothing = ToolResultMessage("c1", "read", (TextContent(" "),))
    for result, words in ((image, "(see the attached image)"), (nothing, "(no output)")):
        messages = (await body_of(messages=[*LOOKED[:2], result]))["messages"]
        assert messages[3]["content"] == words


async def test_a_call_alone_is_sent_with_empty_content() -> None:
    assert (await body_of(messages=LOOKED))["messages"][2]["content"] == ""
    nulled = with_compat(requiresNonNullAssistantContent=False)
    assert (await body_of(nulled, LOOKED))["messages"][2]["content"] is None


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
async def test_thinking_goes_back_in_the_field_it_came_in(field: str) -> None:
    thoughts = (ThinkingContent("Hmm", field), ThinkingContent("yes", field))
    said = AssistantMessage((*thoughts, TextContent("a")), MODEL.api, "local", "m")
    message = (await body_of(messages=[*HI, said, *HI]))["messages"][2]
    assert message == {"role": "assistant", "content": "a", field: "Hmm\nyes"}


async def test_thinking_from_tags_stays_here_unless_wanted_as_text() -> None:
    said = AssistantMessage((ThinkingContent("Hmm"), TextContent("a")), MODEL.api, "local", "m")
    message = (await body_of(messages=[*HI, said, *HI]))["messages"][2]
    assert message == {"role": "assistant", "content": "a"}
    as_text = with_compat(requiresThinkingAsText=True)
    message = (await body_of(as_text, [*HI, said, *HI]))["messages"][2]
    assert message == {"role": "assistant", "content": "Hmm\n\na"}


async def test_structured_reasoning_goes_back_as_it_came() -> None:
    details = '[{"type":"reasoning.encrypted","data":"x"}]'
    call = ToolCall("c1", "read", {})
    said = AssistantMessage((ThinkingContent("", details), call), MODEL.api, "local", "m")
    message = (await body_of(messages=[*HI, said, LOOKED[2]]))["messages"][2]
    assert message["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "x"}]


async def test_an_answer_of_thoughts_alone_is_left_out() -> None:
    said = AssistantMessage((ThinkingContent("Hmm", "reasoning"),), MODEL.api, "local", "m")
    roles = [m["role"] for m in (await body_of(messages=[*HI, said, *HI]))["messages"]]
    assert roles == ["system", "user", "user"]


async def test_gateways_to_claude_get_cache_marks() -> None:
    model = replace(MODEL, provider="openrouter", id="anthropic/claude")
    sent = await request_of(model, [*LOOKED[:2], *HI], tools=[TOOL], session_id="s" * 70)
    body = check_chat(sent.body)
    mark = {"type": "ephemeral"}
    assert body["messages"][0]["content"][0]["cache_control"] == mark
    assert body["tools"][0]["cache_control"] == mark
    assert body["messages"][-1]["content"] == [
        {"type": "text", "text": "Hi", "cache_control": mark}
    ]
    assert sent.headers["x-session-id"] == "s" * 70


async def test_openai_itself_gets_a_developer_message_and_a_cache_key() -> None:
    model = replace(MODEL, base_url="http://server.test/api.openai.com/v1", reasoning=True)
    body = await body_of(model, session_id="s" * 70)
    assert body["messages"][0]["role"] == "developer"
    assert body["prompt_cache_key"] == "s" * 64


async def test_a_session_can_be_kept_on_one_machine() -> None:
    sent = await request_of(with_compat(sendSessionAffinityHeaders=True), session_id="s")
    names = ("session_id", "x-client-request-id", "x-session-affinity")
    assert {sent.headers[name] for name in names} == {"s"}


async def test_long_ids_of_openai_are_cut() -> None:
    model = replace(MODEL, provider="openai")
    said = AssistantMessage((ToolCall("c" * 50, "read", {}),), "anthropic-messages", "x", "y")
    result = ToolResultMessage("c" * 50, "read", (TextContent("x"),))
    body = await body_of(model, [*HI, said, result])
    assert body["messages"][3]["tool_call_id"] == "c" * 40


async def test_no_system_prompt_is_no_message() -> None:
    sent: list[SentRequest] = []
    with pytest.raises(ProviderError):
        async for _ in OpenAICompletions(transport=REFUSING).stream(
            Request(MODEL, "", HI, on_sent=sent.append), AbortSignal()
        ):
            pass
    assert [m["role"] for m in sent[0].json()["messages"]] == ["user"]
