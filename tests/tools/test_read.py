import base64
import os
import zlib
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.content import ImageContent
from agent_nb.core.errors import ToolError
from agent_nb.core.tool import ToolResult
from agent_nb.tools.images import load_image
from agent_nb.tools.read_lines import COUNT_AHEAD_BYTES, read_window

Call = Callable[..., Awaitable[ToolResult]]


def numbered(count: int) -> str:
    return "".join(f"n{number};\n" for number in range(1, count + 1))


def ignore() -> None:
    return None


async def test_a_short_file_comes_as_it_is(call: Call, tmp_path: Path) -> None:
    text = "one\r\ntwo\u2028still two\x0c\x85\nthree 👩‍💻"
    (tmp_path / "a.txt").write_bytes(text.encode())
    result = await call("read", path="a.txt")
    assert (result.text, result.details, result.is_error) == (text, None, False)


async def test_an_empty_file_is_one_empty_text_block(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    result = await call("read", path="empty")
    assert [(block.type, result.text) for block in result.content] == [("text", "")]


async def test_long_files_are_cut_after_2000_lines(call: Call, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text(numbered(5000))
    result = await call("read", path="many.txt")
    assert result.text.startswith("n1;\nn2;\n")
    assert result.text.endswith("n2000;\n\n[Lines 1-2000 of 5001. Go on with offset=2001.]")
    truncation = result.details["truncation"]
    assert (truncation["truncatedBy"], truncation["totalLines"]) == ("lines", 5000)
    assert (truncation["totalBytes"], truncation["outputLines"]) == (33_893, 2000)


async def test_wide_files_are_cut_after_50_kb_at_a_line(call: Call, tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_text(("x" * 999 + "\n") * 100)
    result = await call("read", path="wide.txt", offset=11)
    assert "[Lines 11-61 of 101 (50.0 KB limit). Go on with offset=62.]" in result.text
    truncation = result.details["truncation"]
    assert (truncation["truncatedBy"], truncation["outputBytes"]) == ("bytes", 50_999)
    assert (truncation["totalLines"], truncation["totalBytes"]) == (90, 90_000)


async def test_a_window_of_lines_comes_with_the_next_offset(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(numbered(100))
    result = await call("read", path="a.txt", offset=10, limit=5)
    text = "n10;\nn11;\nn12;\nn13;\nn14;\n\n[87 more lines in the file. Go on with offset=15.]"
    assert (result.text, result.details) == (text, None)


async def test_a_limit_beyond_the_output_limits_is_cut_too(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(numbered(9000))
    result = await call("read", path="a.txt", offset=101, limit=3000)
    assert result.text.endswith("[Lines 101-2100 of 9001. Go on with offset=2101.]")
    truncation = result.details["truncation"]
    assert truncation["totalLines"] == 3000
    assert truncation["totalBytes"] == len("".join(f"n{n};\n" for n in range(101, 3101))) - 1


async def test_the_empty_line_after_the_last_newline_can_be_read(
    call: Call, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n")
    assert (await call("read", path="a.txt", offset=3)).text == ""
    with pytest.raises(ToolError, match=r"Line 4 is beyond the end of the file, which has 3\."):
        await call("read", path="a.txt", offset=4)


@pytest.mark.parametrize("offset", [0, -5])
async def test_an_offset_before_the_first_line_means_the_first(
    call: Call, tmp_path: Path, offset: int
) -> None:
    (tmp_path / "a.txt").write_text("a\nb")
    assert (await call("read", path="a.txt", offset=offset)).text == "a\nb"


@pytest.mark.parametrize("rest", ["", "\nshort\n"])
async def test_a_line_too_long_to_show_is_described(call: Call, tmp_path: Path, rest: str) -> None:
    (tmp_path / "a.txt").write_text("first\n" + "x" * 60_000 + rest)
    result = await call("read", path="a.txt", offset=2)
    assert result.text.startswith("[Line 2 has 58.6 KB")
    assert "sed -n '2p' a.txt | head -c 51200" in result.text
    assert result.details["truncation"]["firstLineExceedsLimit"]
    assert not result.is_error


async def test_bytes_that_are_not_utf8_are_replaced(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x00\xff\xfea\xe4b\xf0\x9f\x98")
    assert (await call("read", path="a.bin")).text == "\x00\ufffd\ufffda\ufffdb\ufffd"


@given(
    st.binary(max_size=300) | st.text("ab\n\r\u2028é語😀", max_size=200).map(str.encode),
    st.integers(1, 12),
    st.none() | st.integers(1, 12),
)
def test_a_window_is_the_lines_python_would_cut_out(
    data: bytes, first: int, limit: int | None
) -> None:
    lines = data.decode("utf-8", "replace").split("\n")
    if first > len(lines):
        with pytest.raises(ToolError):
            read_window(BytesIO(data), first, limit, ignore)
        return
    window = read_window(BytesIO(data), first, limit, ignore)
    end = len(lines) if limit is None else first - 1 + limit
    assert window.truncation.content == "\n".join(lines[first - 1 : end])
    assert (window.file_lines, window.counted_all) == (len(lines), True)
    assert window.more_lines == max(0, len(lines) - end)


class CountingFile(BytesIO):
    """Zeros without end, of which the first megabytes are `head`."""

    def __init__(self, head: bytes) -> None:
        super().__init__(head)
        self.bytes_read = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size >= 0, "a huge file is never read whole"
        data = super().read(size) or bytes(size)
        self.bytes_read += len(data)
        return data


def test_of_a_huge_file_a_bounded_part_is_read() -> None:
    file = CountingFile(numbered(3000).encode())
    window = read_window(file, 1, None, ignore)
    assert window.truncation.output_lines == 2000
    assert not window.counted_all
    assert file.bytes_read < COUNT_AHEAD_BYTES * 1.2


async def test_a_sparse_file_of_gigabytes_is_read_at_once(call: Call, tmp_path: Path) -> None:
    with (tmp_path / "huge.txt").open("wb") as file:
        file.write(numbered(3000).encode())
        file.truncate(5 << 30)
    result = await call("read", path="huge.txt", limit=2)
    assert result.text == (
        "n1;\nn2;\n\n[more than 2999 more lines in the file. Go on with offset=3.]"
    )
    result = await call("read", path="huge.txt", offset=3001)
    assert result.text.startswith("[Line 3001 has over 64.0 MB")


async def test_what_is_no_file_is_an_error(call: Call, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"Cannot read nowhere\.txt: No such file"):
        await call("read", path="nowhere.txt")
    with pytest.raises(ToolError, match=r"\. is a directory"):
        await call("read", path=".")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ToolError, match="pipe is a pipe"):
        await call("read", path="pipe")


async def test_the_start_of_a_path_may_be_an_at_sign_or_home(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.txt").write_text("here")
    for path in ("@a.txt", "~/a.txt", str(tmp_path / "a.txt")):
        assert (await call("read", path=path)).text == "here"


async def test_an_abort_stops_reading(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    signal = AbortSignal()
    signal.abort()
    with pytest.raises(Aborted):
        await call("read", path="a.txt", with_={"signal": signal})


def picture(kind: str, size: tuple[int, int] = (3, 2), mode: str = "RGB") -> bytes:
    out = BytesIO()
    Image.new(mode, size, "red").save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_images_are_recognised_by_content(call: Call, tmp_path: Path, kind: str) -> None:
    data = picture(kind)
    (tmp_path / "picture.txt").write_bytes(data)
    result = await call("read", path="picture.txt")
    mime_type = f"image/{kind.lower()}"
    assert result.text == f"Image file, {mime_type}."
    assert result.content[1] == ImageContent(base64.b64encode(data).decode(), mime_type)


async def test_a_bitmap_becomes_a_type_models_take(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.bmp").write_bytes(picture("BMP"))
    result = await call("read", path="a.bmp")
    assert "Converted from image/bmp" in result.text
    assert isinstance(result.content[1], ImageContent)
    assert result.content[1].mime_type in {"image/png", "image/jpeg"}


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1"])
async def test_large_images_are_scaled_down(call: Call, tmp_path: Path, mode: str) -> None:
    (tmp_path / "a.png").write_bytes(picture("PNG", (4000, 100), mode if mode != "L" else "L"))
    result = await call("read", path="a.png")
    assert "Scaled from 4000x100 to 2000x50 pixels. Multiply coordinates by 2.00" in result.text
    block = result.content[1]
    assert isinstance(block, ImageContent)
    assert Image.open(BytesIO(base64.b64decode(block.data))).size == (2000, 50)


async def test_heavy_images_are_made_lighter(call: Call, tmp_path: Path) -> None:
    noise = Image.frombytes("RGB", (1500, 1500), os.urandom(1500 * 1500 * 3))
    noise.save(tmp_path / "noise.png")
    block = (await call("read", path="noise.png")).content[1]
    assert isinstance(block, ImageContent)
    assert len(block.data) < 4.5 * 1024 * 1024


async def test_a_damaged_image_is_left_out_but_no_error(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture("PNG")[:40])
    result = await call("read", path="a.png")
    assert [block.type for block in result.content] == ["text"]
    assert "Left out" in result.text
    assert not result.is_error


async def test_an_image_is_kept_for_a_model_that_takes_none(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture("PNG"))
    result = await call("read", path="a.png", with_={"sees_images": False})
    assert "takes no images" in result.text
    assert [block.type for block in result.content] == ["text", "image"]


def png_head(width: int, height: int) -> bytes:
    """A PNG that says to be large; nobody should get so far as to see that it is cut off."""
    head = b"IHDR" + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x00\x00\x00\x00"
    data = b"IDAT" + zlib.compress(bytes(1_000))
    chunks = ((len(c) - 4).to_bytes(4) + c + zlib.crc32(c).to_bytes(4) for c in (head, data))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("side", [8_001, 13_300, 60_000])
async def test_an_image_of_too_many_pixels_is_never_unpacked(
    call: Call, tmp_path: Path, side: int
) -> None:
    (tmp_path / "bomb.png").write_bytes(png_head(side, side))
    result = await call("read", path="bomb.png")  # without a warning either
    assert "has more than 64,000,000 pixels" in result.text
    for kind in ("JPEG", "GIF", "WEBP", "BMP"):
        with Image.new("L", (9, 7)) as image:
            image.save(tmp_path / f"small.{kind}", kind)
        assert (await call("read", path=f"small.{kind}")).text.startswith("Image file")
        assert load_image(tmp_path / f"small.{kind}", f"image/{kind.lower()}") is not None
