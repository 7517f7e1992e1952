import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.errors import ToolError
from agent_nb.core.tool import ToolContext, ToolResult
from agent_nb.tools import python_search
from agent_nb.tools.ripgrep import Ripgrep, Splitter, find_ripgrep
from agent_nb.tools.search_query import Query

Call = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    files = {
        "src/a.py": "needle = 1\nother\n",
        "src/deep/b.py": "one\ntwo needle\nthree\nfour\nneedle\r\nfive",
        "docs/c.md": "a Needle here\n",
        ".hidden": "needle in hiding\n",
        ".env": "needle=secret\n",
        "build/out.py": "needle built\n",
        "src/skip.log": "needle logged\n",
        "src/keep.log": "needle kept\n",
        ".git/config": "needle in git\n",
        ".gitignore": "build/\n*.log\n",
        "src/.gitignore": "!keep.log\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (root / "src/raw.bin").write_bytes(b"needle\x00binary\n")
    (root / "src/latin.txt").write_bytes(b"needle \xe4\n")
    return root


NEEDLES = [".env", ".hidden", "src/a.py", "src/deep/b.py", "src/keep.log", "src/latin.txt"]


def found(result: ToolResult) -> list[str]:
    """The files a grep result names."""
    lines = result.text.split("\n\n[")[0].split("\n")
    return sorted({line.split(":")[0] for line in lines if ":" in line})


async def test_grep_names_file_line_and_text_of_every_match(call: Call, tree: Path) -> None:
    result = await call("grep", pattern="needle", path="tree/src")
    assert result.text == (
        "a.py:1: needle = 1\n"
        "deep/b.py:2: two needle\n"
        "deep/b.py:5: needle\n"
        "keep.log:1: needle kept\n"
        "latin.txt:1: needle \ufffd"
    )
    assert (result.details, result.is_error) == (None, False)


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ({}, NEEDLES),
        ({"pattern": "NEEDLE", "ignoreCase": True}, sorted([*NEEDLES, "docs/c.md"])),
        ({"glob": "*.py"}, ["src/a.py", "src/deep/b.py"]),
        ({"glob": "src/*.py"}, ["src/a.py"]),
        ({"glob": "./src/**/*.py"}, ["src/a.py", "src/deep/b.py"]),
        ({"glob": "!*.py"}, [name for name in NEEDLES if not name.endswith(".py")]),
        ({"glob": "*.log"}, ["src/keep.log"]),
        ({"glob": "build/*"}, []),
        ({"pattern": "^needle$"}, ["src/deep/b.py"]),
        ({"pattern": "e.d", "literal": True}, []),
        ({"pattern": "needle = 1", "literal": True}, ["src/a.py"]),
        ({"pattern": "-e needle"}, []),
        ({"pattern": "absent"}, []),
    ],
)
async def test_grep_finds_what_was_asked_for(
    call: Call, tree: Path, arguments: dict[str, Any], files: list[str]
) -> None:
    result = await call("grep", **{"pattern": "needle", "path": "tree", **arguments})
    assert found(result) == files
    if not files:
        assert (result.text, result.is_error) == ("No line matches.", False)


async def test_grep_shows_lines_around_matches(call: Call, tree: Path) -> None:
    result = await call("grep", pattern="two", path="tree/src/deep", context=1)
    assert result.text == "b.py-1- one\nb.py:2: two needle\nb.py-3- three"


async def test_grep_of_one_file_names_it_by_its_name(call: Call, tree: Path) -> None:
    result = await call("grep", pattern="needle", path="tree/build/out.py", glob="*.md")
    assert result.text == "out.py:1: needle built"


