"""The notebook's session from Python, without a kernel."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import agent_nb
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.kernel.conversation import Question
from agent_nb.kernel.failure import AgentRunError, AgentUsageError
from agent_nb.kernel.runtime import RUNTIME
from agent_nb.providers.scripted import calls, fails, says

QUIETLY = Question("hi", shown="nothing")
SLOW = says("never ends " * 1000, chunk=1, delay_s=0.01)


def started(session: Any) -> Any:
    """Start a run and return its handle once the answer is under way."""
    going = RUNTIME.thread.submit(_first_event(session))
    handle = session.ask(QUIETLY)
    going.result()
    return handle


async def _first_event(session: Any) -> None:
    event = asyncio.Event()
    session.subscribe(lambda _event: event.set())
    await event.wait()


async def test_a_prompt_can_be_awaited(play: Any) -> None:
    assert (await play(says("ok")).ask(QUIETLY)).text == "ok"


def test_nothing_is_opened_before_it_is_needed(play: Any, tmp_path: Path) -> None:
    session = play()
    assert (session.messages, session.turns, session.runs) == ((), (), ())
    assert (len(session.events), len(session.requests)) == (0, 0)
    assert (session.state, session.choice, session.is_running) == (None, None, False)
    assert repr(session) == f"<NotebookSession main, not used yet, in {tmp_path}>"
    assert "No model was asked yet" in session.describe()


def test_what_happened_can_be_read(play: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    session = play(calls("read", {"path": "a.txt"}), says("An x."))
    session.ask(QUIETLY).result()
    assert session.messages[-1].text == "An x."
    assert session.turns[0].tool_calls[0].name == "read"
    assert session.runs[-1].outcome == "done"
    assert session.events.of_type("agent_settled")
    assert repr(session) == (f"<NotebookSession main: scripted/script in {tmp_path}, idle, 1 run>")


def test_snapshots_do_not_grow(play: Any) -> None:
    session = play(says("one"), says("two"))
    session.ask(QUIETLY).result()
    before = session.messages, session.runs, session.events
    sizes = [len(part) for part in before]
    session.ask(QUIETLY).result()
    assert [len(part) for part in before] == sizes
    assert len(session.runs) == 2


def test_a_failed_run_raises_and_has_the_result(play: Any) -> None:
    session = play(fails("No.", 400))
    with pytest.raises(AgentRunError, match=r"No\.") as caught:
        session.ask(QUIETLY).result()
    assert caught.value.result is session.runs[-1]


def test_an_abort_waits_until_the_run_has_settled(play: Any) -> None:
    session = play(SLOW)
    handle = started(session)
    session.abort().result()
    assert not session.is_running
    with pytest.raises(AgentRunError, match=r"The run was stopped\."):
        handle.result()


def test_stopping_a_handle_that_is_done_stops_no_later_run(play: Any) -> None:
    session = play(says("one"), says("two words", chunk=1, delay_s=0.01))
    first = session.ask(QUIETLY)
    first.result()
    second = started(session)
    first.stop()
    assert second.result().text == "two words"


def test_a_second_prompt_has_to_say_how(play: Any) -> None:
    session = play(says("slow words", chunk=1, delay_s=0.01), says("after"))
    handle = started(session)
    with pytest.raises(AgentRunError, match="A run is going on"):
        session.prompt("more").result()
    queued = session.prompt("more", streaming_behavior="followUp")
    assert queued.result() is handle.result()
    assert [m.text for m in session.messages if m.role == "user"] == ["hi", "more"]


def test_steering_and_following_up_reach_the_model(play: Any) -> None:
    session = play(says("one"), says("two"), says("three"))
    session.steer("first this").result()
    session.follow_up("then that").result()
    session.ask(QUIETLY).result()
    texts = [m.text for m in session.messages if m.role == "user"]
    assert texts == ["hi", "first this", "then that"]


def test_setters_change_what_comes_next(play: Any) -> None:
    session = play()
    assert session.set_tools(["read"]).result().model.key == "scripted/script"
    assert session.state.tools == ("read",)
    assert session.set_model("demo/reader").result().model.key == "demo/reader"
    assert session.set_thinking_level("high").result()
    assert session.state.thinking_level == "off"  # the demo does not think
    with pytest.raises(ConfigError):
        session.set_tools(["banana"]).result()
    with pytest.raises(AgentError, match="There is no thinking level 'much'"):
        session.set_thinking_level("much").result()


def test_what_is_allowed_stays_allowed(play: Any, tmp_path: Path) -> None:
    write = calls("write", {"path": "b.txt", "content": "x"})
    session = play(write, says("done"), write, says("done"))
    session.set_allowed(["write"]).result()
    for _ in range(2):
        session.ask(QUIETLY).result()
        assert (tmp_path / "b.txt").exists()
        (tmp_path / "b.txt").unlink()


def test_subscribers_hear_of_events_until_they_leave(play: Any) -> None:
    session = play(says("one"), says("two"))
    heard: list[str] = []
    leave = session.subscribe(lambda event: heard.append(event.type))
    session.ask(QUIETLY).result()
    assert heard[0] == "agent_start"
    assert heard[-1] == "agent_settled"
    count = len(heard)
    leave()
    session.ask(QUIETLY).result()
    assert len(heard) == count


def test_a_session_opens_again_after_it_was_disposed(play: Any) -> None:
    session = play(says("one"), says("two"))
    session.ask(QUIETLY).result()
    session.dispose().result()
    assert session.messages == ()
    assert session.ask(QUIETLY).result().text == "two"


def test_a_session_works_in_one_directory(tmp_path: Path, play: Any) -> None:
    play()
    here = agent_nb.session("other", directory=tmp_path)
    assert agent_nb.session("other") is here
    assert agent_nb.session("other", directory=tmp_path) is here
    with pytest.raises(AgentUsageError, match="use another name"):
        agent_nb.session("other", directory=tmp_path.parent)
    with pytest.raises(ConfigError, match="does not exist") as caught:
        agent_nb.session("more", directory=tmp_path / "nowhere")
    assert caught.value._render_traceback_()[0].startswith("ConfigError: ")  # type: ignore[attr-defined]
