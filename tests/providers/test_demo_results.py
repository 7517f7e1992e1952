import pytest

from agent_nb.core.content import ImageContent, TextContent, ToolCall
from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage
from agent_nb.inspect.turns import CallRecord
from agent_nb.providers.demo.documents import Document, documents_of, same_path, split_attachments
from agent_nb.providers.demo.results import (
    Match,
    Part,
    found_lines,
    is_directory,
    is_image,
    is_missing,
    lines_before_end,
    listed_names,
    read_part,
)
from agent_nb.providers.demo.tables import parse_table


def record(text: str, *, is_error: bool = False, **arguments: object) -> CallRecord:
    result = ToolResultMessage("c", "read", (TextContent(text),), is_error=is_error)
    return CallRecord("c", "read", arguments, result)


def exchange(name: str, text: str, **arguments: object) -> list[Message]:
    return [
        AssistantMessage((ToolCall("c", name, arguments),), stop_reason="toolUse"),
        ToolResultMessage("c", name, (TextContent(text),)),
    ]


@pytest.mark.parametrize(
    "notice",
    [
        "[Showing lines 1-2 of 5001. Use offset=3 to continue.]",
        "[Showing lines 1-2 of 5001 (50.0KB limit). Use offset=3 to continue.]",
        "[Lines 1-2 of 5001. Go on with offset=3.]",
        "[Lines 1-2 of 5001 (50KB limit). Go on with offset=3.]",
        "[4999 more lines in file. Use offset=3 to continue.]",
        "[4999 more lines in the file. Go on with offset=3.]",
    ],
)
def test_a_cut_file_is_read_with_where_to_go_on(notice: str) -> None:
    assert read_part(record(f"a\nb\n\n{notice}")) == Part(("a", "b"), 1, 3, 5001)


def test_an_uncounted_file_has_no_total() -> None:
    part = read_part(record("a\n\n[Lines 1-1 of more than 900. Go on with offset=2.]"))
    assert (part.next_offset, part.total) == (2, None)


def test_a_file_that_ends_like_a_notice_is_not_cut() -> None:
    text = "a\n\n[Lines 1-2000 of 5001. Go on with offset=2001.]"
    assert read_part(record(text)).next_offset is None


def test_a_line_that_is_too_long_is_no_content() -> None:
    ours = "[Line 1 has 60.0KB, more than the 50KB that can be shown. With bash: sed -n '1p' a]"
    theirs = "[Line 1 is 60.0KB, exceeds 50.0KB limit. Use bash: sed -n '1p' a | head -c 51200]"
    assert read_part(record(ours)).too_long
    assert read_part(record(theirs)).too_long


@pytest.mark.parametrize(
    "text",
    [
        "ENOENT: no such file or directory, access '/w/nowhere.txt'",
        "Cannot read nowhere.txt: No such file or directory.",
        "Path not found: /w/nowhere",
        "hat does not exist.",
    ],
)
def test_a_missing_file_is_told_from_other_errors(text: str) -> None:
    assert is_missing(record(text, is_error=True))


@pytest.mark.parametrize(
    "text", ["Tool read not found", "read was not run: it needs the user's permission."]
)
def test_other_errors_are_not_missing_files(text: str) -> None:
    assert not is_missing(record(text, is_error=True))


def test_directories_ends_and_images_are_recognised() -> None:
    assert is_directory(record("src is a directory, not a file.", is_error=True))
    assert is_directory(record("EISDIR: illegal operation on a directory, read", is_error=True))
    assert lines_before_end(record("Offset 9 is beyond end of file (3 lines total)", is_error=True))
    ours = "Line 9 is beyond the end of the file, which has 3."
    assert lines_before_end(record(ours, is_error=True)) == 3
    image = ToolResultMessage("c", "read", (TextContent("x"), ImageContent("", "image/png")))
    assert is_image(CallRecord("c", "read", {}, image))