async def test_grep_stops_at_the_limit_and_says_so(call: Call, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("hit\nmiss\n" * 150)
    result = await call("grep", pattern="hit")
    assert result.text.count("hit") == 100
    assert "[Just 100 matches, there are more" in result.text
    assert result.details == {"matchLimitReached": 100}
    result = await call("grep", pattern="hit", limit=150)
    assert (result.text.count("hit"), result.details) == (150, None)
    result = await call("grep", pattern="hit", limit=0)
    assert result.text.startswith("many.txt:1: hit\n\n[Just 1 matches")


async def test_lines_around_the_last_match_are_shown_as_such(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hit 1\nhit 2\nx\nhit 3\n")
    result = await call("grep", pattern="hit", limit=1, context=2)
    assert result.text.startswith("a.txt:1: hit 1\na.txt-2- hit 2\na.txt-3- x\n\n[Just 1")


async def test_grep_cuts_long_lines_and_long_output(call: Call, tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_text("é" * 600 + "\n")
    result = await call("grep", pattern="é")
    assert "é" * 500 + "… [line cut]" in result.text
    assert "é" * 501 not in result.text
    assert result.details == {"linesTruncated": True}
    (tmp_path / "wide.txt").write_text(("é" * 400 + "\n") * 5_000)
    result = await call("grep", pattern="é", limit=5_000)
    assert result.details["truncation"]["truncatedBy"] == "bytes"
    assert len(result.text.encode()) < 52_000


@pytest.mark.parametrize("path", [".", "ä b.txt"])
async def test_a_gigantic_line_is_said_to_match(call: Call, tmp_path: Path, path: str) -> None:
    (tmp_path / "ä b.txt").write_text("needle " * 1_000_000 + "\nneedle\n")
    assert (await call("grep", pattern="needle", path=path)).text == (
        "ä b.txt: [A line of some megabytes matches; it is not shown.]\nä b.txt:2: needle"
    )
    assert (await call("grep", pattern="other", path=path)).text == "No line matches."


async def test_a_pipe_or_device_is_not_searched(call: Call, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("pipe", "/dev/zero"):
        with pytest.raises(ToolError, match="is a pipe, socket or device"):
            await call("grep", pattern="x", path=path)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("grep", {"pattern": "a\0b"}),
        ("grep", {"pattern": "a", "glob": "a\0b"}),
        ("find", {"pattern": "a\0b"}),
    ],
)
async def test_no_pattern_may_hold_a_nul(call: Call, name: str, arguments: dict[str, str]) -> None:
    with pytest.raises(ToolError, match="NUL character"):
        await call(name, **arguments)


async def test_files_with_secrets_are_held_back_unless_named(call: Call, tree: Path) -> None:
    asked: list[Path] = []

    def may_read(path: Path) -> bool:
        asked.append(path)
        return path.name != ".env"

    context = {"may_read": may_read}
    result = await call("grep", pattern="needle", path="tree", context=1, with_=context)
    assert ".env" not in result.text
    assert "=secret" not in result.text
    assert "1 file that matches was held back" in result.text
    assert result.details == {"heldBackFiles": 1}
    assert tree / ".env" in asked
    result = await call("grep", pattern="needle", path="tree/.env", with_=context)
    assert result.text == ".env:1: needle=secret"


async def test_when_all_matches_are_held_back_the_result_says_so(call: Call, tree: Path) -> None:
    context = {"may_read": lambda _path: False}
    result = await call("grep", pattern="secret", path="tree", with_=context)
    assert result.text.startswith("No line matches.\n\n[1 file that matches was held back")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("grep", {"pattern": "("}, "regex parse error"),
        ("grep", {"pattern": "x", "path": "nowhere"}, "nowhere does not exist"),
        ("grep", {"pattern": "x", "glob": "{a"}, "not a valid glob"),
        ("find", {"pattern": "{a"}, "not a valid glob"),
        ("find", {"pattern": "*", "path": "nowhere"}, "nowhere does not exist"),
        ("find", {"pattern": "*", "path": "tree/.env"}, r"\.env is not a directory"),
        ("ls", {"path": "nowhere"}, "Cannot list nowhere: No such file"),
        ("ls", {"path": "tree/.env"}, r"Cannot list tree/\.env: Not a directory"),
    ],
)
async def test_wrong_requests_are_errors(
    call: Call, tree: Path, name: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        await call(name, **arguments)


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.py", ["src/a.py", "src/deep/b.py"]),
        ("*.PY", []),
        ("src/*.py", ["src/a.py"]),
        ("**/deep/**", ["src/deep/b.py"]),
        ("*.log", ["src/keep.log"]),
        (".*", [".env", ".gitignore", ".hidden", "src/.gitignore"]),
        ("config", []),
        ("{a,b}.py", ["src/a.py", "src/deep/b.py"]),
    ],
)
async def test_find_lists_the_files_that_match(
    call: Call, tree: Path, pattern: str, files: list[str]
) -> None:
    result = await call("find", pattern=pattern, path="tree")
    assert result.text == ("\n".join(files) or f"No file matches {pattern}.")
    assert not result.is_error


async def test_find_takes_absolute_patterns_and_ignores_case_of_small_letters(
    call: Call, tree: Path
) -> None:
    (tree / "README.MD").touch()
    result = await call("find", pattern="*.md", path="tree")
    assert result.text == "README.MD\ndocs/c.md"
    result = await call("find", pattern=f"{tree}/src/*.py", path="tree")
    assert result.text == "src/a.py"


async def test_find_stops_at_the_limit_and_says_so(call: Call, tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"f{number}.txt").touch()
    result = await call("find", pattern="*.txt", limit=10)
    assert len(result.text.split("\n\n")[0].split("\n")) == 10
    assert "[Just 10 files, there are more" in result.text
    assert result.details == {"resultLimitReached": 10}
    assert (await call("find", pattern="*.txt", limit=12)).details is None


async def test_ls_is_sorted_with_hidden_files_and_marked_directories(
    call: Call, tmp_path: Path
) -> None:
    for name in ("b.txt", "A.txt", ".env", "ünï"):
        (tmp_path / name).touch()
    (tmp_path / "Dir").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "to-dir").symlink_to("Dir")
    result = await call("ls", with_={"may_read": lambda _path: False})
    assert result.text == ".env\nA.txt\nb.txt\ndangling\nDir/\nto-dir/\nünï"
    assert result.details is None


