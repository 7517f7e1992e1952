"""The history as sent: encoded once, shared between requests, and always a valid request."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from request_checker import check_anthropic, check_chat, check_responses

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import ContentBlock, ImageContent, TextContent, ThinkingContent, ToolCall
from agent_nb.core.errors import ProviderError
from agent_nb.core.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    UnknownMessage,
    UserMessage,
)
from agent_nb.core.model import Model
from agent_nb.core.provider import Request, SentRequest
from agent_nb.providers.anthropic_messages import AnthropicMessages
from agent_nb.providers.fragments import History
from agent_nb.providers.openai_completions import OpenAICompletions
from agent_nb.providers.openai_responses import OpenAIResponses
from agent_nb.providers.replay import Unit

CHAT = Model("m", "local", "openai-completions", "http://server.test/v1", inputs=("text", "image"))
CLAUDE = replace(CHAT, api="anthropic-messages")
RESPONSES = replace(CHAT, api="openai-responses")
OTHER = Model("other", "elsewhere", "openai-responses")
REFUSING = httpx.MockTransport(lambda _request: httpx.Response(400))
PIXEL = ImageContent("iVBORw0KGgo=", "image/png")
TOOL = {"name": "read", "description": "Read a file.", "parameters": {"type": "object"}}
Provider = OpenAICompletions | AnthropicMessages | OpenAIResponses


def answer(*content: ContentBlock, by: Model = CHAT, **more: Any) -> AssistantMessage:
    return AssistantMessage(content, by.api, by.provider, by.id, timestamp=0, **more)


def call(call_id: str, name: str = "read") -> ToolCall:
    return ToolCall(call_id, name, {"path": "a"})


def result(call_id: str, *content: ContentBlock, is_error: bool = False) -> ToolResultMessage:
    blocks = content or (TextContent("done"),)
    return ToolResultMessage(call_id, "read", blocks, is_error=is_error, timestamp=0)


async def sent_by(
    provider: Provider, model: Model, messages: Sequence[Message], **more: Any
) -> SentRequest:
    """Return what a provider sends; it is refused."""
    sent: list[SentRequest] = []
    asked = Request(model, "Be brief.", messages, [TOOL], on_sent=sent.append, **more)
    with pytest.raises(ProviderError):
        async for _ in provider.stream(asked, AbortSignal()):
            pass
    return sent[0]


# --- sharing


def encode_unit(unit: Unit, _before: bytes) -> list[bytes]:
    head = unit.head
    text = head.text if head else ""
    return [text.encode(), *(item.text.encode() for item in unit.results)]


class Counting:
    def __init__(self) -> None:
        self.units: list[str] = []

    def __call__(self, unit: Unit, _before: bytes) -> list[bytes]:
        assert unit.head
        self.units.append(unit.head.text)
        return encode_unit(unit, _before)


def test_the_next_request_encodes_only_what_is_new() -> None:
    history, encode = History(), Counting()
    messages: list[Message] = [UserMessage.of("one")]
    first = history.messages(CHAT, messages, encode)
    messages += [answer(TextContent("two"), call("c1")), result("c1")]
    second = history.messages(CHAT, messages, encode)
    messages += [answer(TextContent("three")), UserMessage.of("four")]
    third = history.messages(CHAT, messages, encode)
    assert encode.units == ["one", "two", "three", "four"]
    assert first.fragments is second.fragments is third.fragments
    assert [first.length, second.length, third.length] == [1, 3, 5]


def test_an_unanswered_call_is_encoded_again_when_its_result_is_there() -> None:
    history, encode = History(), Counting()
    messages: list[Message] = [UserMessage.of("one"), answer(TextContent("two"), call("c1"))]
    first = history.messages(CHAT, messages, encode)
    assert (first.length, first.rest[:5]) == (1, b",two,")
    second = history.messages(CHAT, [*messages, result("c1")], encode)
    assert encode.units == ["one", "two", "two"]
    assert second.fragments[: second.length] == [b"one", b"two", b"done"]
    assert second.fragments is first.fragments


def test_another_past_leaves_earlier_requests_as_they_were() -> None:
    history, encode = History(), Counting()
    one, two, three = (UserMessage.of(text) for text in ("one", "two", "three"))
    first = history.messages(CHAT, [one, two], encode)
    second = history.messages(CHAT, [one, three], encode)
    assert encode.units == ["one", "two", "three"]
    assert first.fragments[: first.length] == [b"one", b"two"]
    assert second.fragments[: second.length] == [b"one", b"three"]
    third = history.messages(CHAT, [one], encode)
    assert third.fragments[: third.length] == [b"one"]


def test_another_model_starts_afresh() -> None:
    history, encode = History(), Counting()
    messages = [UserMessage.of("one")]
    history.messages(CHAT, messages, encode)
    history.messages(OTHER, messages, encode)
    assert encode.units == ["one", "one"]


def test_a_mark_changes_the_last_fragment_of_its_request_only() -> None:
    history = History()
    messages: list[Message] = [UserMessage.of("one")]

    def mark(fragment: bytes) -> bytes:
        return fragment + b"!"

    first = history.messages(CHAT, messages, encode_unit, mark)
    assert (first.length, first.rest) == (0, b"one!")
    second = history.messages(CHAT, [*messages, UserMessage.of("two")], encode_unit, mark)
    assert second.fragments[: second.length] == [b"one"]
    assert second.rest == b",two!"
    assert first.fragments is second.fragments


# --- random histories

words = st.sampled_from(["", " ", "a", "é你\u2028", "x\ud83d", "\ude00y", "two\nlines"])
shown: st.SearchStrategy[ContentBlock] = st.one_of(words.map(TextContent), st.just(PIXEL))
ids = st.sampled_from(["c1", "c2", "call_1|fc_" + "x" * 50, "call_1|fc_" + "y" * 70, "ä b"])
thinking = st.builds(
    ThinkingContent,
    words,
    st.sampled_from([None, "", "sig=", "reasoning_content", '{"type":"reasoning","id":"rs_1"}']),
    st.none(),
)
models = st.sampled_from([CHAT, CLAUDE, RESPONSES, OTHER])


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """Draw a user's message, an answer, and results for some of its calls."""
    contents = draw(st.one_of(words, st.lists(shown, max_size=3).map(tuple)))
    by = draw(models)
    wanted = draw(st.lists(ids, unique=True, max_size=3))
    if by is not OTHER:
        wanted = [wanted_id for wanted_id in wanted if wanted_id in {"c1", "c2"}]
    blocks: list[ContentBlock] = draw(st.lists(st.one_of(thinking, words.map(TextContent))))
    reason = draw(st.sampled_from(["stop", "toolUse", "length", "error", "aborted"]))
    said = answer(*blocks, *map(call, wanted), by=by, stop_reason=reason)
    answered = draw(st.lists(st.sampled_from([*wanted, "stray"]), max_size=4))
    results = [
        result(name, *draw(st.lists(shown, max_size=3)), is_error=draw(st.booleans()))
        for name in answered
    ]
    others = draw(
        st.lists(
            st.sampled_from([SystemMessage("s"), UnknownMessage("x"), BashExecutionMessage("ls")])
        )
    )
    return [UserMessage(contents), *others, said, *results, *others]


