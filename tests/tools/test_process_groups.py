import gc
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
from processes import ends, is_gone, running

from agent_nb.tools.process_groups import ProcessGroups

PROGRAM = """
    import asyncio, os, sys, threading
    from pathlib import Path
    from agent_nb.core.abort import AbortSignal
    from agent_nb.core.tool import ToolContext
    from agent_nb.tools.bash import run_command
    from agent_nb.tools.process_groups import ProcessGroups

    groups = ProcessGroups()

    async def main():
        context = ToolContext(
            cwd=Path("."),
            signal=AbortSignal(),
            environment=dict(os.environ),
            update=lambda result: print(result.text, end="", flush=True),
        )
        await run_command(groups, sys.argv[1], context)
        if len(sys.argv) > 2:
            sys.exit(0)
        await run_command(groups, "echo done; sleep 100", context)

    # In a thread that is not the main one, as in a notebook.
    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    thread.join()
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(
    "command",
    [
        "echo $$; sleep 100; true",
        "trap '' TERM; echo $$; sleep 100; sleep 100",
        "bash -c 'echo $$; sleep 100; true' | cat",
        "bash -c 'sleep 100' >/dev/null 2>&1 & echo $!",
        "setsid sh -c 'echo $$; exec sleep 100 >/dev/null 2>&1' &",
    ],
)
def test_a_killed_kernel_leaves_no_child(number: int, command: str) -> None:
    with start(command) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        family = [pid, *(child.pid for child in psutil.Process(process.pid).children(True))]
        process.send_signal(number)
        process.wait()
        assert all(ends(pid) for pid in family)


@pytest.mark.slow
def test_a_kernel_that_ends_takes_the_background_with_it() -> None:
    with start("trap '' TERM; sleep 100 >/dev/null 2>&1 & echo $!", "end") as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.wait()
        assert ends(pid)


async def background(groups: ProcessGroups, tmp_path: Path, command: str = "") -> int:
    """Start something that stays, and return its process id."""
    command = command or f"sleep 100 >/dev/null 2>&1 & echo $! > {tmp_path}/pid"
    child = await groups.start(
        "/bin/sh", command.encode(), cwd=tmp_path, environment=dict(os.environ)
    )
    assert await child.read() == b""
    await child.exited.wait()
    groups.release(child)
    return int((tmp_path / "pid").read_text())


async def test_when_the_groups_are_garbage_their_processes_end(tmp_path: Path) -> None:
    groups = ProcessGroups()
    pid = await background(groups, tmp_path)
    assert not is_gone(pid)
    del groups
    gc.collect()
    assert ends(pid)


async def test_what_has_left_its_group_lives_until_close(tmp_path: Path) -> None:
    groups, others = ProcessGroups(), ProcessGroups()
    leaving = "setsid sh -c 'echo $$ > pid; exec sleep 100' >/dev/null 2>&1 &"
    pid = await background(groups, tmp_path, f"{leaving} until [ -s pid ]; do sleep 0.01; done")
    assert os.getpgid(pid) == pid
    other = await background(others, tmp_path)
    groups.close()
    assert ends(pid)
    assert not is_gone(other)
    others.close()


async def test_a_watcher_that_was_ended_is_replaced(tmp_path: Path) -> None:
    groups = ProcessGroups()
    first = await background(groups, tmp_path)
    watcher = groups._watcher._process
    assert watcher is not None
    watcher.kill()
    watcher.wait()
    second = await background(groups, tmp_path)
    assert not is_gone(first)
    groups.close()
    assert ends(first)
    assert ends(second)


async def test_groups_that_ended_are_forgotten(tmp_path: Path) -> None:
    groups = ProcessGroups()
    child = await groups.start("/bin/sh", b"true", cwd=tmp_path, environment={})
    await child.exited.wait()
    groups.release(child)
    assert not groups._watcher._live
    pid = await background(groups, tmp_path)
    os.kill(pid, signal.SIGKILL)
    assert ends(pid)
    groups._watcher.line()
    assert not groups._watcher._live
    groups.close()


async def test_closing_twice_and_starting_again_is_fine(tmp_path: Path) -> None:
    groups = ProcessGroups()
    groups.close()
    pid = await background(groups, tmp_path)
    groups.close()
    groups.close()
    assert ends(pid)


@pytest.mark.slow
def test_a_fork_of_the_kernel_ends_nothing(tmp_path: Path) -> None:
    fork = """
        if os.fork() == 0:
            sys.exit(0)
        os.wait()
        print("forked", flush=True)
        sys.stdin.read()
    """
    program = textwrap.dedent(PROGRAM) + textwrap.dedent(fork)
    command = "sleep 100 >/dev/null 2>&1 & echo $!"
    with subprocess.Popen(
        [sys.executable, "-c", program, command, "end"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert process.stdout.readline() == "forked\n"
        assert not is_gone(pid)
        process.communicate()
        assert ends(pid)


@pytest.mark.slow
def test_a_kernel_killed_while_it_starts_commands_leaves_none() -> None:
    program = """
        import asyncio, os
        from pathlib import Path
        from agent_nb.tools.process_groups import ProcessGroups

        async def main():
            groups = ProcessGroups()
            while True:
                await groups.start(
                    "/bin/sh", b"sleep 77.7 & sleep 77.7", cwd=Path("."), environment={}
                )
                print("started", flush=True)

        asyncio.run(main())
    """
    for started in range(1, 5):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            for _line in range(started):
                process.stdout.readline()
            watcher = psutil.Process(process.pid).children()[0]
            process.kill()
            process.wait()
            assert ends(watcher.pid)
            assert not running("sleep 77.7")
