import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.events import (
    BlockEnd,
    Finish,
    ProviderEvent,
    ResponseInfo,
    TextDelta,
    TextStart,
    ToolCallDelta,
    ToolCallStart,
    UsageReport,
)
from agent_nb.core.json_text import loads
from agent_nb.core.messages import Message, UserMessage
from agent_nb.core.provider import Request, SentRequest
from agent_nb.providers.demo import DEMO_MODEL, DemoProvider

TOOLS = tuple(
    {"name": name, "description": "", "parameters": {}} for name in ("read", "ls", "find", "grep")
)


def asking(text: str, **more: object) -> Request:
    request = Request(DEMO_MODEL, "Be brief.", [UserMessage(text, timestamp=5)], TOOLS)
    return replace(request, **more)  # type: ignore[arg-type]  # the tests know the fields


async def batches_of(request: Request, words_per_s: float | None = 0) -> list[list[ProviderEvent]]:
    stream = DemoProvider(words_per_s).stream(request, AbortSignal())
    return [list(batch) async for batch in stream]


async def events_of(text: str) -> list[ProviderEvent]:
    return [event for batch in await batches_of(asking(text)) for event in batch]


def kinds(events: list[ProviderEvent]) -> list[str]:
    return [
        event.type
        for at, event in enumerate(events)
        if at == 0 or event.type != events[at - 1].type
    ]


async def test_a_plan_with_a_call_streams_text_then_arguments_in_pieces() -> None:
    events = await events_of("Please read README.md and introduce it in three sentences.")
    assert kinds(events) == [
        "response_info",
        *("text_start", "text_delta", "block_end"),
        *("toolcall_start", "toolcall_delta", "block_end"),
        *("usage", "finish"),
    ]
    assert (
        "".join(e.delta for e in events if isinstance(e, TextDelta)) == "I will read `README.md`."
    )
    arguments = [event.delta for event in events if isinstance(event, ToolCallDelta)]
    assert len(arguments) > 1
    assert loads("".join(arguments)) == {"path": "README.md"}
    assert events[-1] == Finish("toolUse")


async def test_an_answer_ends_with_stop_and_an_estimate_of_tokens() -> None:
    *_, usage, finish = await events_of("hello")
    assert isinstance(usage, UsageReport)
    assert usage.usage.input > 0
    assert usage.usage.total_tokens == usage.usage.input + usage.usage.output
    assert finish == Finish("stop")


async def test_words_come_one_by_one_and_chinese_by_characters() -> None:
    english = [e.delta for e in await events_of("read README.md") if isinstance(e, TextDelta)]
    assert english == ["I", " will", " read", " `README.md`."]
    chinese = [e.delta for e in await events_of("读 README.md") if isinstance(e, TextDelta)]
    assert chinese == ["我来", "读", " `README.md`", "。"]


async def test_the_same_question_gives_the_same_events() -> None:
    assert await events_of("find needle") == await events_of("find needle")


async def test_calls_of_one_answer_have_ids_of_their_own() -> None:
    starts = [e for e in await events_of("find needle") if isinstance(e, ToolCallStart)]
    assert [start.id for start in starts] == ["call_5_1"]


async def test_without_a_pace_everything_comes_at_once() -> None:
    assert len(await batches_of(asking("hello"), None)) == 1
    assert len(await batches_of(asking("hello"), 0)) == 1


async def test_the_pace_changes_only_when_events_come() -> None:
    paced = await batches_of(asking("read README.md"), 100_000)
    assert [e for batch in paced for e in batch] == await events_of("read README.md")
    assert len(paced) > 4


async def test_abort_ends_a_slow_answer() -> None:
    signal, heard = AbortSignal(), asyncio.Event()

    async def listen() -> None:
        async for _ in DemoProvider(0.001).stream(asking("hello"), signal):
            heard.set()

    listening = asyncio.create_task(listen())
    await heard.wait()
    signal.abort()
    with pytest.raises(Aborted):
        await listening


async def test_nothing_is_said_once_the_user_has_stopped() -> None:
    signal = AbortSignal()
    signal.abort()
    with pytest.raises(Aborted):
        await anext(DemoProvider(0).stream(asking("hello"), signal))


async def test_what_was_asked_is_reported_with_shared_fragments() -> None:
    sent: list[SentRequest] = []
    provider, messages = DemoProvider(0), list[Message]()
    for text in ("hello", "thanks"):
        messages.append(UserMessage(text, timestamp=5))
        request = asking("", messages=list(messages), on_sent=sent.append)
        async for _ in provider.stream(request, AbortSignal()):
            pass
    first, second = sent
    assert first.json()["system"] == "Be brief."
    assert [message["content"] for message in second.json()["messages"]] == ["hello", "thanks"]
    assert len(first.json()["messages"]) == 1
    assert first.fragments is second.fragments


async def test_another_conversation_is_reported_as_its_own() -> None:
    sent: list[SentRequest] = []
    provider = DemoProvider(0)
    for text in ("hello", "thanks"):
        async for _ in provider.stream(asking(text, on_sent=sent.append), AbortSignal()):
            pass
    assert [request.json()["messages"][0]["content"] for request in sent] == ["hello", "thanks"]


def test_the_model_is_free_and_says_what_it_is() -> None:
    assert DEMO_MODEL.key == "demo/reader"
    assert "not a language model" in DEMO_MODEL.name
    assert DEMO_MODEL.prices is not None
    assert DEMO_MODEL.prices.output == 0
    assert not DEMO_MODEL.reasoning


@given(st.text(max_size=80), st.booleans())
@settings(max_examples=100, deadline=None, database=None)
def test_any_text_gives_a_finished_stream(text: str, has_tools: bool) -> None:
    request = asking(text, tools=TOOLS if has_tools else ())
    events = [event for batch in asyncio.run(batches_of(request)) for event in batch]
    assert isinstance(events[0], ResponseInfo)
    assert isinstance(events[-1], Finish)
    assert sum(isinstance(e, TextStart | ToolCallStart) for e in events) == sum(
        isinstance(e, BlockEnd) for e in events
    )


@pytest.mark.parametrize(
    "text",
    ['"{<b>x</b>}"', "{{}} {0} %s $HOME", "<script>alert(1)</script>", "\ud800", "\ue000 \x00 ”“`"],
)
async def test_odd_text_does_no_harm(text: str) -> None:
    assert (await events_of(text))[-1].type == "finish"
