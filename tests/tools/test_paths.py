from pathlib import Path

import pytest

from agent_nb.core.errors import ToolError
from agent_nb.tools.paths import printable, resolve


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a.txt", "a.txt"),
        ("./sub/../a.txt", "a.txt"),
        ("@a.txt", "a.txt"),
        ("@sub/a.txt", "sub/a.txt"),
        ("my\u00a0file\u202fname", "my file name"),
        (".", ""),
    ],
)
def test_paths_are_taken_as_models_mean_them(tmp_path: Path, written: str, meant: str) -> None:
    assert resolve(tmp_path, written) == tmp_path / meant


def test_home_and_file_urls_are_worked_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for written in ("~/a b.txt", "@~/a b.txt", f"file://{tmp_path}/home/a%20b.txt"):
        assert resolve(Path("/elsewhere"), written) == tmp_path / "home" / "a b.txt"
    assert resolve(tmp_path, "~") == tmp_path / "home"
    assert resolve(tmp_path, "~notes") == tmp_path / "~notes"


@pytest.mark.parametrize("name", ["@types", "with\u00a0space", "caf\u0065\u0301"])
def test_a_file_of_the_very_name_wins(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert resolve(tmp_path, name) == tmp_path / name


@pytest.mark.parametrize("written", ["a\0b", "a\ud800"])
def test_what_cannot_be_a_name_is_an_error_for_the_model(tmp_path: Path, written: str) -> None:
    with pytest.raises(ToolError):
        resolve(tmp_path, written)


def test_names_that_are_not_utf8_can_be_shown() -> None:
    name = b"caf\xe9 \xe8\xaa\x9e".decode("utf-8", "surrogateescape")
    assert printable(name) == "caf\ufffd 語"
