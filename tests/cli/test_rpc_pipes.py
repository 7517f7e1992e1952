import asyncio
import os
from collections.abc import Iterator

import pytest

from agent_nb.cli.rpc_pipes import LineFraming, RecordWriter, read_lines

STREAM = b'{"a":1}\n{"b":"\xe2\x80\xa8\r"}\r\n\n{"c"'


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue  # the test has closed it


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_end_at_line_feeds_however_they_arrive(size: int) -> None:
    framing = LineFraming()
    lines = []
    for start in range(0, len(STREAM), size):
        lines += framing.feed(STREAM[start : start + size])
    assert lines == [b'{"a":1}', b'{"b":"\xe2\x80\xa8\r"}', b""]
    assert framing.rest() == [b'{"c"']
    assert framing.rest() == []


async def test_lines_are_read_as_they_come_and_the_end_is_told(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    lines = read_lines(source)
    os.write(sink, b"one\ntw")
    assert await lines.get() == b"one"
    os.write(sink, b"o")
    os.close(sink)
    assert [await lines.get(), await lines.get()] == [b"two", None]


async def test_records_are_written_in_order_to_the_last(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    writer = RecordWriter(sink, lambda: None)
    for number in range(100):
        writer.put(b"%d\n" % number)
    await writer.close()
    assert os.read(source, 10_000) == b"".join(b"%d\n" % number for number in range(100))


async def test_a_client_that_does_not_read_holds_up_nothing(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    writer = RecordWriter(sink, lambda: None)
    big = b"x" * 1_000_000 + b"\n"
    assert not writer.is_behind
    for _ in range(9):
        writer.put(big)
    assert writer.is_behind
    closing = asyncio.create_task(writer.close())
    read = b""
    while len(read) < 9 * len(big):
        read += await asyncio.to_thread(os.read, source, 1 << 16)
    await closing
    assert read == 9 * big
    assert not writer.is_behind


async def test_a_client_that_has_left_is_noticed(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    os.close(source)
    broken = asyncio.Event()
    writer = RecordWriter(sink, broken.set)
    writer.put(b"{}\n")
    async with asyncio.timeout(10):
        await broken.wait()
    await writer.close()
