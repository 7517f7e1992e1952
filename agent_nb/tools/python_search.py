"""Searching without ripgrep: slower, and with Python's regular expressions.

Those can backtrack for ever, and hold the interpreter while they do: a pattern such as `(a+)+$`
stops everything until the kernel is restarted. ripgrep's cannot.
"""

import asyncio
import os
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from agent_nb.core.abort import AbortSignal
from agent_nb.core.errors import ToolError
from agent_nb.tools.search_query import Hit, Query

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

T = TypeVar("T")
_Rules = tuple[tuple[str, "GitIgnoreSpec"], ...]
_IGNORE_FILES = (".gitignore", ".ignore")
_NEVER = frozenset({".git", ".ipynb_checkpoints"})
_BATCH = 100


def list_files(root: Path, signal: AbortSignal) -> AsyncGenerator[Sequence[str], None]:
    """Yield the files below the directory `root`, relative to it, in batches."""
    return _in_batches(_walk(root, signal.check), signal)


def search(query: Query, signal: AbortSignal) -> AsyncGenerator[Sequence[Hit], None]:
    """Yield the lines that match, in batches.

    Raises:
        ToolError: If the pattern is not a regular expression.
    """
    flags = re.IGNORECASE if query.ignore_case else 0
    try:
        regex = re.compile(re.escape(query.pattern) if query.literal else query.pattern, flags)
    except re.error as error:
        raise ToolError(f"{query.pattern} is not a regular expression: {error}.") from error
    return _in_batches(_hits(query, regex, signal.check), signal)


async def _in_batches(items: Iterator[T], signal: AbortSignal) -> AsyncGenerator[Sequence[T], None]:
    while batch := await signal.guard(asyncio.to_thread(_take, items)):
        yield batch


def _take(items: Iterator[T]) -> list[T]:
    return list(islice(items, _BATCH))


def _hits(query: Query, regex: re.Pattern[str], check: Callable[[], None]) -> Iterator[Hit]:
    if query.root.is_file():
        files: Iterator[tuple[str, Path]] = iter([(query.root.name, query.root)])
    else:
        files = ((name, query.root / name) for name in _walk(query.root, check))
    for name, path in files:
        check()
        try:
            with path.open("rb") as file:
                yield from _hits_in(file, name, regex, query.context_lines)
        except OSError:  # gone or not ours to read; ripgrep passes over it too
            continue


def _hits_in(
    file: BinaryIO, name: str, regex: re.Pattern[str], context_lines: int
) -> Iterator[Hit]:
    before: deque[Hit] = deque(maxlen=max(0, context_lines))
    after = 0
    for number, data in enumerate(file, 1):
        if b"\0" in data:  # not text
            return
        line = data.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")
        if regex.search(line):
            yield from before
            before.clear()
            yield Hit(name, number, line, is_match=True)
            after = context_lines
        elif after > 0:
            after -= 1
            yield Hit(name, number, line, is_match=False)
        else:
            before.append(Hit(name, number, line, is_match=False))


def _walk(root: Path, check: Callable[[], None]) -> Iterator[str]:
    rules = _outer_rules(root)
    if _is_ruled_out(str(root), rules, is_directory=True):
        rules = ()  # whoever names a directory that is left out wants to see what is in it
    return _walk_below(str(root), "", rules, check)


def _walk_below(
    directory: str, prefix: str, rules: _Rules, check: Callable[[], None]
) -> Iterator[str]:
    check()
    rules += _rules_in(directory)
    try:
        with os.scandir(directory) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name in _NEVER or entry.is_symlink():
            continue
        is_directory = entry.is_dir(follow_symlinks=False)
        if _is_ruled_out(entry.path, rules, is_directory=is_directory):
            continue
        if is_directory:
            yield from _walk_below(entry.path, f"{prefix}{entry.name}/", rules, check)
        elif entry.is_file(follow_symlinks=False):
            yield prefix + entry.name


def _outer_rules(root: Path) -> _Rules:
    """Return the rules of the directories around `root`, up to the border of a git repository."""
    rules: _Rules = ()
    inner = root
    for outer in root.parents:
        if (inner / ".git").exists():
            break
        rules = _rules_in(str(outer)) + rules
        inner = outer
    return rules


def _rules_in(directory: str) -> _Rules:
    rules: _Rules = ()
    for name in _IGNORE_FILES:
        try:
            text = Path(directory, name).read_text("utf-8", "replace")
        except OSError:
            continue
        from pathspec import GitIgnoreSpec

        rules += ((directory, GitIgnoreSpec.from_lines(text.split("\n"))),)
    return rules


def _is_ruled_out(path: str, rules: _Rules, *, is_directory: bool) -> bool:
    """Say whether the innermost rule that knows `path` leaves it out."""
    for directory, spec in reversed(rules):
        relative = os.path.relpath(path, directory).replace(os.sep, "/")
        verdict = spec.check_file(relative + "/" * is_directory).include
        if verdict is not None:
            return verdict
    return False
