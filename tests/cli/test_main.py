import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_nb.cli.main import main

README = "# Tidepool\n\nTidepool counts crabs. It reads photographs. It writes a table.\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a README, an empty agent directory, and no keys."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "README.md").write_text(README)
    monkeypatch.chdir(work)
    monkeypatch.setenv("AGENT_NB_DIR", str(tmp_path / "agent"))
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "stdin", None)
    return work


def test_print_mode_writes_only_the_answer(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    code = main(["-p", "Introduce README.md in three sentences.", "--no-session"])
    out = capfdbinary.readouterr().out.decode()
    assert code == 0
    assert "Tidepool counts crabs. It reads photographs. It writes a table." in out


def test_json_mode_writes_one_record_a_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    code = main(["--mode", "json", "list the files", "--no-session"])
    records = [json.loads(line) for line in capfdbinary.readouterr().out.split(b"\n") if line]
    assert code == 0
    types = [record["type"] for record in records]
    assert types[:3] == ["session", "agent_start", "turn_start"]
    assert types[-1] == "agent_settled"
    end = next(record for record in records if record["type"] == "tool_execution_end")
    assert set(end) == {"type", "toolCallId", "toolName", "result", "isError", "durationMs"}
    assert set(end["result"]) <= {"content", "details"}


def test_a_session_is_kept_and_continued(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["Introduce README.md in one sentence."]) == 0
    assert main(["-c", "and what does it write?"]) == 0
    assert "It writes a table." in capfdbinary.readouterr().out.decode()
    sessions = list(Path(os.environ["AGENT_NB_DIR"]).glob("sessions/*/*.jsonl"))
    assert len(sessions) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--frobnicate", "x"], "--frobnicate"),
        (["--mode", "video", "x"], "video"),
        (["--model", "demo/nosuch", "x"], "no model 'nosuch'"),
        (["--model", "anthropic/claude-sonnet-4-5", "x"], "Set ANTHROPIC_API_KEY"),
        (["--provider", "anthropic", "x"], "--provider needs --model"),
        (["@missing.txt", "x"], "Cannot read @missing.txt"),
        (["--tools", "read,+bash", "x"], "not both"),
        ([], "nothing to ask"),
    ],
)
def test_a_wrong_command_line_is_one_clear_line(
    arguments: list[str], expected: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(arguments) == 1
    captured = capfdbinary.readouterr()
    assert captured.out == b""
    [line] = captured.err.decode().splitlines()
    assert expected in line


def test_a_server_that_is_down_is_one_clear_line(
    place: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    agent = Path(os.environ["AGENT_NB_DIR"])
    agent.mkdir()
    provider = {
        "baseUrl": "http://127.0.0.1:9/v1",
        "api": "openai-completions",
        "models": [{"id": "m"}],
    }
    (agent / "models.json").write_text(json.dumps({"providers": {"own": provider}}))
    (agent / "settings.json").write_text('{"retry": {"enabled": false}}')
    assert main(["--model", "own/m", "hi"]) == 1
    [line] = capfdbinary.readouterr().err.decode().splitlines()
    assert "http://127.0.0.1:9" in line
    assert "cannot be reached" in line


def test_models_are_listed(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["--list-models", "demo"]) == 0
    assert capfdbinary.readouterr().out == b"demo/reader\n"


@pytest.mark.slow
def test_sigterm_stops_the_run_and_what_happened_is_stored(place: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "agent_nb", "--mode", "json", "introduce README.md"],
        cwd=place,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["type"] == "message_update":
                process.send_signal(signal.SIGTERM)
                break
        process.stdout.read()
        assert process.wait(10) == 143
    [session] = (tmp_path / "agent").glob("sessions/*/*.jsonl")
    last = json.loads(session.read_text().splitlines()[-1])
    assert last["message"]["stopReason"] == "aborted"
