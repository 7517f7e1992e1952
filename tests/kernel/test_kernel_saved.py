"""Notebooks that are executed without a page, and what can be read of them afterwards."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter, MarkdownExporter
from papermill.exceptions import PapermillExecutionError

import agent_nb

pytestmark = pytest.mark.slow

README = "# Tidy\n\nTidy is a small tool that sorts files by date.\n\n## Licence\n\nMIT\n"
ASK = "%agent --model demo/reader Please read README.md and introduce the project."
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "README.md").write_text(README)
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(Path(agent_nb.__file__).parents[1]))
    monkeypatch.setenv("AGENT_NB_DIR", str(tmp_path / "agent"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    return directory


def notebook(*cells: str) -> Any:
    sources = ["%load_ext agent_nb", *cells]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in sources])
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def executed(project: Path, *cells: str) -> Any:
    made = notebook(*cells)
    NotebookClient(made, resources={"metadata": {"path": str(project)}}, timeout=60).execute()
    return made


def test_nbclient_gets_the_transcript_and_no_widget(project: Path) -> None:
    made = executed(project, ASK, "%agent how many lines has README.md?")
    outputs = [output for cell in made.cells for output in cell.outputs]
    assert len(outputs) == 2
    assert all(WIDGET not in output.data for output in outputs)
    assert "sorts files by date" in outputs[0].data["text/markdown"]
    assert "widgets" not in made.metadata


def test_what_was_executed_converts_to_a_page_and_to_markdown(project: Path) -> None:
    made = executed(project, ASK)
    page, _ = HTMLExporter().from_notebook_node(made)
    markdown, _ = MarkdownExporter().from_notebook_node(made)
    assert "sorts files by date" in page
    assert "sorts files by date" in markdown
    assert "widget-view" not in page


def test_papermill_runs_in_the_directory_it_is_given(project: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(notebook(ASK), source)
    papermill.execute_notebook(source, target, cwd=project, progress_bar=False)
    outputs = nbformat.read(target, as_version=4).cells[1].outputs
    assert "sorts files by date" in outputs[0].data["text/markdown"]


def test_a_failed_run_ends_the_execution_with_one_line(project: Path) -> None:
    with pytest.raises(CellExecutionError, match=r"No key for anthropic\. Set ANTHROPIC_API_KEY"):
        executed(project, "%agent --model anthropic/claude-sonnet-4-5 hi", "1 / 0")


def test_papermill_stops_at_a_failed_run(project: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.ipynb"
    nbformat.write(notebook("%agent --nonsense hi", "1 / 0"), source)
    with pytest.raises(PapermillExecutionError, match="There is no option --nonsense"):
        papermill.execute_notebook(source, tmp_path / "out.ipynb", progress_bar=False)
