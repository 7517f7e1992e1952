import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent_nb.core.errors import ConfigError, RunInProgressError
from agent_nb.core.events import (
    AgentEnd,
    AgentSettled,
    AutoRetryEnd,
    MessageEnd,
    MessageUpdate,
    PermissionDecided,
    QueueUpdate,
    SessionEvent,
)
from agent_nb.core.messages import AssistantMessage, ToolResultMessage, UserMessage
from agent_nb.core.model import Model
from agent_nb.providers.scripted import ScriptedProvider, breaks_off, calls, fails, says
from agent_nb.session.choice import ModelChoice
from agent_nb.session.create import create_session
from agent_nb.session.run import Budget
from agent_nb.session.session import AgentSession
from agent_nb.session.store import SessionStore

MakeSession = Callable[..., Awaitable[AgentSession]]


def watch(session: AgentSession) -> list[SessionEvent]:
    seen: list[SessionEvent] = []
    session.subscribe(seen.append)
    return seen


def types(events: list[SessionEvent]) -> list[str]:
    return [event.type for event in events if not isinstance(event, MessageUpdate)]


async def test_a_prompt_returns_when_everything_has_settled(make_session: MakeSession) -> None:
    session = await make_session(says("Hello"))
    seen = watch(session)
    result = await session.prompt("Hi")
    assert (result.outcome, result.text, result.question) == ("done", "Hello", "Hi")
    assert types(seen)[-1] == "agent_settled"
    assert not session.is_running
    assert session.runs == (result,)


async def test_every_entry_is_on_disk_before_its_end_is_shown(make_session: MakeSession) -> None:
    session = await make_session(calls("ls"), says("done"))
    assert session.path is not None
    shown = 0

    def check(event: SessionEvent) -> None:
        nonlocal shown
        if isinstance(event, MessageEnd):
            shown += 1
            assert session.path is not None
            stored = SessionStore.open(session.path, session.cwd)
            assert stored.leaf_id is not None
            last = stored.entry(stored.leaf_id)
            assert last is not None
            assert last.message is not None
            assert last.message.role == event.message.role

    session.subscribe(check)
    await session.prompt("Hi")
    assert shown == 5


async def test_a_session_file_is_continued(make_session: MakeSession) -> None:
    first = await make_session(says("One"))
    await first.prompt("First")
    await first.dispose()
    second = await make_session(says("Two"), resume=True)
    await second.prompt("Second")
    sent = second.script.requests[0].messages  # type: ignore[attr-defined]
    assert [m.text for m in sent if not isinstance(m, ToolResultMessage)] == [
        "First",
        "One",
        "Second",
    ]
    assert second.path == first.path


async def test_a_passing_failure_is_retried_and_left_out_of_requests(
    make_session: MakeSession,
) -> None:
    session = await make_session(
        fails("503: busy", 503), breaks_off("half an ans"), says("Whole"), says("Next")
    )
    seen = watch(session)
    result = await session.prompt("Hi")
    assert (result.outcome, result.text) == ("done", "Whole")
    ends = [event.will_retry for event in seen if isinstance(event, AgentEnd)]
    assert ends == [True, True, False]
    order = types(seen)
    assert order.index("auto_retry_start") == order.index("agent_end") + 1
    success = next(i for i, event in enumerate(seen) if isinstance(event, AutoRetryEnd))
    assert seen[success - 1].type == "message_end"
    assert seen[success + 1].type == "turn_end"


async def test_retries_end_after_the_limit_and_the_next_prompt_works(
    make_session: MakeSession,
) -> None:
    session = await make_session(*[fails("500: no", 500)] * 4, says("Back"))
    seen = watch(session)
    result = await session.prompt("Hi")
    assert (result.outcome, result.error) == ("error", "500: no")
    assert seen[-2:] == [
        AutoRetryEnd(success=False, attempt=3, final_error="500: no"),
        AgentSettled(aborted=False),
    ]
    assert (await session.prompt("Again")).text == "Back"


async def test_a_final_failure_is_not_retried(make_session: MakeSession) -> None:
    session = await make_session(fails("401: bad key", 401))
    result = await session.prompt("Hi")
    assert result.outcome == "error"
    assert len(session.script.requests) == 1  # type: ignore[attr-defined]