QUESTION = UserMessage.of("And now?")
Check = Callable[[bytes], dict[str, Any]]


@pytest.mark.parametrize(
    ("kind", "model", "check"),
    [
        (OpenAICompletions, CHAT, check_chat),
        (AnthropicMessages, CLAUDE, check_anthropic),
        (OpenAIResponses, RESPONSES, check_responses),
    ],
    ids=["chat", "anthropic", "responses"],
)
@given(data=st.data())
@settings(max_examples=100, deadline=None, derandomize=True)
async def test_any_history_is_a_valid_request_however_it_grew(
    kind: type[Provider], model: Model, check: Check, data: st.DataObject
) -> None:
    grown = kind(transport=REFUSING)
    messages: list[Message] = [QUESTION]
    requests: list[tuple[SentRequest, bytes]] = []
    for turn in data.draw(st.lists(turns(), max_size=4)):
        messages = [*messages, *turn]
        if data.draw(st.booleans()):  # something in the past changes
            del messages[data.draw(st.integers(1, len(messages) - 1))]
        sent = await sent_by(grown, model, [*messages, QUESTION])
        check(sent.body)
        fresh = await sent_by(kind(transport=REFUSING), model, [*messages, QUESTION])
        assert sent.body == fresh.body
        requests.append((sent, sent.body))
    assert all(sent.body == body for sent, body in requests), "a later request changed it"


# --- what both protocols send of a history

BOTH = pytest.mark.parametrize(
    ("kind", "model"),
    [(OpenAICompletions, CHAT), (AnthropicMessages, CLAUDE)],
    ids=["chat", "anthropic"],
)


async def said_in(kind: type[Provider], model: Model, *messages: Message) -> str:
    sent = await sent_by(kind(transport=REFUSING), model, [*messages, QUESTION])
    check = check_chat if kind is OpenAICompletions else check_anthropic
    return json.dumps(check(sent.body)["messages"], ensure_ascii=False)


