"""Shipped notebooks run from top to bottom, and read well without a kernel."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted(ROOT.glob("notebooks/**/*.ipynb"))
MIMES = {"text/html", "text/markdown", "text/plain"}


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]


def everything_shown(notebook: nbformat.NotebookNode) -> str:
    parts = [
        o.get("text", "") + "".join(map(str, o.get("data", {}).values())) for o in outputs(notebook)
    ]
    return "\n".join(parts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_its_saved_copy_shows(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "project"
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "bench")
    shutil.copytree(ROOT, copy, ignore=ignored)
    saved = nbformat.read(path, 4)
    fresh = nbformat.read(path, 4)
    where = copy / path.relative_to(ROOT).parent
    NotebookClient(fresh, timeout=120, resources={"metadata": {"path": str(where)}}).execute()
    kinds = [[o.output_type for o in cell.get("outputs", [])] for cell in saved.cells]
    assert [[o.output_type for o in cell.get("outputs", [])] for cell in fresh.cells] == kinds
    assert "error" not in {o.output_type for o in outputs(fresh)}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_saved_notebook_needs_no_kernel_no_network_and_no_widget(path: Path) -> None:
    saved = nbformat.read(path, 4)
    assert "widgets" not in saved.metadata
    transcripts = [o.data for o in outputs(saved) if "text/html" in o.get("data", {})]
    assert transcripts
    assert all(set(data) == MIMES for data in transcripts)
    shown = everything_shown(saved)
    assert not re.search(r"<script|<style|<link|https?://[^\s\"'<>]+\.(?:js|css)", shown)
    assert not re.search(r"/(?:home|root|tmp|Users|work)/", shown)