async def test_a_stop_while_waiting_to_retry_ends_the_run(
    make_session: MakeSession, environment: dict[str, str]
) -> None:
    settings = Path(environment["AGENT_NB_DIR"], "settings.json")
    settings.write_text('{"retry": {"baseDelayMs": 60000}}')
    session = await make_session(fails("503: busy", 503))
    session.subscribe(lambda e: session.abort_soon() if e.type == "auto_retry_start" else None)
    result = await session.prompt("Hi")
    assert result.outcome == "stopped"
    assert session.events[-1].event == AgentSettled(aborted=True)


async def test_a_prompt_during_a_run_must_say_what_to_do(make_session: MakeSession) -> None:
    session = await make_session(says("One"), says("Two"))
    refused: list[type] = []
    queued: list[asyncio.Task[object]] = []

    def interfere(event: SessionEvent) -> None:
        if event.type == "turn_start" and not queued:
            queued.append(asyncio.ensure_future(ask_again()))

    async def ask_again() -> object:
        with pytest.raises(RunInProgressError):
            await session.prompt("Wait")
        refused.append(RunInProgressError)
        return await session.prompt("And then?", streaming_behavior="followUp")

    provider: ScriptedProvider = session.script  # type: ignore[attr-defined]
    provider._answers = (says("One", chunk=1, delay_s=0.001), says("Two"))
    session.subscribe(interfere)
    result = await session.prompt("Hi")
    assert refused == [RunInProgressError]
    assert await queued[0] is result
    assert result.text == "Two"


async def test_a_queued_message_leaves_the_queue_right_before_it_is_shown(
    make_session: MakeSession,
) -> None:
    session = await make_session(says("One"))
    seen = watch(session)
    session.steer("left")
    await session.prompt("Hi")
    index = seen.index(QueueUpdate())
    following = seen[index + 1]
    assert following.type == "message_start"
    assert isinstance(following.message, UserMessage)
    assert following.message.text == "left"


async def test_queued_messages_survive_a_stop_and_go_with_the_next_prompt(
    make_session: MakeSession,
) -> None:
    session = await make_session(says("a b c", chunk=1, delay_s=0.001), says("Two"), says("Three"))

    def stop(event: SessionEvent) -> None:
        if isinstance(event, MessageUpdate) and not session.queues.steering.pending:
            session.steer("steer")
            session.follow_up("follow")
            session.abort_soon()

    unsubscribe = session.subscribe(stop)
    result = await session.prompt("Hi")
    unsubscribe()
    assert result.outcome == "stopped"
    assert session.state.pending == 2
    result = await session.prompt("Next")
    users = [m.text for m in result.messages if isinstance(m, UserMessage)]
    assert users == ["Next", "steer", "follow"]
    assert session.state.pending == 0


async def test_a_turn_budget_ends_the_run_cleanly(make_session: MakeSession) -> None:
    session = await make_session(calls("ls"), calls("ls"), says("never"))
    result = await session.prompt("Hi", budget=Budget(max_turns=2))
    assert result.outcome == "budget"
    assert result.error == "the limit of 2 turns was reached"
    assert isinstance(session.messages[-1], ToolResultMessage)


async def test_a_time_budget_stops_a_slow_answer(make_session: MakeSession) -> None:
    session = await make_session(says("x" * 1000, chunk=1, delay_s=0.01))
    result = await session.prompt("Hi", budget=Budget(timeout_s=0.05))
    assert result.outcome == "budget"
    assert session.events[-1].event == AgentSettled(aborted=False)


async def test_a_cost_budget_needs_known_prices(make_session: MakeSession) -> None:
    with pytest.raises(ConfigError, match="prices of x/y are not known"):
        Budget(max_cost_usd=1).check(Model("y", "x", "a"))


