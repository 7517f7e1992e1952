import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.core.errors import ToolError
from agent_nb.core.tool import ToolResult
from agent_nb.tools.edit import mend_arguments
from agent_nb.tools.edit_match import match_edits
from agent_nb.tools.line_ends import Replacement, replace_in, to_newlines

Call = Callable[..., Awaitable[ToolResult]]
CODE = "def a():\n    return 1\n\ndef b():\n    return 2\n"


def one(old: str, new: str) -> dict[str, str]:
    return {"oldText": old, "newText": new}


async def edited(call: Call, path: Path, *edits: dict[str, str]) -> bytes:
    await call("edit", path=path.name, edits=list(edits))
    return path.read_bytes()


async def test_several_pieces_are_replaced_in_one_call(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text(CODE)
    result = await call(
        "edit", path="code.py", edits=[one("return 2", "return 20"), one("def a()", "def first()")]
    )
    assert path.read_text() == "def first():\n    return 1\n\ndef b():\n    return 20\n"
    assert (result.text, result.is_error) == ("Replaced 2 pieces of text in code.py.", False)
    assert result.details == {
        "diff": "-1 def a():\n+1 def first():\n 2     return 1\n 3 \n 4 def b():\n"
        "-5     return 2\n+5     return 20",
        "patch": "--- code.py\n+++ code.py\n@@ -1,5 +1,5 @@\n-def a():\n+def first():\n"
        "     return 1\n \n def b():\n-    return 2\n+    return 20\n",
        "firstChangedLine": 1,
    }


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        (
            b"\xef\xbb\xbfone\r\ntwo\r\n",
            one("one\ntwo\n", "1\n2\n3\n"),
            b"\xef\xbb\xbf1\r\n2\r\n3\r\n",
        ),
        (b"a\r\nb\nc\r\n", one("b", "b\nB"), b"a\r\nb\nB\nc\r\n"),
        (b"a\r\nb\nc\r\n", one("c", "c\r\nC"), b"a\r\nb\nc\r\nC\r\n"),
        (b"a\rb\r", one("b", "b\nc"), b"a\rb\rc\r"),
        (b"x\r\nlast", one("last", "last\nmore"), b"x\r\nlast\r\nmore"),
        (b"\xff raw \xfe old", one("old", "new"), b"\xff raw \xfe new"),
        (b"a\x0cb\xe2\x80\xa8c", one("b", "B"), b"a\x0cB\xe2\x80\xa8c"),
    ],
)
async def test_marks_line_ends_and_other_bytes_stay(
    call: Call, tmp_path: Path, before: bytes, edit: dict[str, str], after: bytes
) -> None:
    path = tmp_path / "file"
    path.write_bytes(before)
    assert await edited(call, path, edit) == after


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("say “hi” – ‘now’", one("say \"hi\" - 'now'", "bye"), "bye"),
        ("a = ‘x’  # “kept”", one("a = 'x'", "a = 'y'"), "a = 'y'  # “kept”"),
        ("one  \ntwo\t\nthree", one("one\ntwo\nthree", "1"), "1"),
        ("a\u00a0b\u3000c", one("a b c", "abc"), "abc"),
        ("if x:   \n    y\n", one("if x:\n    y", "if z:\n    y"), "if z:\n    y\n"),
        ("ﬁne cafe\u0301 Ⅳ", one("fine caf\u00e9 IV", "ok"), "ok"),
        ("x\u2212y “q”", one("x-y \u201cq\u201d", "z"), "z"),
    ],
)
async def test_lookalikes_match_and_the_rest_of_the_line_stays(
    call: Call, tmp_path: Path, before: str, edit: dict[str, str], after: str
) -> None:
    path = tmp_path / "file"
    path.write_text(before)
    assert (await edited(call, path, edit)).decode() == after


async def test_an_exact_match_wins_over_lookalikes(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('“a” "a"')
    assert (await edited(call, path, one('"a"', "b"))).decode() == "“a” b"


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([one("absent", "x")], r"The old text was not found in code\.py"),
        ([one("return", "x")], r"The old text stands 2 times in code\.py"),
        ([one("", "x")], r"The old text is empty"),
        ([one("return 1", "return 1")], r"Nothing would change in code\.py"),
        ([one("def a", "x"), one("absent", "y")], r"The old text of edits\[1\] was not found"),
        ([one("return 1\n\n", "x"), one("1\n\ndef", "y")], r"edits\[0\] and edits\[1\] overlap"),
        ([one("def b", "x"), one("b():", "y")], r"edits\[0\] and edits\[1\] overlap"),
        ([one("return 1", "return 1\n"), one("\n\ndef b", "\ndef b")], "Nothing would change"),
        ([one("   ", "x")], "stands 2 times"),
        ([one("\u3000\u3000", "x")], "not found"),
    ],
)
async def test_an_edit_that_cannot_be_made_leaves_the_file_alone(
    call: Call, tmp_path: Path, edits: list[dict[str, str]], message: str
) -> None:
    path = tmp_path / "code.py"
    path.write_text(CODE)
    with pytest.raises(ToolError, match=message):
        await call("edit", path="code.py", edits=edits)
    assert path.read_text() == CODE


