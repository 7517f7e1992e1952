import contextlib
import time

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


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 11 + "*[b]",
        "**/*a" * 40 + "/b",
        "*" * 900 + "b",
        "{a,*}" * 4 + "*a*a*a*a*b",
        "**/" * 300 + "b",
        "?*" * 400 + "b",
    ],
)
@pytest.mark.parametrize("path", ["a" * 200, "a/" * 1_000 + "a", "aa/" * 60 + "a"])
def test_no_pattern_makes_a_long_path_take_long(pattern: str, path: str) -> None:
    since = time.process_time()
    assert not glob_regex(pattern).fullmatch(path)
    assert time.process_time() - since < 1


@pytest.mark.parametrize("pattern", ["a" * 1_001, "{a,b}" * 100, "{" * 500, "{a,b" * 20 + "}" * 20])
def test_a_pattern_that_stands_for_too_much_is_refused(pattern: str) -> None:
    with pytest.raises(ToolError):
        glob_regex(pattern)


def by_trying_all(glob: str, path: str) -> bool:
    """Match as the words of the documentation say, in exponential time."""
    if not glob:
        return not path
    if glob.startswith("**/"):
        rests = [path[at + 1 :] for at, sign in enumerate(path) if sign == "/"]
        return any(by_trying_all(glob[3:], rest) for rest in [path, *rests])
    if glob[0] == "*":
        most = len(path.split("/")[0])
        return any(by_trying_all(glob[1:], path[at:]) for at in range(most + 1))
    if not path or (glob[0] != path[0] and (glob[0] != "?" or path[0] == "/")):
        return False
    return by_trying_all(glob[1:], path[1:])


@given(
    st.lists(st.text("ab?*", max_size=4).filter(lambda part: "**" not in part) | st.just("**")),
    st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=5),
)
def test_the_short_way_finds_what_trying_all_finds(globs: list[str], parts: list[str]) -> None:
    glob, path = "/".join(["x", *globs[:5], "*"]), "/".join(["x", *parts])
    assert bool(glob_regex(glob).fullmatch(path)) == by_trying_all(glob, path)


@given(st.text("ab*?[]{},!^-/.\\~&|+", max_size=12))
def test_every_pattern_compiles_or_is_a_tool_error(pattern: str) -> None:
    with contextlib.suppress(ToolError):
        glob_regex(pattern).fullmatch("a/b.a")