async def test_a_failing_subscriber_is_reported_and_the_run_goes_on(
    make_session: MakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    session = await make_session(says("Fine"))

    def broken(event: SessionEvent) -> None:
        raise RuntimeError("view broke")

    session.subscribe(broken)
    with caplog.at_level(logging.ERROR):
        result = await session.prompt("Hi")
    assert result.outcome == "done"
    assert "view broke" in caplog.text


async def test_the_notebook_gate_lets_reading_through_and_names_the_option_for_the_rest(
    make_session: MakeSession, work: Path
) -> None:
    (work / "a.txt").write_text("MARKER")
    (work / ".env").write_text("SECRET=1")
    script = (
        calls("read", {"path": "a.txt"})
        + calls("read", {"path": ".env"})
        + calls("read", {"path": "/etc/hostname"})
        + calls("bash", {"command": "touch made"})
        + calls("write", {"path": "b.txt", "content": "x"})
    )
    session = await make_session(script, says("ok"), gate="notebook", all_tools=True)
    result = await session.prompt("Hi")
    errors = [call.is_error for call in result.tool_calls]
    assert errors == [False, True, True, True, True]
    assert "MARKER" in result.tool_calls[0].text
    for call, option in zip(
        result.tool_calls[1:],
        ["--allow read", "--allow read", "--allow bash", "--allow write"],
        strict=True,
    ):
        assert option in call.text
    assert sorted(path.name for path in work.iterdir()) == [".env", "a.txt"]
    decisions = [e.event for e in session.events if isinstance(e.event, PermissionDecided)]
    assert [decision.allowed for decision in decisions] == [not error for error in errors]


async def test_what_was_allowed_runs(make_session: MakeSession, work: Path) -> None:
    session = await make_session(
        calls("write", {"path": "b.txt", "content": "x"}),
        says("ok"),
        gate="notebook",
        all_tools=True,
        allow=["write"],
    )
    await session.prompt("Hi")
    assert (work / "b.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"model": "demo/nosuch"}, "no model 'nosuch' at demo"),
        ({"model": "x", "provider": "nowhere"}, "no provider 'nowhere'"),
        ({"tools": ["hammer"]}, "no tool 'hammer'"),
        ({"thinking": "loud"}, "no thinking level 'loud'"),
        ({"cwd": "/no/such/place"}, "does not exist"),
    ],
)
async def test_a_wrong_option_is_named(
    environment: dict[str, str], work: Path, options: dict[str, object], expected: str
) -> None:
    with pytest.raises(ConfigError, match=expected):
        await create_session(**{"cwd": work, "environment": environment, **options})


async def test_a_missing_key_says_which_and_sends_nothing(
    environment: dict[str, str], work: Path
) -> None:
    session = await create_session(
        cwd=work, environment=environment, model="anthropic/claude-sonnet-4-5"
    )
    with pytest.raises(ConfigError, match=r"Set ANTHROPIC_API_KEY.*Nothing was sent"):
        await session.prompt("Hi")
    assert len(session.requests) == 0
    session.set_model("demo/reader")
    assert (await session.prompt("hello")).outcome == "done"


async def test_without_a_key_the_demo_answers_and_says_why(
    environment: dict[str, str], work: Path
) -> None:
    session = await create_session(cwd=work, environment=environment)
    assert session.choice.model.key == "demo/reader"
    assert session.choice.reason == "no model was named and no key is set"
    assert session.choice.destination == "nothing leaves this computer"


async def test_a_key_in_the_environment_chooses_its_provider(
    environment: dict[str, str], work: Path
) -> None:
    session = await create_session(
        cwd=work, environment={**environment, "ANTHROPIC_API_KEY": "not-a-real-key"}
    )
    assert session.choice.model.provider == "anthropic"
    assert session.choice.reason == "ANTHROPIC_API_KEY is set"
    assert "not-a-real-key" not in repr(session.choice)


async def test_resumed_prompts_store_the_system_prompt_once(make_session: MakeSession) -> None:
    session = await make_session(says("One"), says("Two"))
    await session.prompt("First")
    await session.prompt("Second")
    roles = [message.role for message in session.messages]
    assert roles == ["system", "user", "assistant", "user", "assistant"]
    answer = session.messages[-1]
    assert isinstance(answer, AssistantMessage)
    assert answer.model == "script"


@pytest.mark.parametrize(
    ("base_url", "said"),
    [
        ("http://me:hidden-key@127.0.0.1:9/v1", "127.0.0.1:9"),
        ("https://far.example/v1?key=hidden-key", "far.example"),
        ("http://[2001:db8::1]:80/v1", "[2001:db8::1]:80"),
        ("http://[::1]:80/v1", "[::1]:80"),
    ],
)
def test_where_the_text_goes_is_said_without_keys(base_url: str, said: str) -> None:
    choice = ModelChoice(Model("m", "own", "openai-completions", base_url), "asked")
    assert said in choice.destination
    assert "hidden" not in choice.introduction() + repr(choice)
    local = ModelChoice(Model("m", "own", "x", "http://localhost/v1"), "asked").destination
    is_local = "127.0.0.1" in said or "[::1]" in said
    assert (choice.destination.replace(said, "localhost") == local) == is_local


async def test_keys_are_masked_in_why_a_run_failed(make_session: MakeSession) -> None:
    session = await make_session(fails("refused: key hunter2hunter2"), api_key="hunter2hunter2")
    result = await session.prompt("Hi")
    assert session.secrets == ("hunter2hunter2",)
    assert "hunter2" not in f"{result.error} {result!r}"
