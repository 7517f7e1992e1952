"""`%agent` in an IPython shell, without a kernel."""

from pathlib import Path
from typing import Any

import pytest

from agent_nb.core.messages import Usage, UserMessage
from agent_nb.inspect.runs import RunResult
from agent_nb.kernel.magics import BudgetSpentWarning
from agent_nb.providers.scripted import calls, fails, says


def run(shell: Any, cell: str) -> Any:
    """Run a cell; return its value, or raise what it raised."""
    outcome = shell.run_cell(cell, store_history=True)
    outcome.raise_error()
    return outcome.result


def test_a_line_asks_and_its_value_is_the_result(shell: Any, play: Any) -> None:
    session = play(says("Hello there."))
    result = run(shell, "%agent don't {x} $y?")
    assert isinstance(result, RunResult)
    assert (result.text, result.outcome) == ("Hello there.", "done")
    assert session.runs == (result,)
    assert [m.text for m in session.messages if isinstance(m, UserMessage)] == ["don't {x} $y?"]


def test_a_cell_asks_with_its_text_as_it_is(shell: Any, play: Any) -> None:
    play(says("ok"))
    result = run(shell, "%%agent --quiet\n  first line\n\n>>> 'last' line?\n")
    assert result.question == "  first line\n\n>>> 'last' line?"


def test_a_result_can_be_kept_and_used(shell: Any, play: Any) -> None:
    play(says("one"), says("two"))
    run(shell, "r = %agent first\nfor i in range(1):\n    s = %agent second?")
    assert run(shell, "r.text + s.text") == "onetwo"


def test_a_function_can_ask(shell: Any, play: Any) -> None:
    play(says("from inside"))
    cell = "def ask():\n    answer = %agent what?\n    return answer.text\nask()"
    assert run(shell, cell) == "from inside"


def test_an_async_function_can_ask(shell: Any, play: Any) -> None:
    play(says("from inside"))
    cell = "async def ask():\n    r = %agent what?\n    return r.text\nawait ask()"
    assert run(shell, cell) == "from inside"


def test_quiet_shows_no_view(shell: Any, play: Any, capsys: pytest.CaptureFixture[str]) -> None:
    play(says("unseen"))
    run(shell, "r = %agent --quiet hi")
    assert capsys.readouterr().out == ""


def test_a_terminal_shows_the_model_the_text_the_tools_and_the_end(
    shell: Any, play: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("x")
    play(calls("read", {"path": "a.txt"}, text="Let me look."), says("An x.", chunk=2))
    run(shell, "%agent what is in a.txt?")
    shown = capsys.readouterr().out
    assert "scripted/script answers because no model" not in shown
    assert "scripted/script answers because it was asked for" in shown
    assert (
        'Let me look.\n[read] {"path": "a.txt"}\nAn x.\n[scripted/script · 2 turns · 1 tool ·'
        in shown
    )


def test_output_binds_the_result(shell: Any, play: Any) -> None:
    play(says("kept"))
    run(shell, "%agent -o answer --quiet hi")
    assert shell.user_ns["answer"].text == "kept"


@pytest.mark.parametrize("cell", ["%agent hi", "r = %agent hi", "%%agent\nhi", "%agent -b hi"])
def test_loading_and_asking_needs_no_page(shell: Any, play: Any, cell: str) -> None:
    session = play(says("ok"))
    run(shell, cell)
    session.wait_for_idle().result()
    assert session.runs[-1].text == "ok"


def test_background_gives_a_handle_at_once(shell: Any, play: Any) -> None:
    play(says("slow answer", chunk=1, delay_s=0.01))
    handle = run(shell, "%agent --background --quiet --output kept hi")
    assert not handle.done()
    assert shell.user_ns["kept"] is handle
    assert handle.result().text == "slow answer"


def test_a_busy_session_says_what_can_be_done(shell: Any, play: Any) -> None:
    play(says("slow answer", chunk=1, delay_s=0.01))
    handle = run(shell, "%agent --background --quiet hi")
    failed = shell.run_cell("%agent more")
    assert "A run is going on" in str(failed.error_in_exec)
    handle.result()


def test_a_failed_run_is_one_line(
    shell: Any, play: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    session = play(fails("The key is not valid (401).", 401))
    failed = shell.run_cell("r = %agent --output kept --quiet hi")
    assert not failed.success
    assert capsys.readouterr().out.strip() == "AgentRunError: The key is not valid (401)."
    assert failed.error_in_exec.result is session.runs[-1] is shell.user_ns["kept"]


def test_the_session_is_usable_after_a_failure(shell: Any, play: Any) -> None:
    play(fails("no", 400), says("better"))
    assert not shell.run_cell("%agent hi").success
    assert run(shell, "%agent hi").text == "better"


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("%agent --modle x hi", "AgentUsageError: There is no option --modle; the nearest is"),
        ("%agent --model nobody/nothing hi", "ConfigError: "),
        ("%agent --tools read,banana hi", "ConfigError: There is no tool 'banana'."),
        ("%agent --allow banana hi", "AgentUsageError: allow banana: there is no such tool"),
        ("%agent --max-cost 1 --model ollama/any hi", "ConfigError: The prices of ollama/any"),
        ("# comment\n%%agent\nhi", "AgentUsageError: %%agent must be the first line"),
    ],
)
def test_what_cannot_be_meant_is_one_line(
    shell: Any, play: Any, capsys: pytest.CaptureFixture[str], cell: str, line: str
) -> None:
    play(says("never"))
    assert not shell.run_cell(cell).success
    shown = capsys.readouterr().out.strip()
    assert shown.startswith(line)
    assert "\n" not in shown