async def test_ls_says_when_there_is_nothing_or_more(call: Call, tmp_path: Path) -> None:
    assert (await call("ls")).text == "(The directory is empty.)"
    for number in range(501):
        (tmp_path / f"{number:03}").touch()
    result = await call("ls")
    assert result.text.endswith("499\n\n[The first 500 of 501 entries; a larger limit shows more.]")
    assert result.details == {"entryLimitReached": 500}


async def test_names_that_are_not_utf8_can_be_listed_and_searched(
    call: Call, tmp_path: Path
) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("needle")
    assert (await call("ls")).text == "caf\ufffd.txt"
    assert (await call("find", pattern="*.txt")).text == "caf\ufffd.txt"
    assert (await call("grep", pattern="needle")).text == "caf\ufffd.txt:1: needle"


@pytest.mark.parametrize(
    ("name", "arguments"), [("grep", {"pattern": "x"}), ("find", {"pattern": "x"}), ("ls", {})]
)
async def test_an_abort_stops_a_search(call: Call, name: str, arguments: dict[str, Any]) -> None:
    signal = AbortSignal()
    asyncio.get_running_loop().call_soon(signal.abort)
    with pytest.raises(Aborted):
        await call(name, **arguments, with_={"signal": signal})


def context_of(tmp_path: Path) -> ToolContext:
    return ToolContext(cwd=tmp_path, signal=AbortSignal(), environment=dict(os.environ))


@pytest.mark.parametrize("inside", ["", "src", "build"])
@pytest.mark.parametrize("repository", [True, False])
async def test_without_ripgrep_the_same_files_are_listed(
    tree: Path, inside: str, repository: bool
) -> None:
    if not repository:
        (tree / ".git").rename(tree / "git")
    context = context_of(tree)
    program = find_ripgrep(context.environment)
    assert program is not None
    ripgrep = Ripgrep(program, context).list_files(tree / inside, None)
    in_python = python_search.list_files(tree / inside, context.signal)
    by_ripgrep = [path async for batch in ripgrep for path in batch]
    by_python = [path async for batch in in_python for path in batch]
    assert sorted(by_python) == sorted(by_ripgrep)


async def test_the_rules_of_an_outer_repository_end_at_the_inner_one(tree: Path) -> None:
    (tree / "build/.git").mkdir()
    context = context_of(tree)
    program = find_ripgrep(context.environment)
    assert program is not None
    ripgrep = Ripgrep(program, context).list_files(tree / "build", None)
    in_python = python_search.list_files(tree / "build", context.signal)
    assert [path async for batch in ripgrep for path in batch] == ["out.py"]
    assert [path async for batch in in_python for path in batch] == ["out.py"]


@pytest.mark.parametrize(
    "query",
    [
        {"pattern": "needle"},
        {"pattern": "NEEDLE", "ignore_case": True, "context_lines": 1},
        {"pattern": "e$", "context_lines": 2},
        {"pattern": "e.d", "literal": True},
        {"pattern": "t", "context_lines": 1},
    ],
)
async def test_without_ripgrep_the_same_lines_are_found(tree: Path, query: dict[str, Any]) -> None:
    context = context_of(tree)
    program = find_ripgrep(context.environment)
    assert program is not None
    for root in (tree, tree / "src/deep/b.py"):
        asked = Query(root=root, **query)
        by_ripgrep = [
            hit async for batch in Ripgrep(program, context).search(asked) for hit in batch
        ]
        by_python = [
            hit async for batch in python_search.search(asked, context.signal) for hit in batch
        ]
        assert set(by_python) == set(by_ripgrep)
        assert len(by_python) == len(by_ripgrep)


async def test_without_ripgrep_a_wrong_pattern_is_an_error_too(tree: Path) -> None:
    with pytest.raises(ToolError, match="not a regular expression"):
        python_search.search(Query("(", tree), AbortSignal())


async def test_without_ripgrep_an_abort_stops_the_search(tree: Path) -> None:
    signal = AbortSignal()
    batches = python_search.search(Query("needle", tree), signal)
    signal.abort()
    with pytest.raises(Aborted):
        await anext(batches)


def test_ripgrep_is_found_without_a_path() -> None:
    program = find_ripgrep({"PATH": "/nowhere"})
    assert program is not None
    assert os.access(program, os.X_OK)


@given(st.lists(st.binary(max_size=6)), st.lists(st.integers(0, 40)))
def test_records_come_whole_however_the_chunks_are_cut(
    records: list[bytes], cuts: list[int]
) -> None:
    records = [record.replace(b"\0", b"0") for record in records]
    data = b"".join(record + b"\0" for record in records)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    splitter = Splitter(b"\0")
    out = [
        record
        for start, end in itertools.pairwise(edges)
        for record in splitter.feed(data[start:end])
    ]
    assert out == records


def test_a_record_beyond_the_limit_is_cut() -> None:
    splitter = Splitter(b"\n", most_bytes=10)
    chunks = [b"one\ntoo", b" long to", b" keep it", b" all\ntwo\n", b"three\n"]
    fed = [splitter.feed(chunk) for chunk in chunks]
    assert fed == [[b"one"], [b"too long t"], [], [b"two"], [b"three"]]
