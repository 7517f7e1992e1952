import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
from processes import ends, running

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.errors import ToolError
from agent_nb.core.tool import ToolContext, ToolResult
from agent_nb.tools.bash import run_command
from agent_nb.tools.process_groups import ProcessGroups

Call = Callable[..., Awaitable[ToolResult]]


async def aborted_after_start(call: Call, command: str, **more: Any) -> tuple[ToolResult, float]:
    """Run a command, abort it once it has written something; return how long that took."""
    signal, started = AbortSignal(), asyncio.Event()
    context = {"signal": signal, "update": lambda _result: started.set()}
    task = asyncio.ensure_future(call("bash", command=command, with_=context, **more))
    await asyncio.wait_for(started.wait(), 5)
    signal.abort()
    since = time.monotonic()
    return await task, time.monotonic() - since


async def test_stdout_and_stderr_come_merged_in_order(call: Call) -> None:
    result = await call("bash", command="echo one; echo two >&2; echo three")
    assert (result.text, result.details, result.is_error) == ("one\ntwo\nthree\n", None, False)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo before; exit 3", "before\n\nExit code 3"),
        ("printf 'no newline'; false", "no newline\n\nExit code 1"),
        ("exit 4", "Exit code 4"),
        ("kill -9 $$", "Exit code 137"),
        ("kill -TERM $$", "Exit code 143"),
        ("no_such_command_here 2>/dev/null", "Exit code 127"),
    ],
)
async def test_a_failing_command_is_an_error_with_its_output(
    call: Call, command: str, text: str
) -> None:
    result = await call("bash", command=command)
    assert (result.text, result.is_error) == (text, True)


async def test_silence_has_a_placeholder(call: Call) -> None:
    result = await call("bash", command="true")
    assert (result.text, result.is_error) == ("(The command wrote nothing.)", False)


async def test_each_command_starts_afresh_in_the_working_directory(
    call: Call, tmp_path: Path
) -> None:
    await call("bash", command="cd /; export KEPT=yes")
    result = await call("bash", command='echo "[$KEPT]"; pwd')
    assert result.text == f"[]\n{tmp_path}\n"


