import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import BaseModel

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import ToolCall
from agent_nb.core.errors import ToolError
from agent_nb.core.events import AgentEvent, MessageEnd, MessageUpdate, ToolExecutionEnd
from agent_nb.core.messages import AssistantMessage, ToolResultMessage, UserMessage
from agent_nb.core.tool import Tool, ToolContext, ToolResult
from agent_nb.loop.config import Blocked, LoopConfig
from agent_nb.loop.run import run_loop
from agent_nb.providers.scripted import ScriptedProvider, breaks_off, calls, fails, says


class EchoArgs(BaseModel):
    """What `echo` takes."""

    text: str


async def echo(args: EchoArgs, context: ToolContext) -> ToolResult:
    return ToolResult.of(args.text)


async def fail(args: EchoArgs, context: ToolContext) -> ToolResult:
    raise ToolError(f"no {args.text}")


async def crash(args: EchoArgs, context: ToolContext) -> ToolResult:
    raise RuntimeError("broken")


echo_tool = Tool("echo", "Say it again.", EchoArgs, echo)
fail_tool = Tool("fail", "Fail.", EchoArgs, fail)
crash_tool = Tool("crash", "Crash.", EchoArgs, crash)
TOOLS = [echo_tool, fail_tool, crash_tool]


def config_for(provider: ScriptedProvider, **changes: object) -> LoopConfig:
    return replace(LoopConfig(provider, tools=TOOLS), **changes)  # type: ignore[arg-type]


async def events_of(config: LoopConfig, prompt: str = "go") -> list[AgentEvent]:
    return [event async for event in run_loop([], [UserMessage.of(prompt)], config)]


def types(events: Sequence[AgentEvent]) -> list[str]:
    return [event.type for event in events if not isinstance(event, MessageUpdate)]


def results(events: Sequence[AgentEvent]) -> list[ToolResultMessage]:
    ends = [event.message for event in events if isinstance(event, MessageEnd)]
    return [message for message in ends if isinstance(message, ToolResultMessage)]


def answers(events: Sequence[AgentEvent]) -> list[AssistantMessage]:
    ends = [event.message for event in events if isinstance(event, MessageEnd)]
    return [message for message in ends if isinstance(message, AssistantMessage)]


async def test_a_plain_answer_is_one_turn() -> None:
    events = await events_of(config_for(ScriptedProvider(says("Hello there", chunk=3))))
    assert types(events) == [
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        "message_start",
        "message_end",
        "turn_end",
        "agent_end",
    ]
    assert answers(events)[0].text == "Hello there"


async def test_a_tool_result_reaches_the_next_request() -> None:
    provider = ScriptedProvider(calls("echo", {"text": "hi"}), says("done"))
    await events_of(config_for(provider))
    roles = [message.role for message in provider.requests[1].messages]
    assert roles == ["user", "assistant", "toolResult"]


async def test_steering_during_a_tool_call_reaches_the_next_request() -> None:
    provider = ScriptedProvider(calls("echo", {"text": "hi"}), says("done"))
    config = config_for(provider)
    async for event in run_loop([], [UserMessage.of("go")], config):
        if event.type == "tool_execution_start":
            config.steering.put(UserMessage.of("stop soon"))
    roles = [message.role for message in provider.requests[1].messages]
    assert roles == ["user", "assistant", "toolResult", "user"]


async def test_steering_wins_over_follow_ups_queued_earlier() -> None:
    provider = ScriptedProvider(says("one"), says("two"), says("three"))
    config = config_for(provider)
    config.follow_ups.put(UserMessage.of("later"))
    async for event in run_loop([], [UserMessage.of("go")], config):
        first = isinstance(event, MessageUpdate) and len(provider.requests) == 1
        if first and not config.steering.pending:
            config.steering.put(UserMessage.of("now"))
        if isinstance(event, MessageEnd):
            config.steering.delivered(event.message)
    texts = [m.text for m in provider.requests[2].messages if isinstance(m, UserMessage)]
    assert texts == ["go", "now", "later"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (calls("nosuch", {"text": "x"}), "Tool nosuch not found"),
        (calls("echo", {}), "text: Field required"),
        (calls("echo", '{"text": "cut'), 'Received arguments:\n{"text": "cut'),
        (calls("echo", "[1]"), "must be a JSON object"),
        (calls("fail", {"text": "luck"}), "no luck"),
        (calls("crash", {"text": "x"}), "RuntimeError: broken"),
    ],
)
async def test_a_call_that_cannot_run_gives_an_error_result(call: object, expected: str) -> None:
    events = await events_of(config_for(ScriptedProvider(call, says("ok"))))  # type: ignore[arg-type]
    [result] = results(events)
    assert result.is_error
    assert expected in result.text
    assert answers(events)[-1].text == "ok"


async def test_a_cut_answer_runs_no_call() -> None:
    cut = replace(calls("echo", {"text": "hi"}), stop_reason="length")
    events = await events_of(config_for(ScriptedProvider(cut, says("ok"))))
    [result] = results(events)
    assert result.is_error
    assert "output limit" in result.text