@BOTH
async def test_failed_stopped_and_empty_answers_are_left_out(
    kind: type[Provider], model: Model
) -> None:
    text = await said_in(
        kind,
        model,
        UserMessage.of("first"),
        answer(TextContent("half"), call("c1"), by=model, stop_reason="error"),
        result("c1", TextContent("of no call")),
        answer(TextContent("stopped"), by=model, stop_reason="aborted"),
        answer(TextContent(" \n"), by=model),
        answer(by=model),
        UserMessage.of("second"),
        UserMessage(" "),
    )
    assert "first" in text
    assert "second" in text
    assert not any(word in text for word in ("half", "of no call", "stopped", "assistant"))


@BOTH
async def test_a_call_without_a_result_gets_one(kind: type[Provider], model: Model) -> None:
    calls = answer(call("c1"), call("c2"), by=model)
    text = await said_in(kind, model, QUESTION, calls, result("c2", TextContent("done")))
    assert "There is no result" in text


@BOTH
async def test_thinking_of_another_model_is_dropped(kind: type[Provider], model: Model) -> None:
    thought = ThinkingContent("secret thoughts", "reasoning_content")
    own = answer(thought, TextContent("a"), by=model)
    theirs = answer(thought, TextContent("a"), by=replace(model, id="another"))
    assert "secret thoughts" in await said_in(kind, model, QUESTION, own)
    assert "secret thoughts" not in await said_in(kind, model, QUESTION, theirs)


@BOTH
async def test_a_model_without_eyes_is_told_of_images(kind: type[Provider], model: Model) -> None:
    blind = replace(model, inputs=("text",))
    text = await said_in(
        kind,
        blind,
        UserMessage.of("Look", [PIXEL, PIXEL]),
        answer(call("c1"), by=blind),
        result("c1", PIXEL),
    )
    assert PIXEL.data not in text
    assert text.count("(An image was here") == 1
    assert text.count("The tool gave an image") == 1


@BOTH
async def test_lone_surrogates_are_left_out(kind: type[Provider], model: Model) -> None:
    odd = ToolCall("c1", "read", {"path": "a\ud83d", "size": 2**70})
    text = await said_in(kind, model, UserMessage("x\ud800y"), answer(odd, by=model), result("c1"))
    assert "xy" in text
    assert "\ud83d" not in text
    assert str(2**70) in text


@BOTH
async def test_ids_of_the_responses_api_are_rewritten_and_stay_apart(
    kind: type[Provider], model: Model
) -> None:
    long = "call_1|fc_" + "x" * 400
    calls = answer(call("call_1|fc_1"), call(long + "1"), call(long + "2"), by=OTHER)
    results = [result("call_1|fc_1"), result(long + "1"), result(long + "2")]
    text = await said_in(kind, model, QUESTION, calls, *results)  # pairs are checked
    assert "call_1_fc_1" in text
    assert "|" not in text


@BOTH
async def test_the_last_answer_limit_follows_the_window(kind: type[Provider], model: Model) -> None:
    small = replace(model, context_window=20_000, max_tokens=8192)
    for characters, limit in ((1000, 8192), (35_000, 5904), (350_000, 1)):
        sent = await sent_by(kind(transport=REFUSING), small, [UserMessage("x" * characters)])
        body = sent.json()
        got = body.get("max_tokens") or body.get("max_completion_tokens")
        assert got == pytest.approx(limit, abs=60)


@BOTH
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 600])
async def test_what_goes_out_is_what_is_shown(
    kind: type[Provider], model: Model, count: int
) -> None:
    received: list[httpx.Request] = []

    def answer_with_nothing(request: httpx.Request) -> httpx.Response:
        received.append(request)
        return httpx.Response(400)

    shown: list[SentRequest] = []
    messages = [UserMessage.of(f"message {number}") for number in range(count)]
    provider = kind(transport=httpx.MockTransport(answer_with_nothing))
    asked = Request(model, "Be brief.", messages, on_sent=shown.append)
    with pytest.raises(ProviderError):
        async for _ in provider.stream(asked, AbortSignal()):
            pass
    assert received[0].content == shown[0].body
    assert received[0].headers["content-length"] == str(len(shown[0].body))
    assert len(shown[0].json()["messages"]) == count + (kind is OpenAICompletions)


async def test_equal_heads_are_kept_once() -> None:
    provider = OpenAICompletions(transport=REFUSING)
    first = await sent_by(provider, CHAT, [QUESTION])
    second = await sent_by(provider, CHAT, [QUESTION, QUESTION])
    assert first.head is second.head
