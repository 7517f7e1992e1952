"""The `grep` tool: lines of files that match a pattern."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from pydantic import Field

from agent_nb.core.errors import ToolError
from agent_nb.core.tool import Effect, Tool, ToolContext, ToolResult
from agent_nb.tools.arguments import Arguments, Whole
from agent_nb.tools.globs import file_name_glob, glob_regex
from agent_nb.tools.listing import listing
from agent_nb.tools.paths import check_is_file, is_directory, printable, resolve
from agent_nb.tools.search import search
from agent_nb.tools.search_query import Hit, Query
from agent_nb.tools.truncate import MAX_BYTES, byte_length, truncate_line

DEFAULT_LIMIT = 100
MAX_LINE_CHARS = 500


class GrepArguments(Arguments):
    """Arguments of `grep`."""

    pattern: str = Field(description="Regular expression to look for, or text if literal is true")
    path: str = Field(
        ".", description="Directory or file to search; the working directory if left out"
    )
    glob: str | None = Field(
        None,
        description=(
            "Search just files whose path, relative to the searched directory, matches: "
            "'src/**/*.py', or '*.py' at any depth, or '!*.md' for all others"
        ),
    )
    ignore_case: bool = Field(
        default=False, description="Whether capitals and small letters are the same"
    )
    literal: bool = Field(
        default=False, description="Whether the pattern is text, not an expression"
    )
    context: Whole = Field(0, description="Lines to show before and after every match")
    limit: Whole = Field(DEFAULT_LIMIT, description="Number of matches to return at most")


async def grep(arguments: GrepArguments, context: ToolContext) -> ToolResult:
    """List the lines that match, file by file; files that may not be read unasked are counted.

    Raises:
        ToolError: If the path does not exist or is a pipe or device, or the pattern or glob is
            wrong.
    """
    if "\0" in arguments.pattern:
        raise ToolError("The pattern has a NUL character, which no line of text holds.")
    root = resolve(context.cwd, arguments.path)
    looking = asyncio.to_thread(is_directory, root, arguments.path)
    is_file = not await context.signal.guard(looking)
    if is_file:
        await context.signal.guard(asyncio.to_thread(_check, root, arguments.path))
    findings = _Findings(max(1, arguments.limit), arguments.context)
    # A file named outright was asked for, whatever its name.
    glob = None if is_file else arguments.glob
    wanted = _Wanted(root, glob, _may_read_all if is_file else context.may_read)
    query = Query(
        pattern=arguments.pattern,
        root=root,
        name_glob=_name_glob(glob),
        ignore_case=arguments.ignore_case,
        literal=arguments.literal,
        context_lines=arguments.context,
    )
    async with aclosing(search(query, context)) as batches:
        async for batch in batches:
            for hit in batch:
                if wanted(hit.path):
                    findings.add(hit)
            if findings.complete:
                break
    return findings.result(wanted.held_back)


def _check(path: Path, written: str) -> None:
    try:
        check_is_file(path, written)
    except OSError as error:
        raise ToolError(f"Cannot read {written}: {error.strerror or error}.") from error


def _may_read_all(_path: Path) -> bool:
    return True


def _name_glob(glob: str | None) -> str | None:
    return None if glob is None or glob.startswith("!") else file_name_glob(glob)


class _Wanted:
    """Decides once per file whether its lines belong in the result, and counts the held back."""

    def __init__(self, root: Path, glob: str | None, may_read: Callable[[Path], bool]) -> None:
        self.held_back = 0
        self._root = root
        self._may_read = may_read
        self._negated = glob is not None and glob.startswith("!")
        self._regex = None if glob is None else glob_regex(glob.removeprefix("!"))
        self._verdicts: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        verdict = self._verdicts.get(path)
        if verdict is None:
            verdict = self._verdicts[path] = self._decide(path)
        return verdict

    def _decide(self, path: str) -> bool:
        if self._regex is not None and bool(self._regex.fullmatch(path)) == self._negated:
            return False
        if self._may_read(self._root / path):
            return True
        self.held_back += 1
        return False


class _Findings:
    """Collects hits up to the limits."""

    def __init__(self, limit: int, context_lines: int) -> None:
        self.complete = False
        self._limit = limit
        self._context_lines = context_lines
        self._matches = 0
        self._more = False
        self._cut_lines = False
        self._size_bytes = 0
        self._lines: dict[str, list[str]] = {}
        self._last = ("", 0)

    def add(self, hit: Hit) -> None:
        """Take a hit, unless the limit is reached: then just lines around the last match."""
        if self.complete:
            return
        if self._matches < self._limit:
            self._show(hit, is_match=hit.is_match)
            if hit.is_match:
                self._matches += 1
                self._last = (hit.path, hit.line + self._context_lines)
            return
        path, last_line = self._last
        near = hit.path == path and hit.line <= last_line
        if near:
            self._show(hit, is_match=False)
        self._more = self._more or hit.is_match
        self.complete = self.complete or (self._more and not near)

    def result(self, held_back: int) -> ToolResult:
        """Put it all in order; the files come as they may from a search with many threads."""
        notices, details = self._notices(held_back)
        lines = [line for path in sorted(self._lines) for line in self._lines[path]]
        return listing(lines, "No line matches.", notices, details)

    def _show(self, hit: Hit, *, is_match: bool) -> None:
        mark = ":" if is_match else "-"
        text = truncate_line(hit.text, MAX_LINE_CHARS)
        self._cut_lines = self._cut_lines or text != hit.text
        place = f"{hit.path}{mark}{hit.line}{mark} "
        if not hit.line:
            place, text = (
                f"{hit.path}{mark} ",
                "[A line of some megabytes matches; it is not shown.]",
            )
        line = printable(place + text)
        self._lines.setdefault(hit.path, []).append(line)
        self._size_bytes += byte_length(line) + 1
        # One line more than can be shown, for the cut to be seen and said.
        self.complete = self.complete or self._size_bytes > MAX_BYTES + 1

    def _notices(self, held_back: int) -> tuple[list[str], Mapping[str, Any]]:
        notices: list[str] = []
        details: dict[str, Any] = {}
        if self._more:
            notices.append(
                f"Just {self._limit} matches, there are more; a larger limit or a narrower "
                "pattern helps."
            )
            details["matchLimitReached"] = self._limit
        if self._cut_lines:
            notices.append(f"Lines are cut after {MAX_LINE_CHARS} characters; read shows them.")
            details["linesTruncated"] = True
        if held_back:
            files = "1 file that matches was" if held_back == 1 else f"{held_back} files were"
            notices.append(
                f"{files} held back: they may hold secrets and are searched just when named."
            )
            details["heldBackFiles"] = held_back
        return notices, details


grep_tool = Tool(
    name="grep",
    description=(
        "Search the content of files for a pattern. Returns path, line number and text of every "
        f"matching line; what .gitignore rules out is left out. At most {DEFAULT_LIMIT} matches "
        f"unless a limit is given, long lines are cut after {MAX_LINE_CHARS} characters."
    ),
    arguments=GrepArguments,
    execute=grep,
    effects=frozenset({Effect.READ}),
    summary="Search the content of files for a pattern; .gitignore is respected",
    paths=lambda arguments: (arguments.path,),
)
