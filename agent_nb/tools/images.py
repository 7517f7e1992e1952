"""Images for models: recognised by content, and made small enough to be sent.

Source of the limits and the order of attempts: pi 1.6.0, `utils/image-resize-core.ts`.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from agent_nb.core.content import ImageContent

if TYPE_CHECKING:
    from PIL.Image import Image

HEAD_BYTES = 4_100
MAX_SIDE_PX = 2_000
MAX_BASE64_BYTES = int(4.5 * 1024 * 1024)
MOST_PIXELS = 64_000_000
"""Of more, unpacking takes too much memory: about 7 bytes for each."""

_JPEG_QUALITIES = (80, 70, 55, 40)
_SENT_AS_IS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


@dataclass(frozen=True, slots=True)
class LoadedImage:
    """An image for a model; `note` says how it differs from the file, if it does."""

    content: ImageContent
    note: str = ""


def image_type(head: bytes) -> str | None:
    """Recognise an image by the start of its file; animated PNG is not one that models take.

    >>> image_type(b"GIF89a...")
    'image/gif'
    """
    if head.startswith(b"\x89PNG\r\n\x1a\n") and head[12:16] == b"IHDR":
        return None if b"acTL" in head[: head.find(b"IDAT")] else "image/png"
    if head.startswith(b"\xff\xd8\xff") and head[3:4] != b"\xf7":
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(b"BM") and head[6:10] == bytes(4) and head[26:28] == b"\x01\x00":
        return "image/bmp"
    return None


def load_image(path: Path, mime_type: str) -> LoadedImage | None:
    """Load an image, scaled down or encoded anew if it is too large or of a rare type.

    Returns:
        None if it is damaged, has too many pixels, or is too large whatever is done.
    """
    from PIL import Image, ImageOps

    damaged = (
        OSError,
        SyntaxError,  # Pillow's for a broken PNG
        ValueError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    )
    try:
        if _has_too_many_pixels(path, mime_type):
            return None
        with Image.open(path) as image:
            if mime_type in _SENT_AS_IS and _is_small(image.size, path.stat().st_size):
                image.load()
                return LoadedImage(_block(path.read_bytes(), mime_type))
            return _encoded_anew(ImageOps.exif_transpose(image), mime_type)
    except damaged:
        return None


def _has_too_many_pixels(path: Path, mime_type: str) -> bool:
    """Say so by the head of the file; `Image.open` would warn first, for all the process."""
    from PIL import Image

    Image.init()
    reader, _accepts = Image.OPEN[mime_type.removeprefix("image/").upper()]
    with path.open("rb") as file, reader(file, str(path)) as image:
        width, height = image.size
        return width * height > MOST_PIXELS


def _is_small(size: tuple[int, int], file_bytes: int) -> bool:
    return max(size) <= MAX_SIDE_PX and _fits(file_bytes)


def _fits(size_bytes: int) -> bool:
    return (size_bytes + 2) // 3 * 4 < MAX_BASE64_BYTES


def _block(data: bytes, mime_type: str) -> ImageContent:
    return ImageContent(base64.b64encode(data).decode("ascii"), mime_type)


def _encoded_anew(image: "Image", mime_type: str) -> LoadedImage | None:
    from PIL.Image import Resampling

    scale = min(1.0, MAX_SIDE_PX / max(image.size))
    plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
    while True:
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        scaled = plain if size == plain.size else plain.resize(size, Resampling.LANCZOS)
        for data, encoded_type in _encodings(scaled):
            if _fits(len(data)):
                note = _note(image.size, size, mime_type, encoded_type)
                return LoadedImage(_block(data, encoded_type), note)
        if size == (1, 1):
            return None
        scale *= 0.75


def _encodings(image: "Image") -> Iterator[tuple[bytes, str]]:
    """Yield ways to encode `image`: the smaller of PNG and good JPEG first, then worse JPEG."""
    opaque = _on_white(image)
    best, *worse = _JPEG_QUALITIES
    candidates = [(_save(image, "PNG"), "image/png"), (_jpeg(opaque, best), "image/jpeg")]
    yield from sorted(candidates, key=lambda candidate: len(candidate[0]))
    for quality in worse:
        yield _jpeg(opaque, quality), "image/jpeg"


def _on_white(image: "Image") -> "Image":
    from PIL import Image

    if image.mode != "RGBA":
        return image
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image).convert("RGB")


def _jpeg(image: "Image", quality: int) -> bytes:
    out = BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def _save(image: "Image", kind: str) -> bytes:
    out = BytesIO()
    image.save(out, kind)
    return out.getvalue()


def _note(
    before: tuple[int, int], after: tuple[int, int], mime_type: str, encoded_type: str
) -> str:
    notes = []
    if mime_type not in _SENT_AS_IS:
        notes.append(f"[Converted from {mime_type} to {encoded_type}.]")
    if before != after:
        notes.append(
            f"[Scaled from {before[0]}x{before[1]} to {after[0]}x{after[1]} pixels. "
            f"Multiply coordinates by {before[0] / after[0]:.2f} to find them in the original.]"
        )
    return "\n".join(notes)