async def test_part_of_a_character_is_no_match(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("ﬁt")
    with pytest.raises(ToolError, match="not found"):
        await call("edit", path="file", edits=[one("it", "x")])


async def test_what_is_no_file_is_an_error(call: Call) -> None:
    with pytest.raises(ToolError, match=r"Cannot edit none\.py: No such file"):
        await call("edit", path="none.py", edits=[one("a", "b")])
    with pytest.raises(ToolError, match=r"^\. is a directory, not a file"):
        await call("edit", path=".", edits=[one("a", "b")])


EDITS = [{"oldText": "a", "newText": "b"}]


@pytest.mark.parametrize(
    ("written", "edits"),
    [
        ({"edits": EDITS}, EDITS),
        ({"edits": '[{"oldText": "a", "newText": "b"}]'}, EDITS),
        ({"edits": '{"oldText": "a", "newText": "b"}'}, EDITS),
        ({"edits": EDITS[0]}, EDITS),
        ({"oldText": "a", "newText": "b"}, EDITS),
        ({"edits": EDITS, "oldText": "c", "newText": "d"}, [*EDITS, one("c", "d")]),
        ({"edits": 5, "oldText": "a", "newText": "b"}, EDITS),
        ({"edits": "[broken"}, "[broken"),
        ({"edits": "5"}, 5),
    ],
)
def test_other_ways_to_write_edits_are_understood(written: dict[str, Any], edits: Any) -> None:
    assert mend_arguments({"path": "p", **written}) == {"path": "p", "edits": edits}


async def test_edits_of_one_file_build_on_each_other(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_text("0\n" * 500 + "x0")
    await asyncio.gather(
        *(call("edit", path="count", edits=[one(f"x{i}", f"x{i + 1}")]) for i in range(20))
    )
    assert path.read_text().endswith("x20")


async def test_an_edit_keeps_the_mode_and_the_link(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("old")
    path.chmod(0o755)
    (tmp_path / "link").symlink_to("run")
    await call("edit", path="link", edits=[one("old", "new")])
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o755)
    assert (tmp_path / "link").is_symlink()


MIXED = st.text("ab\n\r", max_size=40)


@given(
    MIXED, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), st.text("xy\n", max_size=4)))
)
def test_line_ends_aside_the_result_is_that_of_the_plain_text(
    original: str, cuts: list[tuple[int, int, str]]
) -> None:
    plain = to_newlines(original)
    replacements, position = [], 0
    for start, length, text in sorted(cuts):
        start = max(start, position)
        if start + length <= len(plain):
            replacements.append(Replacement(start, start + length, text))
            position = start + length
    expected = plain
    for replacement in reversed(replacements):
        expected = expected[: replacement.start] + replacement.text + expected[replacement.end :]
    assert to_newlines(replace_in(original, replacements)) == expected
    if "\r" not in original:
        assert replace_in(original, replacements) == expected


PROSE = st.text("ab “”'–\u00a0é\ufb01\n", min_size=1, max_size=30)


@given(PROSE, st.integers(0, 29), st.integers(1, 30))
def test_what_is_copied_from_the_file_is_found_where_it_was(
    text: str, start: int, length: int
) -> None:
    old = text[start : start + length]
    if text.count(old) != 1:
        return
    assert match_edits(text, [(old, "new")], "f") == [Replacement(start, start + len(old), "new")]


@given(PROSE)
def test_a_text_written_in_ascii_covers_the_whole_of_what_it_stands_for(text: str) -> None:
    plain = text.translate(str.maketrans("“”–\u00a0", '""- ')).replace("\ufb01", "fi")
    if not plain.strip() or plain != plain.rstrip() or plain in text:
        return
    [replacement] = match_edits(text, [(plain, "new")], "f")
    assert text[: replacement.start].strip() == "" == text[replacement.end :]