@pytest.mark.parametrize(
    ("text", "names", "is_cut"),
    [
        (".hidden\ndocs/\nsrc/", (".hidden", "docs/", "src/"), False),
        ("(empty directory)", (), False),
        ("(The directory is empty.)", (), False),
        ("No files found matching pattern", (), False),
        ("No file matches *.rs.", (), False),
        ("a\n\n[500 entries limit reached. Use limit=1000 for more]", ("a",), True),
        ("a\n\n[The first 1 of 9 entries; a larger limit shows more.]", ("a",), True),
        ("a\n\n[Just 1 files, there are more; a larger limit helps.]", ("a",), True),
        ("a\n\n[Cut at the output limit of 50KB.]", ("a",), True),
    ],
)
def test_listings_are_taken_apart(text: str, names: tuple[str, ...], is_cut: bool) -> None:
    listed = listed_names(record(text))
    assert (listed.names, listed.is_cut) == (names, is_cut)


def test_matches_are_taken_apart() -> None:
    text = "a.py:3:     # TODO: it\na.py-4- context\nb c.md:1: x:2: y\n\n[Lines are cut after 500.]"
    found = found_lines(record(text))
    assert found.lines == (Match("a.py", 3, "    # TODO: it"), Match("b c.md", 1, "x:2: y"))
    assert (found.paths, found.is_cut) == (("a.py", "b c.md"), False)
    assert found_lines(record("No line matches.")).lines == ()


def test_parts_of_a_file_are_joined() -> None:
    messages = [
        *exchange("read", "a\nb\n\n[Lines 1-2 of 4. Go on with offset=3.]", path="x"),
        *exchange("read", "c\n", path="x", offset=3),
    ]
    (document,) = documents_of(messages)
    assert document == Document("x", ("a", "b", "c", ""))
    assert (document.line_count, document.last, document.is_whole) == (3, 3, True)


def test_a_part_that_is_known_changes_nothing() -> None:
    again = exchange("read", "b\n\n[1 more lines in the file. Go on with offset=3.]", path="x")
    again[0] = AssistantMessage((ToolCall("c", "read", {"path": "x", "offset": 2}),))
    (document,) = documents_of([*exchange("read", "a\nb\nc", path="x"), *again])
    assert document.lines == ("a", "b", "c")


def test_a_file_that_has_changed_is_known_as_it_is_now() -> None:
    messages = [*exchange("read", "old\nb\nc", path="x"), *exchange("read", "new", path="x")]
    assert [document.lines for document in documents_of(messages)] == [("new",)]


def test_a_file_that_was_written_is_forgotten() -> None:
    messages = [*exchange("read", "old", path="x"), *exchange("edit", "ok", path="x")]
    assert documents_of(messages) == ()


def test_the_file_read_last_stands_last() -> None:
    messages = [
        *exchange("read", "a", path="x"),
        *exchange("read", "b", path="y"),
        *exchange("read", "a", path="x"),
    ]
    assert [document.path for document in documents_of(messages)] == ["y", "x"]


def test_a_path_is_the_same_by_its_end_only_at_a_slash() -> None:
    assert same_path("/w/docs/a.md", "docs/a.md")
    assert not same_path("/w/data.md", "a.md")


def test_attachments_are_files() -> None:
    text, (document,) = split_attachments('<file name="/w/a.txt">\nOne.\nTwo.\n</file>\nWhat?')
    assert (text, document.path, document.lines) == ("What?", "/w/a.txt", ("One.", "Two."))


@pytest.mark.parametrize(
    ("text", "path", "columns", "rows", "odd"),
    [
        ("a,b\n1,2\n3,4\n", "x.csv", ("a", "b"), 2, 0),
        ('id,"text, long"\n1,"two\nlines, ""quoted"""\n', "x.csv", ("id", "text, long"), 1, 0),
        ("a;b;c\n1,5;2;3\n", "x.csv", ("a", "b", "c"), 1, 0),
        ("a\tb\n1\t2\n", "x.tsv", ("a", "b"), 1, 0),
        ("\ufeffa,b\r\n1,2\r\n\r\n3,4", "x.csv", ("a", "b"), 2, 0),
        ("a,b\n1\n1,2,3\n", "x.csv", ("a", "b"), 2, 2),
        ("only\n1\n2\n", "x.csv", ("only",), 2, 0),
        ("", "x.csv", (), 0, 0),
    ],
)
def test_tables_are_parsed(
    text: str, path: str, columns: tuple[str, ...], rows: int, odd: int
) -> None:
    table = parse_table(text, path)
    assert (table.columns, table.row_count, table.odd_rows) == (columns, rows, odd)
