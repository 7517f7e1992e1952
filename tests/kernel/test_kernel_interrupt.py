"""Interrupts, waiting cells and queued cells in a real kernel."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels import SETUP, Cell, Kernel, kernel_in

pytestmark = pytest.mark.slow

STOPPED = ["KeyboardInterrupt: The run was interrupted and has stopped."]
TELL = """
session = play(SLOW, says("next"))
session.subscribe(lambda event: event.type == "message_update" and print("GOING", flush=True))
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel_in(tmp_path_factory.mktemp("kernel")) as kernel:
        assert kernel.run(SETUP).status == "ok"
        yield kernel


def interrupted(kernel: Kernel, code: str) -> tuple[Cell, float]:
    """Interrupt a cell in the middle of its answer; return what came of it and the time it took."""
    kernel.forget()
    cell = kernel.send(TELL + code)
    kernel.wait_for(lambda m: "GOING" in m["content"].get("text", ""))
    began = time.monotonic()
    kernel.interrupt()
    return kernel.finish(cell), time.monotonic() - began


@pytest.mark.parametrize(
    "code",
    [
        "%agent --quiet hi",
        "r = %agent --quiet hi",
        "for i in range(3):\n    %agent --quiet hi",
        "def ask():\n    r = %agent --quiet hi\nask()",
        "async def ask():\n    r = %agent --quiet hi\nawait ask()",
        "await session.ask(QUIETLY)",
        "session.ask(QUIETLY).result()",
        "get_ipython().run_line_magic('agent', '--quiet hi')",
        "get_ipython().run_cell('%agent --quiet hi').raise_error()",
    ],
)
def test_an_interrupt_stops_the_run_and_fails_the_cell(kernel: Kernel, code: str) -> None:
    cell, took_s = interrupted(kernel, code)
    assert cell.status == "error"
    assert cell.traceback[-1:] == STOPPED
    assert took_s < 2
    after = kernel.run("session.runs[-1].outcome, len(session.runs), session.is_running")
    assert after.values == ["('stopped', 1, False)"]
    assert kernel.run("r = %agent --quiet again?\nr.text").values == ["'next'"]


def test_a_time_limit_of_the_users_own_is_not_an_interrupt(kernel: Kernel) -> None:
    cell = kernel.run(
        "import asyncio\nplay(SLOW)\ntry:\n    async with asyncio.timeout(0.3):\n"
        "        %agent --quiet hi\nexcept TimeoutError:\n    print('too slow')"
    )
    assert (cell.status, cell.text) == ("ok", "too slow\n")


def test_a_cancelled_task_of_the_users_own_does_not_end_the_kernel(kernel: Kernel) -> None:
    cell = kernel.run(
        "import asyncio\ntask = asyncio.create_task(play(SLOW).ask(QUIETLY)._awaited())\n"
        "await asyncio.sleep(0.3)\ntask.cancel()\nawait asyncio.wait([task])\ntask.cancelled()"
    )
    assert cell.values == ["True"]
    assert kernel.is_alive


def test_an_interrupt_stops_run_all_and_later_cells_run(kernel: Kernel) -> None:
    kernel.forget()
    cell = kernel.send(TELL + "%agent --quiet hi")
    queued = kernel.send("print('must not run')")
    kernel.wait_for(lambda m: "GOING" in m["content"].get("text", ""))
    kernel.interrupt()
    assert kernel.finish(cell).status == "error"
    assert kernel.finish(queued).status == "aborted"
    assert kernel.run("1 + 1").values == ["2"]


def test_a_failed_run_stops_run_all(kernel: Kernel) -> None:
    cell = kernel.send("play(fails('No. Try this.', 400))\n%agent --quiet hi")
    queued = kernel.send("print('must not run')")
    assert kernel.finish(cell).traceback == ["AgentRunError: No. Try this."]
    assert kernel.finish(queued).status == "aborted"


@pytest.mark.parametrize("code", ["%agent --quiet hi", "def f():\n    %agent --quiet hi\nf()"])
def test_cells_queued_during_a_run_come_after_it(kernel: Kernel, code: str) -> None:
    cell = kernel.send(f"play(says('slow', chunk=1, delay_s=0.1))\n{code}")
    queued = [kernel.send(f"len(agent_nb.session().runs), {n}") for n in range(3)]
    assert kernel.finish(cell).status == "ok"
    assert [kernel.finish(c).values for c in queued] == [[f"(1, {n})"] for n in range(3)]


def test_a_run_goes_on_while_a_cell_keeps_the_kernel_busy(kernel: Kernel) -> None:
    kernel.run("s = play(says('x' * 100, chunk=1, delay_s=0.01)); h = s.ask(QUIETLY)")
    busy = kernel.run("import time; time.sleep(2); h.done(), s.runs[-1].duration_s < 1.9")
    assert busy.values == ["(True, True)"]


def test_a_run_in_the_background_can_be_stopped_from_another_cell(kernel: Kernel) -> None:
    kernel.run(TELL + "h = session.ask(QUIETLY)")
    kernel.wait_for(lambda m: "GOING" in m["content"].get("text", ""))
    assert kernel.run("await session.abort(); session.runs[-1].outcome").values == ["'stopped'"]
    assert kernel.run("await h").traceback == ["AgentRunError: The run was stopped."]


def test_children_of_tools_end_with_the_kernel(tmp_path: Path) -> None:
    with kernel_in(tmp_path) as kernel:
        kernel.run(SETUP)
        kernel.run(
            "play(calls('bash', {'command': 'echo $$ > pid; exec sleep 60'}))\n"
            "handle = %agent --background --quiet --allow bash hi"
        )
        pid_file = tmp_path / "work" / "pid"
        kernel.run("import time, pathlib\nwhile not pathlib.Path('pid').exists(): time.sleep(.01)")
        pid = int(pid_file.read_text())
        assert Path(f"/proc/{pid}").exists()
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
