import asyncio
import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.errors import ToolError
from agent_nb.core.tool import ToolResult
from agent_nb.tools.file_writes import FileLocks, replace_file

Call = Callable[..., Awaitable[ToolResult]]


def names(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


async def test_missing_directories_are_made_and_bytes_told(call: Call, tmp_path: Path) -> None:
    result = await call("write", path="deep/er/new.txt", content="alpha\nünï")
    assert (tmp_path / "deep/er/new.txt").read_bytes() == "alpha\nünï".encode()
    assert result.text == "Wrote 11 bytes to deep/er/new.txt."


async def test_content_arrives_byte_for_byte(call: Call, tmp_path: Path) -> None:
    content = "a\r\nb\rc\n\u2028\ufeff\x00 👩‍💻"
    await call("write", path="a", content=content)
    assert (tmp_path / "a").read_bytes() == content.encode()


async def test_halves_of_characters_are_joined_or_replaced(call: Call, tmp_path: Path) -> None:
    await call("write", path="a", content="\ud83d\ude00 \ud83d")
    assert (tmp_path / "a").read_text("utf-8") == "😀 \ufffd"


async def test_an_old_file_keeps_its_mode_and_a_new_one_gets_the_usual(
    call: Call, tmp_path: Path
) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    await call("write", path="run.sh", content="new")
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("new", 0o750)
    (tmp_path / "usual").touch()
    await call("write", path="other", content="")
    assert (tmp_path / "other").stat().st_mode == (tmp_path / "usual").stat().st_mode


async def test_links_stay_links(call: Call, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "soft").symlink_to("target")
    (tmp_path / "dangling").symlink_to("made")
    (tmp_path / "hard").hardlink_to(tmp_path / "target")
    await call("write", path="soft", content="new")
    await call("write", path="dangling", content="made")
    assert (tmp_path / "soft").is_symlink()
    assert (tmp_path / "hard").read_text() == (tmp_path / "target").read_text() == "new"
    assert (tmp_path / "made").read_text() == "made"


async def test_a_reader_sees_the_old_file_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with path.open() as reader:
        replace_file(path, b"new")
        assert reader.read() == "old"
    assert names(tmp_path) == ["a"]


async def test_what_cannot_be_written_is_an_error_and_leaves_nothing(
    call: Call, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(ToolError, match=r"^\. is a directory, not a file"):
        await call("write", path=".", content="x")
    with pytest.raises(ToolError, match="Cannot write file/x: "):
        await call("write", path="file/x", content="x")
    with pytest.raises(ToolError, match="File name too long"):
        await call("write", path="n" * 300, content="x")
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("path", ["pipe", "link", "/dev/full"])
async def test_a_pipe_or_device_is_neither_written_nor_edited(
    call: Call, tmp_path: Path, path: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with pytest.raises(ToolError, match="is a pipe, socket or device"):
        await call("write", path=path, content="x")
    with pytest.raises(ToolError, match="is a pipe, socket or device"):
        await call("edit", path=path, edits=[{"oldText": "a", "newText": "b"}])


async def test_a_failed_move_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "directory", b"x")
    assert names(tmp_path) == ["directory"]


async def test_after_an_abort_nothing_is_written(call: Call, tmp_path: Path) -> None:
    signal = AbortSignal()
    signal.abort()
    with pytest.raises(Aborted):
        await call("write", path="a", content="x", with_={"signal": signal})
    assert names(tmp_path) == []


async def test_writes_of_one_file_come_one_after_the_other(call: Call, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    contents = [str(number) * 100_000 for number in range(8)]
    names = ("a", "./a", "link")
    calls = [call("write", path=names[i % 3], content=text) for i, text in enumerate(contents)]
    await asyncio.gather(*calls)
    assert (tmp_path / "a").read_text() == contents[-1]


async def test_locks_are_shared_by_all_names_of_a_file_and_forgotten(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    locks = FileLocks()
    lock = locks.of(tmp_path / "a")
    assert locks.of(tmp_path / "link") is lock
    assert locks.of(tmp_path / "b") is not lock
    del lock
    assert not locks._locks