async def test_parallel_calls_end_as_they_finish_and_are_stored_in_call_order() -> None:
    release = asyncio.Event()

    async def slow(args: EchoArgs, context: ToolContext) -> ToolResult:
        await release.wait()
        return ToolResult.of("slow")

    async def quick(args: EchoArgs, context: ToolContext) -> ToolResult:
        release.set()
        return ToolResult.of("quick")

    tools = [Tool("slow", "", EchoArgs, slow), Tool("quick", "", EchoArgs, quick)]
    both = calls("slow", {"text": ""}, id="a") + calls("quick", {"text": ""}, id="b")
    events = await events_of(config_for(ScriptedProvider(both, says("ok")), tools=tools))
    ends = [event.tool_call_id for event in events if isinstance(event, ToolExecutionEnd)]
    assert ends == ["b", "a"]
    assert [result.tool_call_id for result in results(events)] == ["a", "b"]


async def test_two_calls_with_the_same_id_keep_their_own_results() -> None:
    both = calls("echo", {"text": "one"}, id="x") + calls("echo", {"text": "two"}, id="x")
    events = await events_of(config_for(ScriptedProvider(both, says("ok"))))
    assert [result.text for result in results(events)] == ["one", "two"]


async def test_a_failed_request_is_a_message_and_ends_the_pass() -> None:
    events = await events_of(config_for(ScriptedProvider(fails("400: no", status=400))))
    [answer] = answers(events)
    assert (answer.stop_reason, answer.error_message) == ("error", "400: no")
    assert types(events)[-2:] == ["turn_end", "agent_end"]


async def test_a_call_received_in_part_never_runs() -> None:
    broken = calls("echo", {"text": "hi"}) + breaks_off()
    events = await events_of(config_for(ScriptedProvider(broken)))
    assert results(events) == []
    assert answers(events)[0].stop_reason == "error"


async def test_a_hook_can_block_a_call() -> None:
    async def refuse(*_: object) -> Blocked:
        return Blocked("not today")

    provider = ScriptedProvider(calls("echo", {"text": "hi"}), says("ok"))
    events = await events_of(config_for(provider, before_tool=refuse))
    assert results(events)[0].text == "not today"


async def test_abort_during_text_keeps_what_was_said() -> None:
    signal = AbortSignal()
    provider = ScriptedProvider(says("one two three", chunk=4, delay_s=0.001))
    config = config_for(provider, signal=signal)
    seen: list[AgentEvent] = []
    async for event in run_loop([], [UserMessage.of("go")], config):
        seen.append(event)
        if isinstance(event, MessageUpdate) and event.type == "message_update":
            signal.abort()
    [answer] = answers(seen)
    assert answer.stop_reason == "aborted"
    assert "one two three".startswith(answer.text)


async def test_abort_during_tools_gives_every_call_a_result_and_sends_nothing_more() -> None:
    signal = AbortSignal()

    async def wait(args: EchoArgs, context: ToolContext) -> ToolResult:
        signal.abort()
        await context.signal.guard(asyncio.Event().wait())
        return ToolResult.of("never")

    tools = [Tool("wait", "", EchoArgs, wait), echo_tool]
    both = calls("wait", {"text": ""}, id="a") + calls("wait", {"text": "x"}, id="b")
    provider = ScriptedProvider(both, says("never"))
    events = await events_of(config_for(provider, signal=signal, tools=tools))
    assert [(r.tool_call_id, r.is_error) for r in results(events)] == [("a", True), ("b", True)]
    assert len(provider.requests) == 1
    assert answers(events)[-1].stop_reason == "aborted"
    assert answers(events)[-1].content == ()


async def test_a_tool_that_ignores_the_stop_is_cancelled() -> None:
    signal = AbortSignal()

    async def stubborn(args: EchoArgs, context: ToolContext) -> ToolResult:
        asyncio.get_running_loop().call_soon(signal.abort)
        await asyncio.Event().wait()
        return ToolResult.of("never")

    tools = [Tool("stubborn", "", EchoArgs, stubborn)]
    provider = ScriptedProvider(calls("stubborn", {"text": ""}))
    async with asyncio.timeout(3):
        events = await events_of(config_for(provider, signal=signal, tools=tools))
    assert results(events)[0].is_error


async def test_a_hook_that_breaks_leaves_every_call_its_result(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def before(call: ToolCall, tool: Tool, arguments: object) -> Blocked | None:
        if call.arguments["text"] == "a":
            raise RuntimeError("gate broke")
        return None

    async def after(call: ToolCall, result: ToolResult) -> ToolResult:
        raise RuntimeError("other broke")

    script = calls("echo", {"text": "a"}) + calls("echo", {"text": "b"})
    provider = ScriptedProvider(script, says("ok"))
    events = await events_of(config_for(provider, before_tool=before, after_tool=after))
    assert [(r.is_error, r.text) for r in results(events)] == [
        (True, "echo was not run: RuntimeError: gate broke"),
        (False, "b"),
    ]
    assert "gate broke" in caplog.text
    assert "other broke" in caplog.text
