from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.tools.output_tail import OutputTail
from agent_nb.tools.truncate import MAX_BYTES, truncate_tail

BYTES = st.binary(max_size=60) | st.text("aé語😀\n", max_size=40).map(str.encode)


def tail_of(*pieces: bytes) -> OutputTail:
    output = OutputTail()
    for piece in pieces:
        output.append(piece)
    output.finish()
    return output


@given(BYTES, st.lists(st.integers(0, 60)))
def test_the_text_is_the_same_however_the_bytes_are_cut(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges)]
    truncation = tail_of(*pieces).truncation
    text = data.decode("utf-8", "replace")
    assert truncation == truncate_tail(text)


@pytest.mark.parametrize("line", [b"x\n", b"y" * 99 + b"\n", "é".encode() * 700 + b"\n"])
@pytest.mark.parametrize("piece_bytes", [1_000, 65_536])
def test_long_output_ends_like_the_whole_would(line: bytes, piece_bytes: int) -> None:
    data = line * (600_000 // len(line)) + b"the end"
    output = tail_of(*(data[i : i + piece_bytes] for i in range(0, len(data), piece_bytes)))
    assert output.truncation == truncate_tail(data.decode())
    assert output.full_output_path is not None
    path = Path(output.full_output_path)
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o600
    path.unlink()


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_of_one_endless_line_the_end_is_shown_with_its_length(end: bytes) -> None:
    output = tail_of(*["é".encode() * 40_000] * 5, end)
    truncation = output.truncation
    assert truncation.last_line_partial
    assert truncation.content == "é" * (MAX_BYTES // 2)
    assert (truncation.total_lines, truncation.total_bytes) == (1, 400_000 + len(end))
    assert output.full_output_path is not None
    Path(output.full_output_path).unlink()


def test_short_output_makes_no_file() -> None:
    output = tail_of(b"x" * MAX_BYTES)
    assert (output.full_output_path, output.details()) == (None, None)


def test_memory_stays_bounded() -> None:
    output = OutputTail()
    for _piece in range(100):
        output.append(b"z" * 100_000)
        assert len(output._tail) + len(output._raw) <= 4 * MAX_BYTES + 100_000
    output.finish()
    assert output.full_output_path is not None
    Path(output.full_output_path).unlink()


def test_the_file_of_an_endless_output_has_a_limit() -> None:
    output = OutputTail(most_file_bytes=100_000)
    for number in range(10_000):
        output.append(b"%09d\n" % number)
        assert output.full_output_cut == (number >= 10_000)
    output.append(b"more\n")
    output.finish()
    assert output.full_output_cut
    assert output.full_output_path is not None
    path = Path(output.full_output_path)
    assert path.stat().st_size == 100_000
    assert output.truncation.content.endswith("000009999\nmore")
    path.unlink()


def test_without_room_for_the_file_the_output_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    output = tail_of(b"a\n" * 3_000, b"b\n")
    assert output.full_output_path is None
    assert output.truncation.content.endswith("a\nb")
    details = output.details()
    assert details is not None
    assert details["fullOutputPath"] is None
