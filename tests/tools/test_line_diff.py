import re

from hypothesis import given
from hypothesis import strategies as st

from agent_nb.tools.line_diff import diff_details

TEXT = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=30).map("".join)


def lines(count: int, **changed: str) -> str:
    return "".join(f"{changed.get(f'l{n}', f'line {n}')}\n" for n in range(1, count + 1))


def test_distant_changes_have_their_context_and_gaps() -> None:
    details = diff_details("f", lines(40), lines(40, l10="ten", l30="thirty"))
    assert details["diff"] == "\n".join(
        [
            "    ...",
            *(f"  {n} line {n}" if n < 10 else f" {n} line {n}" for n in range(6, 10)),
            "-10 line 10",
            "+10 ten",
            *(f" {n} line {n}" for n in range(11, 15)),
            "    ...",
            *(f" {n} line {n}" for n in range(26, 30)),
            "-30 line 30",
            "+30 thirty",
            *(f" {n} line {n}" for n in range(31, 35)),
            "    ...",
        ]
    )
    assert details["firstChangedLine"] == 10


def test_changes_near_each_other_have_no_gap_between_them() -> None:
    diff = diff_details("f", lines(9), lines(9, l1="one", l9="nine"))["diff"]
    assert "..." not in diff
    assert diff.count("line") == 9


def test_a_missing_last_newline_is_a_change() -> None:
    details = diff_details("f", "a\nb", "a\nb\n")
    assert details["diff"] == " 1 a\n-2 b\n+2 b"
    assert details["patch"].endswith(" a\n-b\n\\ No newline at end of file\n+b\n")


def test_text_in_an_empty_file_is_all_new() -> None:
    details = diff_details("f", "", "a\n")
    assert details == {
        "diff": "+1 a",
        "patch": "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n",
        "firstChangedLine": 1,
    }


def applied(patch: str, old: str) -> str:
    """Apply a unified diff, trusting nothing but its hunks."""
    before = old.splitlines(keepends=True)
    out, position = [], 0
    for line in patch.splitlines(keepends=True)[2:]:
        if head := re.match(r"@@ -(\d+),(\d+)", line):
            start = int(head[1]) - (head[2] != "0")
            out += before[position:start]
            position = start
        elif line[0] in " -":
            assert before[position] == line[1:]
            out += [line[1:]] if line[0] == " " else []
            position += 1
        else:
            out.append(line[1:])
    return "".join(out + before[position:])


@given(TEXT, TEXT)
def test_the_patch_leads_from_the_old_text_to_the_new(old: str, new: str) -> None:
    if old == new:
        return
    details = diff_details("f", old, new)
    assert applied(details["patch"], old) == new
    first = details["firstChangedLine"] - 1
    assert old.split("\n")[:first] == new.split("\n")[:first]
    marked = [line for line in details["diff"].split("\n") if line[0] in "+-"]
    assert marked
