"""Where a notebook's session works."""

from pathlib import Path

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.kernel.directory import notebook_directory


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "my 数据" / "a notebook.ipynb"
    path.parent.mkdir()
    path.write_text("{}")
    return path


def test_what_was_asked_for_wins(notebook: Path, tmp_path: Path) -> None:
    environment = {"JPY_SESSION_NAME": str(notebook)}
    assert notebook_directory({}, environment, explicit=tmp_path) == tmp_path.resolve()


def test_vs_code_names_the_notebook_among_its_variables(notebook: Path) -> None:
    assert notebook_directory({"__vsc_ipynb_file__": str(notebook)}, {}) == notebook.parent


def test_the_server_names_the_notebook_in_the_environment(notebook: Path) -> None:
    assert notebook_directory({}, {"JPY_SESSION_NAME": str(notebook)}) == notebook.parent


def test_a_renamed_notebook_leaves_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {"JPY_SESSION_NAME": str(tmp_path / "old name.ipynb")}
    assert notebook_directory({}, environment) == tmp_path.resolve()


@pytest.mark.parametrize("name", ["", "relative.ipynb", "f3b1c2"])
def test_a_session_name_that_is_no_path_is_not_used(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "relative.ipynb").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert notebook_directory({}, {"JPY_SESSION_NAME": name}) == tmp_path.resolve()


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere: it does not exist, a directory is needed"):
        notebook_directory({}, {}, explicit=tmp_path / "nowhere")


def test_a_file_is_no_directory(notebook: Path) -> None:
    with pytest.raises(ConfigError, match="it is a file"):
        notebook_directory({}, {}, explicit=notebook)


def test_a_working_directory_that_is_gone_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match=r"os\.chdir"):
        notebook_directory({}, {})
