"""The `ls` tool: what is in a directory."""

import asyncio
import os

from pydantic import Field

from agent_nb.core.errors import ToolError
from agent_nb.core.tool import Effect, Tool, ToolContext, ToolResult
from agent_nb.tools.arguments import Arguments, Whole
from agent_nb.tools.listing import listing
from agent_nb.tools.paths import printable, resolve

DEFAULT_LIMIT = 500


class LsArguments(Arguments):
    """Arguments of `ls`."""

    path: str = Field(".", description="Directory to list; the working directory if left out")
    limit: Whole = Field(DEFAULT_LIMIT, description="Number of entries to return at most")


async def ls(arguments: LsArguments, context: ToolContext) -> ToolResult:
    """List a directory, hidden entries included, sorted regardless of case.

    Raises:
        ToolError: If it is not a directory or cannot be read.
    """
    return await context.signal.guard(asyncio.to_thread(_ls, arguments, context))


def _ls(arguments: LsArguments, context: ToolContext) -> ToolResult:
    path = resolve(context.cwd, arguments.path)
    limit = max(1, arguments.limit)
    try:
        with os.scandir(path) as scan:
            entries = sorted(scan, key=lambda entry: (entry.name.lower(), entry.name))
    except OSError as error:
        raise ToolError(f"Cannot list {arguments.path}: {error.strerror or error}.") from error
    names = [printable(entry.name) + "/" * _is_directory(entry) for entry in entries[:limit]]
    if len(entries) <= limit:
        return listing(names, "(The directory is empty.)", (), {})
    notice = f"The first {limit} of {len(entries)} entries; a larger limit shows more."
    return listing(names, "", (notice,), {"entryLimitReached": limit})


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links, or a directory we may not look into
        return False


ls_tool = Tool(
    name="ls",
    description=(
        "List a directory: names in alphabetical order, hidden ones included, directories with "
        f"a / at the end. At most {DEFAULT_LIMIT} unless a limit is given."
    ),
    arguments=LsArguments,
    execute=ls,
    effects=frozenset({Effect.READ}),
    summary="List a directory",
    paths=lambda arguments: (arguments.path,),
)