async def test_only_the_given_environment_reaches_the_command(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    environment = {"GIVEN": "ünï", "LC_ALL": "no_SUCH.locale"}
    result = await call(
        "bash", command="echo $GIVEN$SOME_API_KEY", with_={"environment": environment}
    )
    assert result.text.endswith("ünï\n")


async def test_there_is_no_input_to_wait_for(call: Call) -> None:
    result = await call("bash", command="cat; read -r line; echo $?")
    assert result.text == "1\n"


async def test_bytes_are_kept_as_far_as_they_are_text(call: Call) -> None:
    command = r"printf '\033[31mred\033[0m \377 \344 \360\237'; printf '\230\200 語'"
    result = await call("bash", command=command)
    assert result.text == "\x1b[31mred\x1b[0m \ufffd \ufffd 😀 語"


async def test_long_output_is_cut_to_its_end_and_kept_in_a_file(call: Call) -> None:
    command = 'for i in $(seq 1 6000); do echo "row-$i-"; done; exit 5'
    result = await call("bash", command=command)
    path = result.details["fullOutputPath"]
    assert result.text.startswith("row-4001-\n")
    assert result.text.endswith(
        f"row-6000-\n\n[Lines 4001-6000 of 6000. Full output: {path}]\n\nExit code 5"
    )
    assert result.details["truncation"]["totalLines"] == 6000
    assert Path(path).read_text().count("\n") == 6000
    Path(path).unlink()


async def test_output_is_shown_while_it_comes_at_most_ten_times_a_second(call: Call) -> None:
    shown: list[tuple[float, str]] = []
    context = {"update": lambda result: shown.append((time.monotonic(), result.text))}
    command = "for i in $(seq 1 25); do echo $i; sleep 0.01; done"
    await call("bash", command=command, with_=context)
    assert shown[0][1] == "1\n"
    assert len(shown) > 2
    gaps = [after - before for (before, _), (after, _) in pairwise(shown)]
    assert min(gaps) > 0.09


async def test_a_flood_is_shown_too_and_does_not_pile_up(call: Call) -> None:
    signal, updates = AbortSignal(), 0

    def update(_result: ToolResult) -> None:
        nonlocal updates
        updates += 1
        if updates == 3:
            signal.abort()

    result = await call("bash", command="yes", with_={"signal": signal, "update": update})
    assert result.text.endswith("\n\nThe command was aborted by the user.")
    Path(result.details["fullOutputPath"]).unlink()


async def test_a_timeout_is_an_error_with_the_output_so_far(call: Call) -> None:
    since = time.monotonic()
    result = await call("bash", command="echo begun; sleep 30.1; echo never", timeout=0.2)
    assert time.monotonic() - since < 1
    assert result.text == "begun\n\nThe command was ended after its timeout of 0.2 seconds."
    assert result.is_error
    assert not running("sleep 30.1")


async def test_a_timeout_reaches_what_writes_on_after_the_shell(call: Call) -> None:
    command = "(while :; do echo tick; sleep 0.05; done) & exit 3"
    result = await call("bash", command=command, timeout=0.3)
    assert "timeout of 0.3 seconds. The shell itself had ended before, with exit code 3" in (
        result.text
    )
    assert result.text.startswith("tick\n")


async def test_an_abort_ends_the_command_and_keeps_its_output(call: Call) -> None:
    result, took_s = await aborted_after_start(call, "echo begun; sleep 60.2")
    assert result.text == "begun\n\nThe command was aborted by the user."
    assert result.is_error
    assert took_s < 1
    assert not running("sleep 60.2")


async def test_an_abort_ends_children_and_their_children(call: Call) -> None:
    command = "echo go; (sleep 60.3; true) | (sleep 60.3; true) & bash -c 'sleep 60.3; true'"
    _result, took_s = await aborted_after_start(call, command)
    assert took_s < 1
    assert not running("sleep 60.3")


async def test_a_command_may_clean_up_when_it_is_aborted(call: Call) -> None:
    command = "trap 'echo cleaned; exit' TERM; echo go; sleep 60.4 & wait"
    result, took_s = await aborted_after_start(call, command)
    assert result.text.startswith("go\ncleaned\n")
    assert took_s < 1


async def test_a_command_that_ignores_the_request_is_killed(call: Call) -> None:
    command = "trap '' TERM; echo go; while :; do sleep 60.5; done"
    _result, took_s = await aborted_after_start(call, command)
    assert took_s < 1.5
    assert not running("sleep 60.5")


async def test_an_abort_reaches_what_has_left_the_group_and_keeps_its_output(call: Call) -> None:
    command = "echo early; setsid sh -c 'while :; do echo z; sleep 0.055; done'"
    result, took_s = await aborted_after_start(call, command)
    assert result.text.startswith("early\n")
    assert took_s < 0.9
    assert not running("sh -c while :; do echo z; sleep 0.055; done")


async def test_what_cannot_be_ended_holds_nothing_up(call: Call, tmp_path: Path) -> None:
    command = (
        "trap '' TERM; echo early; "
        f'setsid env -i sh -c \'trap "" TERM; echo $$ > {tmp_path}/pid; '
        "while :; do echo z; sleep 0.056; done'; while :; do sleep 1; done"
    )
    result, took_s = await aborted_after_start(call, command)
    os.kill(int((tmp_path / "pid").read_text()), SIGKILL)
    assert result.text.startswith("early\n")
    assert took_s < 0.9


async def test_after_an_abort_nothing_is_started(call: Call, tmp_path: Path) -> None:
    signal = AbortSignal()
    signal.abort()
    with pytest.raises(Aborted):
        await call("bash", command="touch made", with_={"signal": signal})
    assert not (tmp_path / "made").exists()


async def test_a_cancelled_command_leaves_nothing_behind(call: Call) -> None:
    pid: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    context = {"update": lambda result: pid.set_result(int(result.text))}
    command = "trap '' TERM; (echo $BASHPID; sleep 60.6; sleep 60.6) | cat"
    task = asyncio.ensure_future(call("bash", command=command, with_=context))
    await asyncio.wait_for(pid, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends(pid.result())
    assert not running("sleep 60.6")


async def test_what_runs_in_the_background_holds_nothing_up_and_lives_on(
    call: Call, groups: ProcessGroups
) -> None:
    since = time.monotonic()
    result = await call("bash", command="sleep 300.1 & echo hi")
    assert result.text == "hi\n"
    assert time.monotonic() - since < 1
    assert len(running("sleep 300.1")) == 1
    await call("bash", command="true")
    assert len(running("sleep 300.1")) == 1
    groups.close()
    assert not running("sleep 300.1")


async def test_output_after_the_shell_is_read_until_a_pause(call: Call) -> None:
    command = "(for i in 1 2 3 4 5; do sleep 0.02; echo late $i; done; sleep 300.2) & echo hi"
    result = await call("bash", command=command)
    assert result.text == "hi\n" + "".join(f"late {i}\n" for i in range(1, 6))


async def test_output_is_not_lost_while_the_loop_is_busy(call: Call) -> None:
    loop = asyncio.get_running_loop()
    loop.call_later(0.02, time.sleep, 0.4)  # longer than the silence that ends the output
    command = "(sleep 0.1; echo late; sleep 300.3) & sleep 0.05; echo hi"
    assert (await call("bash", command=command)).text == "hi\nlate\n"


async def test_commands_run_side_by_side(call: Call) -> None:
    since = time.monotonic()
    await asyncio.gather(*(call("bash", command="sleep 0.3") for _ in range(5)))
    assert time.monotonic() - since < 1


@pytest.mark.parametrize(
    ("command", "context", "message"),
    [
        ("echo \0", {}, "NUL"),
        ("true", {"cwd": Path("/no/such/place")}, "/no/such/place does not exist"),
        ("true", {"environment": {"PATH": "/nowhere"}}, "No bash was found"),
        (": " + "x" * 3_000_000, {}, "cannot be started: Argument list too long"),
    ],
)
async def test_what_cannot_be_started_is_an_error(
    call: Call, command: str, context: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        await call("bash", command=command, with_=context)


async def test_without_bash_the_plain_shell_is_used(call: Call, tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    result = await call("bash", command="echo here", with_={"environment": {"PATH": str(tmp_path)}})
    assert result.text == "here\n"


async def test_half_characters_in_a_command_do_no_harm(call: Call) -> None:
    assert (await call("bash", command="echo '\ud83d\ude00 \ud83d'")).text == "😀 \ufffd\n"


async def test_the_outcome_of_a_command_is_there_for_other_callers(
    groups: ProcessGroups, tmp_path: Path
) -> None:
    context = ToolContext(cwd=tmp_path, signal=AbortSignal(), environment=dict(os.environ))
    outcome = await run_command(groups, "echo hi; exit 2", context)
    assert (outcome.ended, outcome.exit_code) == ("exited", 2)
    assert outcome.output.truncation.content == "hi\n"
    outcome = await run_command(groups, "sleep 30", context, timeout_s=0.1)
    assert (outcome.ended, outcome.exit_code) == ("timed out", None)
