"""The `find` tool: files by the pattern of their path."""

import asyncio
import os
from contextlib import aclosing
from pathlib import Path

from pydantic import Field

from agent_nb.core.errors import ToolError
from agent_nb.core.tool import Effect, Tool, ToolContext, ToolResult
from agent_nb.tools.arguments import Arguments, Whole
from agent_nb.tools.globs import file_name_glob, glob_regex
from agent_nb.tools.listing import listing
from agent_nb.tools.paths import is_directory, printable, resolve
from agent_nb.tools.search import list_files

DEFAULT_LIMIT = 1_000


class FindArguments(Arguments):
    """Arguments of `find`."""

    pattern: str = Field(
        description=(
            "Glob pattern relative to the searched directory, such as 'src/**/*.py'. Without a "
            "/ in it, such as '*.py', it is for file names at any depth"
        )
    )
    path: str = Field(".", description="Directory to search; the working directory if left out")
    limit: Whole = Field(DEFAULT_LIMIT, description="Number of files to return at most")


async def find(arguments: FindArguments, context: ToolContext) -> ToolResult:
    """List the files that match, sorted; a pattern in small letters matches capitals too.

    Raises:
        ToolError: If the directory or the pattern is none.
    """
    root = resolve(context.cwd, arguments.path)
    if not await context.signal.guard(asyncio.to_thread(is_directory, root, arguments.path)):
        raise ToolError(f"{arguments.path} is not a directory.")
    limit = max(1, arguments.limit)
    found = await _matching(root, arguments.pattern, limit + 1, context)
    lines = sorted(printable(path) for path in found[:limit])
    if len(found) <= limit:
        return listing(lines, f"No file matches {arguments.pattern}.", (), {})
    notice = f"Just {limit} files, there are more; a larger limit or a narrower pattern helps."
    return listing(lines, "", (notice,), {"resultLimitReached": limit})


async def _matching(root: Path, pattern: str, most: int, context: ToolContext) -> list[str]:
    pattern = pattern.removeprefix(f"{root}{os.sep}")
    ignore_case = pattern == pattern.lower()
    matches = glob_regex(pattern, ignore_case=ignore_case).fullmatch
    name_glob = file_name_glob(pattern, ignore_case=ignore_case)
    found: list[str] = []
    async with aclosing(list_files(root, name_glob, context)) as batches:
        async for batch in batches:
            found += filter(matches, batch)
            if len(found) >= most:
                break
    return found[:most]


find_tool = Tool(
    name="find",
    description=(
        "Find files, not directories, by a glob pattern. Paths are relative to the searched "
        f"directory; what .gitignore rules out is left out. At most {DEFAULT_LIMIT} unless a "
        "limit is given."
    ),
    arguments=FindArguments,
    execute=find,
    effects=frozenset({Effect.READ}),
    summary="Find files by a glob pattern; .gitignore is respected",
    paths=lambda arguments: (arguments.path,),
)