def test_a_spent_budget_gives_the_result_and_a_warning(
    shell: Any, play: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("x")
    play(calls("read", {"path": "a.txt"}), says("never reached"))
    with pytest.warns(BudgetSpentWarning, match="limit of 1 turns"):
        result = run(shell, "%agent --quiet --max-turns 1 hi")
    assert result.outcome == "budget"
    play(calls("read", {"path": "a.txt"}), says("never reached"))
    with pytest.warns(BudgetSpentWarning):  # each time, not only the first
        run(shell, "%agent --quiet --max-turns 1 hi")


def test_a_time_limit_ends_a_run(shell: Any, play: Any) -> None:
    play(says("never ends " * 1000, chunk=1, delay_s=0.01))
    with pytest.warns(BudgetSpentWarning, match=r"0\.05 seconds"):
        assert run(shell, "%agent --quiet --timeout 0.05 hi").outcome == "budget"


def test_allow_counts_for_one_run(shell: Any, play: Any, tmp_path: Path) -> None:
    write = calls("write", {"path": "b.txt", "content": "x"})
    play(write, says("done"), write, says("refused"))
    run(shell, "%agent --quiet --allow write hi")
    assert (tmp_path / "b.txt").read_text() == "x"
    (tmp_path / "b.txt").unlink()
    result = run(shell, "%agent --quiet hi")
    assert not (tmp_path / "b.txt").exists()
    assert "--allow write" in result.tool_calls[0].text


def test_tools_and_model_stay(shell: Any, play: Any) -> None:
    session = play(says("ok"))
    run(shell, "%agent --tools read,ls --quiet hi")
    assert session.state is not None
    assert session.state.tools == ("read", "ls")
    run(shell, "%agent --model demo/reader")
    run(shell, "%agent --new")
    assert (session.state.tools, session.state.model) == (("read", "ls"), "demo/reader")


def test_new_begins_another_conversation(shell: Any, play: Any) -> None:
    session = play(says("one"), says("two"))
    run(shell, "%agent --quiet first")
    run(shell, "%agent --new --quiet second")
    assert [m.text for m in session.messages if isinstance(m, UserMessage)] == ["second"]
    run(shell, "%agent /new")
    assert session.messages == ()


def test_sessions_have_names(shell: Any, play: Any) -> None:
    main, plots = play(says("main")), play(says("plots"), name="plots")
    assert run(shell, "%agent --quiet -s plots hi").text == "plots"
    assert run(shell, "%agent --quiet hi").text == "main"
    assert (len(main.runs), len(plots.runs)) == (1, 1)


def test_alone_it_says_where_things_stand(
    shell: Any, play: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play()
    assert run(shell, "%agent") is None
    shown = capsys.readouterr().out
    assert "scripted/script answers because it was asked for; nothing leaves" in shown
    assert str(tmp_path) in shown
    assert "%agent your question" in shown


def test_help_names_every_option_and_command(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shell, "%agent /help") is None
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("--max-turns N", "-o NAME", "/model [NAME]", "/new"))


def test_a_command_changes_the_model(
    shell: Any, play: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    session = play()
    run(shell, "%agent /model demo/reader")
    assert session.choice is not None
    assert session.choice.model.key == "demo/reader"
    assert "demo/reader answers" in capsys.readouterr().out
    assert not shell.run_cell("%agent /model nobody/nothing").success


def test_an_unknown_slash_word_is_sent_with_a_note(
    shell: Any, play: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    play(says("ok"), says("ok"))
    assert run(shell, "%agent /undo that").question == "/undo that"
    assert "There is no command /undo; it was sent as text" in capsys.readouterr().out
    run(shell, "%agent /etc/hosts has what?")
    assert "no command" not in capsys.readouterr().out


def test_a_cell_of_another_magic_can_ask(shell: Any, play: Any) -> None:
    play(says("inside"))
    run(shell, "%%capture captured\nr = %agent hi?")
    assert run(shell, "r.text") == "inside"


def test_usage_of_both_answers_is_summed(shell: Any, play: Any) -> None:
    play(says("ok", usage=Usage(input=3, output=4, total_tokens=7)))
    assert run(shell, "%agent --quiet hi").usage.total_tokens == 7
