from hypothesis import given
from hypothesis import strategies as st

from agent_nb.tools.truncate import byte_length, format_size, truncate_head, truncate_tail

TEXT = st.text(alphabet=st.sampled_from("ab\n\u2028é語😀\r"), max_size=200)
LINES = st.integers(1, 8)
BYTES = st.integers(1, 60)


def shown_lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if text.endswith("\n") or not text else lines


@given(TEXT, LINES, BYTES)
def test_the_head_is_whole_lines_from_the_start_within_the_limits(
    text: str, max_lines: int, max_bytes: int
) -> None:
    cut = truncate_head(text, max_lines=max_lines, max_bytes=max_bytes)
    kept = shown_lines(cut.content) if cut.output_bytes or not cut.truncated else []
    if cut.truncated:
        kept = cut.content.split("\n")[: cut.output_lines]
        assert cut.content == "\n".join(kept)
    assert kept == shown_lines(text)[: cut.output_lines]
    assert cut.output_lines <= max_lines
    assert byte_length(cut.content) == cut.output_bytes <= max_bytes


@given(TEXT, LINES, BYTES)
def test_the_tail_is_whole_lines_from_the_end_unless_the_last_line_is_too_long(
    text: str, max_lines: int, max_bytes: int
) -> None:
    cut = truncate_tail(text, max_lines=max_lines, max_bytes=max_bytes)
    lines = shown_lines(text)
    if cut.last_line_partial:
        assert byte_length(lines[-1]) > max_bytes
        assert lines[-1].endswith(cut.content)
    elif cut.truncated:
        assert cut.content == "\n".join(lines[len(lines) - cut.output_lines :])
    assert cut.output_lines <= max_lines
    assert byte_length(cut.content) == cut.output_bytes <= max_bytes


@given(TEXT)
def test_what_fits_stays_as_it_is(text: str) -> None:
    for cut in (truncate_head(text), truncate_tail(text)):
        assert cut.content == text
        assert not cut.truncated
        assert cut.total_lines == cut.output_lines == len(shown_lines(text))


def test_a_first_line_that_is_too_long_shows_nothing() -> None:
    cut = truncate_head("x" * 11 + "\nshort\n", max_bytes=10)
    assert (cut.content, cut.first_line_exceeds_limit) == ("", True)
    assert (cut.truncated_by, cut.total_lines) == ("bytes", 2)


def test_details_have_the_names_of_pi_and_no_copy_of_the_content() -> None:
    details = truncate_head("a\nb\nc\n", max_lines=2).details()
    assert details == {
        "truncated": True,
        "truncatedBy": "lines",
        "totalLines": 3,
        "totalBytes": 6,
        "outputLines": 2,
        "outputBytes": 3,
        "lastLinePartial": False,
        "firstLineExceedsLimit": False,
        "maxLines": 2,
        "maxBytes": 51_200,
    }


def test_sizes_are_written_with_their_unit() -> None:
    sizes = [format_size(size) for size in (0, 1023, 1024, 3 << 20, 5 << 30)]
    assert sizes == ["0 bytes", "1023 bytes", "1.0 KB", "3.0 MB", "5.0 GB"]
