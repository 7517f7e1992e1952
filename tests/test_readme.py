"""README says only what is true: its commands, options, providers and code."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from agent_nb.providers.catalog import HOSTED, LOCAL

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[>=<\[]", line, maxsplit=1)[0] for line in project["dependencies"]]
    table = README.split("Why each dependency is there:")[1]
    assert [name for name in names if name not in table] == []


def test_every_provider_and_local_server_is_named() -> None:
    variables = [hosted.variables[0] for hosted in HOSTED.values()]
    assert [name for name in [*variables, *LOCAL] if name not in README] == []


def test_pictures_and_files_it_names_exist() -> None:
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    named = re.findall(r"(?<![\w/])(?:notebooks|tests|\.ci)/[\w./-]+\w", README)
    assert [path for path in {*linked, *named} if not (ROOT / path).exists()] == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one file, and nothing of the user's around."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENT_NB_DIR", str(tmp_path / ".agent"))
    (tmp_path / "a.csv").write_text("x\n1\n")
    return tmp_path


def block_with(text: str) -> str:
    [block] = [block for block in BLOCKS if text in block]
    return block


def test_the_program_runs(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block_with("asyncio.run")],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert "There is 1 file" in done.stdout
    assert "done" in done.stdout


async def test_the_lesson_runs(folder: Path) -> None:
    names: dict[str, Any] = {}
    source = block_with("ScriptedProvider")
    code = compile(source, "README", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    await eval(code, names)
    assert names["result"].tool_calls[0].name == "ls"
    assert "a.csv" in names["result"].tool_calls[0].text


@pytest.mark.slow
def test_the_notebook_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_NB_DIR", str(tmp_path / "agent"))
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    (tmp_path / "README.md").write_text(README)
    blocks = [block for block in BLOCKS if "create_session" not in block]
    cells = [new_code_cell(block) for block in blocks]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "MIT licence" in str(cells[1].outputs)
