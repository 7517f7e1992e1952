import asyncio

import pytest

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.errors import AgentError, ProviderError
from agent_nb.core.events import Finish, ProviderEvent, TextDelta, ToolCallStart, UsageReport
from agent_nb.core.messages import AssistantMessage, Message, Usage, UserMessage
from agent_nb.core.provider import Request
from agent_nb.loop.config import LoopConfig
from agent_nb.loop.run import run_loop
from agent_nb.providers.scripted import (
    SCRIPTED_MODEL,
    ScriptedAnswer,
    ScriptedProvider,
    breaks_off,
    calls,
    fails,
    says,
)


def a_request(*messages: Message) -> Request:
    return Request(SCRIPTED_MODEL, "", messages or (UserMessage.of("go"),))


async def events_of(
    provider: ScriptedProvider, signal: AbortSignal | None = None
) -> list[ProviderEvent]:
    batches = provider.stream(a_request(), signal or AbortSignal())
    return [event async for batch in batches for event in batch]


async def answer_of(*answers: ScriptedAnswer) -> AssistantMessage:
    config = LoopConfig(ScriptedProvider(*answers), SCRIPTED_MODEL)
    ends = [
        event.message
        async for event in run_loop([], [UserMessage.of("go")], config)
        if event.type == "message_end" and isinstance(event.message, AssistantMessage)
    ]
    return ends[0]


async def test_text_and_thinking_become_the_blocks_of_a_message() -> None:
    answer = await answer_of(says("Hello", thinking="Hm."))
    assert (answer.thinking, answer.text, answer.stop_reason) == ("Hm.", "Hello", "stop")


async def test_two_calls_can_stand_in_one_answer() -> None:
    answer = await answer_of(
        calls("ls", text="Both.") + calls("read", {"path": "ä.txt"}, id="mine"), says("done")
    )
    assert [(call.id, call.name, dict(call.arguments)) for call in answer.tool_calls] == [
        ("call_1", "ls", {}),
        ("mine", "read", {"path": "ä.txt"}),
    ]
    assert (answer.text, answer.stop_reason) == ("Both.", "toolUse")


async def test_arguments_given_as_text_are_sent_as_they_are() -> None:
    answer = await answer_of(calls("ls", "{broken"), says("done"))
    assert answer.tool_calls[0].arguments == {}


async def test_call_ids_go_on_counting_over_answers() -> None:
    provider = ScriptedProvider(calls("ls"), calls("ls"))
    events = [*await events_of(provider), *await events_of(provider)]
    ids = [event.id for event in events if isinstance(event, ToolCallStart)]
    assert ids == ["call_1", "call_2"]


async def test_text_is_cut_into_chunks() -> None:
    events = await events_of(ScriptedProvider(says("abcde", chunk=2)))
    assert [event.delta for event in events if isinstance(event, TextDelta)] == ["ab", "cd", "e"]


async def test_an_empty_text_still_makes_a_block() -> None:
    answer = await answer_of(says(""))
    assert [block.type for block in answer.content] == ["text"]


async def test_usage_and_stop_reason_are_as_told() -> None:
    usage = Usage(input=3, output=4, total_tokens=7)
    events = await events_of(ScriptedProvider(says("x", usage=usage, stop_reason="length")))
    assert events[-2:] == [UsageReport(usage), Finish("length")]


async def test_a_refusal_comes_before_any_event() -> None:
    provider = ScriptedProvider(fails("503: overloaded", status=503))
    with pytest.raises(ProviderError, match="overloaded") as caught:
        await events_of(provider)
    assert caught.value.status == 503


async def test_an_answer_that_breaks_off_keeps_what_was_said() -> None:
    answer = await answer_of(breaks_off(after="Half a sen"))
    assert (answer.text, answer.stop_reason) == ("Half a sen", "error")


async def test_a_call_that_breaks_off_is_never_whole() -> None:
    answer = await answer_of(calls("ls", '{"path"') + breaks_off())
    assert (answer.tool_calls[0].arguments, answer.stop_reason) == ({}, "error")


async def test_requests_are_kept_as_they_were_asked() -> None:
    provider = ScriptedProvider(says("one"), says("two"))
    messages: list[Message] = [UserMessage.of("first")]
    async for _ in provider.stream(Request(SCRIPTED_MODEL, "", messages), AbortSignal()):
        pass
    messages.append(UserMessage.of("second"))
    async for _ in provider.stream(Request(SCRIPTED_MODEL, "", messages), AbortSignal()):
        pass
    assert [len(request.messages) for request in provider.requests] == [1, 2]


async def test_a_script_that_has_run_out_says_so() -> None:
    provider = ScriptedProvider(says("only"))
    await events_of(provider)
    with pytest.raises(AgentError, match="The script has 1 answers, and this is request 2"):
        await events_of(provider)


async def test_abort_ends_a_waiting_answer() -> None:
    signal = AbortSignal()
    playing = asyncio.create_task(
        events_of(ScriptedProvider(says("never", chunk=1, delay_s=3600)), signal)
    )
    await asyncio.sleep(0)
    signal.abort()
    with pytest.raises(Aborted):
        await playing
