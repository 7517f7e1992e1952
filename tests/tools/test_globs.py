import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.core.errors import ToolError
from agent_nb.tools.globs import file_name_glob, glob_regex

PATHS = ["a.py", "src/a.py", "src/deep/b.py", "src/c.txt", ".hidden", "x/.hid/d.py", "A.PY"]


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("*.py", ["a.py", "src/a.py", "src/deep/b.py", "x/.hid/d.py"]),
        ("a.py", ["a.py", "src/a.py"]),
        ("./a.py", ["a.py", "src/a.py"]),
        ("/a.py", ["a.py"]),
        ("src/*.py", ["src/a.py"]),
        ("./src/*.py", ["src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/b.py"]),
        ("src/**", ["src/a.py", "src/deep/b.py", "src/c.txt"]),
        ("src/", ["src/a.py", "src/deep/b.py", "src/c.txt"]),
        ("**/deep/*", ["src/deep/b.py"]),
        ("**/src/**/b.py", ["src/deep/b.py"]),
        ("*.{txt,PY}", ["src/c.txt", "A.PY"]),
        ("{src,x}/**/*.py", ["src/a.py", "src/deep/b.py", "x/.hid/d.py"]),
        ("[ab].py", ["a.py", "src/a.py", "src/deep/b.py"]),
        ("[!a].py", ["src/deep/b.py", "x/.hid/d.py"]),
        ("[^a-c].py", ["x/.hid/d.py"]),
        ("?.py", ["a.py", "src/a.py", "src/deep/b.py", "x/.hid/d.py"]),
        (".*", [".hidden"]),
        ("src?a.py", []),
        ("src[/]a.py", []),
        ("**", PATHS),
        ("*", PATHS),
    ],
)
def test_globs_match_as_ripgrep_and_fd_have_it(pattern: str, matched: list[str]) -> None:
    regex = glob_regex(pattern)
    assert [path for path in PATHS if regex.fullmatch(path)] == matched
    name_glob = file_name_glob(pattern)
    if name_glob:
        names = glob_regex(name_glob)
        assert all(names.fullmatch(path) for path in matched)


def test_case_can_be_ignored() -> None:
    assert glob_regex("*.py", ignore_case=True).fullmatch("A.PY")
    assert file_name_glob("src/*.py", ignore_case=True) == "*.[pP][yY]"


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (r"\*.py", "*.py"),
        ("a+b(c).py", "a+b(c).py"),
        ("a,b", "a,b"),
        ("a}b", "a}b"),
        ("[.py", "[.py"),
        ("[]x].py", "].py"),
        ("a[&&b]c", "a&c"),
        ("trailing\\", "trailing\\"),
    ],
)
def test_what_has_no_special_meaning_stands_for_itself(pattern: str, name: str) -> None:
    assert glob_regex(pattern).fullmatch(name)


@pytest.mark.parametrize("pattern", ["{a,b", "[z-a].py", "{{a}"])
def test_a_broken_glob_is_an_error_for_the_model(pattern: str) -> None:
    with pytest.raises(ToolError, match="not a valid glob"):
        glob_regex(pattern)


@given(st.text("ab*?[]{},!^-/.\\~&|+", max_size=12))
def test_every_pattern_compiles_or_is_a_tool_error(pattern: str) -> None:
    with contextlib.suppress(ToolError):
        glob_regex(pattern).fullmatch("a/b.a")
