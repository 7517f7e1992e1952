import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_nb.cli.main import main

pytestmark = pytest.mark.slow

Process = subprocess.Popen[bytes]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """RPC mode in a process of its own, in a directory with a README, answered by the demo."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "README.md").write_text("# Tidepool\n\nTidepool counts crabs. It writes a table.\n")
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "settings.json").write_text('{"demoWordsPerSecond": 5}')
    environment = {
        "PATH": os.environ["PATH"],
        "AGENT_NB_DIR": str(agent),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "agent_nb", "--mode", "rpc"],
        cwd=work,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as started:
        yield started
        started.kill()


def send(process: Process, **command: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(command).encode() + b"\n")
    process.stdin.flush()


def wait(process: Process, kind: str, **expected: Any) -> dict[str, Any]:
    assert process.stdout is not None
    for line in process.stdout:
        record: dict[str, Any] = json.loads(line)
        if record["type"] == kind and expected.items() <= record.items():
            return record
    raise AssertionError(f"the process ended without {kind}")


def rest(process: Process) -> list[dict[str, Any]]:
    assert process.stdout is not None
    return [json.loads(line) for line in process.stdout]


def stored(tmp_path: Path) -> list[dict[str, Any]]:
    [session] = (tmp_path / "agent").glob("sessions/*/*.jsonl")
    return [json.loads(line) for line in session.read_text().splitlines()]


def start_run(process: Process) -> None:
    """Start a run of which the answer takes long."""
    send(process, type="prompt", message="introduce README.md")
    wait(process, "message_update")


def test_the_end_of_the_commands_ends_the_process(process: Process, tmp_path: Path) -> None:
    start_run(process)
    assert process.stdin is not None
    process.stdin.close()
    rest(process)
    assert process.wait(10) == 0
    assert stored(tmp_path)[-1]["message"]["stopReason"] == "aborted"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stores_what_happened_and_ends_the_process(
    process: Process, tmp_path: Path, number: signal.Signals
) -> None:
    start_run(process)
    process.send_signal(number)
    records = rest(process)
    assert process.wait(10) == 128 + number
    assert "agent_settled" not in [record["type"] for record in records]
    assert stored(tmp_path)[-1]["message"]["stopReason"] == "aborted"


def test_commands_end_with_the_process(process: Process, tmp_path: Path) -> None:
    send(process, type="bash", command="echo $$; exec sleep 100")
    pid = int(wait(process, "bash_execution_update")["delta"])
    process.send_signal(signal.SIGTERM)
    rest(process)
    assert process.wait(10) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_whole_conversation_goes_over_the_pipes(process: Process) -> None:
    send(process, id="1", type="prompt", message="Introduce README.md in one sentence.")
    assert wait(process, "response", id="1")["success"]
    wait(process, "agent_settled")
    send(process, id="2", type="get_last_assistant_text")
    assert "Tidepool counts crabs." in wait(process, "response", id="2")["data"]["text"]
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""


def test_prompts_are_not_taken_from_the_command_line(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert main(["--mode", "rpc", "Hello"]) == 1
    assert b"commands on standard input" in capfdbinary.readouterr().err
