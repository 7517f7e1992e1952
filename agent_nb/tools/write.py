"""The `write` tool: a file's whole content."""

import asyncio
import contextlib
from functools import partial
from pathlib import Path

from pydantic import Field

from agent_nb.core.errors import ToolError
from agent_nb.core.tool import Effect, Tool, ToolContext, ToolResult
from agent_nb.tools.arguments import Arguments
from agent_nb.tools.file_writes import FileLocks, encode, replace_file
from agent_nb.tools.paths import check_is_file, resolve


class WriteArguments(Arguments):
    """Arguments of `write`."""

    path: str = Field(description="File to write, absolute or relative to the working directory")
    content: str = Field(description="The whole new content of the file")


async def write(locks: FileLocks, arguments: WriteArguments, context: ToolContext) -> ToolResult:
    """Write the file, with the directories it needs.

    Raises:
        ToolError: If it cannot be written; an old file is then as it was.
    """
    path = resolve(context.cwd, arguments.path)
    data = encode(arguments.content)
    async with locks.of(path):
        context.signal.check()
        # Not guarded: the lock must be held until the file is whole.
        await asyncio.to_thread(_write, path, data, arguments.path)
    return ToolResult.of(f"Wrote {len(data)} bytes to {arguments.path}.")


def _write(path: Path, data: bytes, written: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # then it is to be made
            check_is_file(path, written)
        replace_file(path, data)
    except OSError as error:
        raise ToolError(f"Cannot write {written}: {error.strerror or error}.") from error


def write_tool(locks: FileLocks) -> Tool:
    """Make the tool; `locks` are shared by all tools that change files."""
    return Tool(
        name="write",
        description=(
            "Write a file: its whole content replaces what was there. Missing directories are made."
        ),
        arguments=WriteArguments,
        execute=partial(write, locks),
        effects=frozenset({Effect.WRITE}),
        summary="Make new files, or replace whole ones",
        guidelines=("Use write for new files and complete rewrites, edit for everything else.",),
        paths=lambda arguments: (arguments.path,),
    )
