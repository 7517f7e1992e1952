"""nbclient, papermill and nbconvert: answer and tool log are there, nothing waits for a person."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.slow

README = "# Tidepool\n\nTidepool counts crabs. It reads photographs. It writes a table.\n"
ANSWER = "Tidepool counts crabs. It reads photographs. It writes a table."
ASK = "%agent --model demo/reader Introduce README.md in three sentences."
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("AGENT_NB_DIR", str(tmp_path / "agent"))
    work = tmp_path / "work"
    work.mkdir()
    (work / "README.md").write_text(README)
    return work


def notebook(*cells: str) -> nbformat.NotebookNode:
    code = [new_code_cell(cell) for cell in ("%load_ext agent_nb", *cells)]
    return new_notebook(cells=code, metadata={"kernelspec": KERNEL})


def run(nb: nbformat.NotebookNode, place: Path) -> nbformat.NotebookNode:
    client = NotebookClient(nb, timeout=60, resources={"metadata": {"path": str(place)}})
    client.execute()
    return nb


def test_nbclient_gets_the_answer_and_the_tool_log_without_a_widget(place: Path) -> None:
    nb = run(notebook(ASK), place)
    [output] = nb.cells[1].outputs
    for text in output.data.values():
        assert ANSWER in re.sub(r"<[^>]+>", "", text)
        assert "read" in text
    assert "widgets" not in nb.metadata


def test_a_refused_tool_names_the_option_instead_of_waiting(place: Path) -> None:
    code = (
        "import agent_nb\n"
        "from agent_nb.providers.scripted import ScriptedProvider, calls, says\n"
        "s = await agent_nb.create_session(model='scripted/script', gate='notebook',"
        " all_tools=True, no_session=True, providers={'scripted':"
        " ScriptedProvider(calls('bash', {'command': 'touch made'}), says('ok'))},"
        " models=[agent_nb.providers.scripted.SCRIPTED_MODEL])\n"
        "print((await s.prompt('go')).tool_calls[0].text)"
    )
    nb = run(notebook(code), place)
    assert "--allow bash" in nb.cells[1].outputs[0].text
    assert not (place / "made").exists()


def test_a_failed_run_fails_its_cell_with_one_line_and_stops_the_notebook(place: Path) -> None:
    nb = notebook("%agent --model demo/nosuch hi", "print('not reached')")
    with pytest.raises(CellExecutionError):
        run(nb, place)
    [error] = [o for o in nb.cells[1].outputs if o.output_type == "error"]
    assert "nosuch" in error.evalue
    assert len("\n".join(error.traceback).splitlines()) <= 2
    assert nb.cells[2].outputs == []


def test_papermill_runs_a_notebook_with_the_agent(place: Path) -> None:
    source, target = place / "in.ipynb", place / "out.ipynb"
    nbformat.write(notebook(ASK), source)
    command = [sys.executable, "-m", "papermill", "--cwd", str(place), str(source), str(target)]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert ANSWER in str(nbformat.read(target, 4).cells[-1].outputs)


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_nbconvert_shows_answer_and_tool_log_and_loads_nothing_for_them(
    place: Path, form: str
) -> None:
    source = place / "in.ipynb"
    nbformat.write(run(notebook(ASK), place), source)
    command = [sys.executable, "-m", "nbconvert", "--to", form, "--stdout", str(source)]
    done = subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    text = done.stdout.decode()
    assert ANSWER in re.sub(r"<[^>]+>", "", text)
    assert "README.md" in text
    assert "jupyter-widgets" not in text.split("<body", 1)[-1]
