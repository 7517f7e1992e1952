"""The `read` tool: text files by lines, images as images."""

import asyncio
import os
from pathlib import Path

from pydantic import Field

from agent_nb.core.content import TextContent
from agent_nb.core.errors import ToolError
from agent_nb.core.tool import Effect, Tool, ToolContext, ToolResult
from agent_nb.tools.arguments import Arguments, Whole
from agent_nb.tools.encoding import ENCODING_SAMPLE_BYTES, encoding_note
from agent_nb.tools.images import HEAD_BYTES, MOST_PIXELS, image_type, load_image
from agent_nb.tools.paths import check_is_file, resolve
from agent_nb.tools.read_lines import Window, read_window
from agent_nb.tools.truncate import MAX_BYTES, MAX_LINES, format_size


class ReadArguments(Arguments):
    """Arguments of `read`."""

    path: str = Field(description="File to read, absolute or relative to the working directory")
    offset: Whole = Field(1, description="First line to return, counted from 1")
    limit: Whole | None = Field(None, description="Number of lines to return at most")


async def read(arguments: ReadArguments, context: ToolContext) -> ToolResult:
    """Return the lines asked for, cut to the limits, or the image.

    Raises:
        ToolError: If the path is no readable file, or has no such line.
    """
    return await context.signal.guard(asyncio.to_thread(_read, arguments, context))


def _read(arguments: ReadArguments, context: ToolContext) -> ToolResult:
    path = resolve(context.cwd, arguments.path)
    try:
        check_is_file(path, arguments.path)
        with path.open("rb") as file:
            kind = image_type(file.read(HEAD_BYTES))
            if kind is not None:
                return _image_result(path, kind, context)
            file.seek(0, os.SEEK_SET)
            first = max(1, arguments.offset)
            limit = None if arguments.limit is None else max(1, arguments.limit)
            window = read_window(file, first, limit, context.signal.check)
            strange = _is_strange(window.truncation.content)
            file.seek(0, os.SEEK_SET)
            note = encoding_note(file.read(ENCODING_SAMPLE_BYTES)) if strange else ""
    except OSError as error:
        raise ToolError(f"Cannot read {arguments.path}: {error.strerror or error}.") from error
    return _text_result(arguments.path, first, window, note)


def _is_strange(text: str) -> bool:
    return "\ufffd" in text or "\0" in text


def _text_result(path: str, first: int, window: Window, encoding: str) -> ToolResult:
    truncation = window.truncation
    details = {"truncation": truncation.details()} if truncation.truncated else None
    if truncation.first_line_exceeds_limit:
        size = ("" if window.counted_all else "over ") + format_size(window.first_line_bytes)
        notice = (
            f"[Line {first} has {size}, more than the {format_size(MAX_BYTES)} that can be shown. "
            f"With bash: sed -n '{first}p' {path} | head -c {MAX_BYTES}]"
        )
        return ToolResult.of(notice, details=details)
    text = truncation.content
    if notice := " ".join(filter(None, (encoding, _notice(first, window)))):
        text += f"\n\n[{notice}]"
    return ToolResult.of(text, details=details)


def _notice(first: int, window: Window) -> str:
    """Say where to go on, if there is more."""
    truncation, total = window.truncation, f"{window.file_lines}"
    if not window.counted_all:
        total = f"more than {total}"
    if truncation.truncated:
        last = first + truncation.output_lines - 1
        size = f" ({format_size(MAX_BYTES)} limit)" if truncation.truncated_by == "bytes" else ""
        return f"Lines {first}-{last} of {total}{size}. Go on with offset={last + 1}."
    if window.more_lines:
        follow = window.file_lines - window.more_lines + 1
        more = ("" if window.counted_all else "more than ") + f"{window.more_lines}"
        return f"{more} more lines in the file. Go on with offset={follow}."
    return ""


def _image_result(path: Path, mime_type: str, context: ToolContext) -> ToolResult:
    image = load_image(path, mime_type)
    if image is None:
        return ToolResult.of(
            f"Image file, {mime_type}.\n"
            f"[Left out: it is damaged, has more than {MOST_PIXELS:,} pixels, or cannot be made "
            "small enough to be sent.]"
        )
    notes = [f"Image file, {image.content.mime_type}.", image.note]
    if not context.sees_images:
        notes.append("[The model in use takes no images; this one is kept but not sent to it.]")
    text = "\n".join(note for note in notes if note)
    return ToolResult((TextContent(text), image.content))


read_tool = Tool(
    name="read",
    description=(
        "Read a file. Text comes in whole lines, at most "
        f"{MAX_LINES} of them or {MAX_BYTES // 1024} KB; a closing note says with which offset "
        "to go on. PNG, JPEG, GIF, WebP and BMP files come as images."
    ),
    arguments=ReadArguments,
    execute=read,
    effects=frozenset({Effect.READ}),
    summary="Read text files and images",
    guidelines=("Look at files with read rather than with cat or sed.",),
    paths=lambda arguments: (arguments.path,),
)
