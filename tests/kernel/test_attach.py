"""The static form of a run, as a cell gets it where nobody can click."""

from pathlib import Path
from typing import Any

import pytest
from IPython.utils.capture import capture_output

from agent_nb.core.errors import AgentError
from agent_nb.kernel.conversation import Question
from agent_nb.kernel.notebook_session import NotebookSession
from agent_nb.kernel.output import CellOutput
from agent_nb.kernel.runtime import RUNTIME
from agent_nb.providers.scripted import calls, fails, says


def shown(session: NotebookSession, text: str) -> list[Any]:
    """Ask for a cell that nobody looks at; return the outputs it got."""
    with capture_output() as captured:
        answer = session._conversation.answer(Question(text), CellOutput("nobody"))
        future = RUNTIME.thread.submit(answer)
        future.exception()
    return [output.data for output in captured.outputs]


@pytest.fixture(autouse=True)
def _in_english(monkeypatch: pytest.MonkeyPatch, shell: Any) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def test_the_output_begins_with_the_question_and_ends_with_the_transcript(
    play: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("x")
    first, *_, last = shown(play(calls("read", {"path": "a.txt"}), says("An x.")), "what is in it?")
    assert set(first) == set(last) == {"text/html", "text/markdown", "text/plain"}
    assert "> what is in it?" in first["text/plain"]
    assert "An x." not in first["text/plain"]
    assert "An x." in last["text/plain"]
    assert "2 turns · 1 tool" in last["text/plain"]


def test_the_model_is_introduced_once_and_again_after_a_change(play: Any) -> None:
    session = play(says("one"), says("two"))
    introduction = "scripted/script answers because it was asked for; nothing leaves this computer."
    assert introduction in shown(session, "first")[-1]["text/plain"]
    assert introduction not in shown(session, "second")[-1]["text/plain"]
    session.set_model("demo/reader").result()
    third = shown(session, "what can you do?")[-1]["text/plain"]
    assert "demo/reader answers because it was asked for" in third
    assert "not a language model" in third.splitlines()[0]


def test_a_slash_word_that_is_no_command_is_noted(play: Any) -> None:
    session = play(says("one"), says("two"))
    assert "There is no command /undo" in shown(session, "/undo it")[-1]["text/plain"]
    assert "no command" not in shown(session, "/etc/hosts?")[-1]["text/plain"]


def test_a_template_is_no_unknown_command(play: Any, tmp_path: Path) -> None:
    templates = tmp_path / "agent" / "prompts"
    templates.mkdir(parents=True)
    (templates / "greet.md").write_text("Say hello to $1.")
    session = play(says("Hello."))
    assert "no command" not in shown(session, "/greet Ada")[-1]["text/plain"]
    assert session.runs[-1].question == "Say hello to Ada."


def test_what_could_not_be_loaded_is_noted(play: Any, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"\xff\xfe broken")
    session = play(says("one"))
    session.open().result()
    text = shown(session, "first")[-1]["text/plain"]
    assert all(report in text for report in session._conversation.session.reports)  # type: ignore[union-attr]


def test_a_failure_is_in_the_output_that_stays(play: Any) -> None:
    last = shown(play(fails("The key is not valid (401).", 401)), "hi")[-1]
    assert "Failed" in last["text/plain"]
    assert "The key is not valid (401)." in last["text/html"]


def test_what_never_starts_shows_nothing(play: Any) -> None:
    session = play(says("never"))
    with capture_output() as captured:
        question = Question("hi", allow=("banana",))
        answer = session._conversation.answer(question, CellOutput("nobody"))
        with pytest.raises(AgentError, match="banana"):
            RUNTIME.thread.submit(answer).result()
    assert captured.outputs == []


def test_the_users_language_is_spoken(play: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    last = shown(play(says("你好")), "你好？")[-1]
    assert "Done" not in last["text/plain"]
    assert "你好" in last["text/plain"]


def test_a_result_is_drawn_as_its_view_was(play: Any, capsys: pytest.CaptureFixture[str]) -> None:
    session = play(says("The answer."))
    shown(session, "hi")
    with capture_output() as captured:
        session.show()
    assert "The answer." in captured.outputs[0].data["text/html"]


def test_there_may_be_no_run_to_show_yet(play: Any) -> None:
    with pytest.raises(AgentError, match="no run to show yet"):
        play().show()
