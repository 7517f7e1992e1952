"""Paths as models write them, and as they are shown to models."""

import os
import re
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agent_nb.core.errors import ToolError

_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def resolve(cwd: Path, written: str) -> Path:
    """Return the absolute path that `written` means; it need not exist.

    `~`, `file://` and `..` are worked out. A leading `@` (how prompts mention files) and spaces
    that are not ASCII are taken as slips, unless a file of that very name exists. pi never looks
    for one, which puts `@types/node` and names with such spaces out of reach.

    Raises:
        ToolError: If no file can have that name.
    """
    literal = _absolute(cwd, written)
    if os.path.lexists(literal):
        return literal
    return _absolute(cwd, _SPACES.sub(" ", written).removeprefix("@"))


def _absolute(cwd: Path, written: str) -> Path:
    text = written
    if text == "~" or text.startswith(("~/", "~" + os.sep)):
        text = _in_home(text)
    elif text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ToolError(f"{printable(written)!r} cannot be the name of a file here.") from error
    if b"\0" in encoded:
        raise ToolError(f"{written!r} has a NUL character, which no file name may hold.")
    return Path(os.path.normpath(cwd / text))


def _in_home(text: str) -> str:
    try:
        return str(Path(text).expanduser())
    except RuntimeError as error:
        raise ToolError(f"No home directory is known, so {text} cannot be found.") from error


def is_directory(path: Path, written: str) -> bool:
    """Say whether `path` is a directory, not something else.

    Raises:
        ToolError: If it does not exist or may not be looked at.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError as error:
        raise ToolError(f"{written} does not exist.") from error
    except OSError as error:
        raise ToolError(f"Cannot look at {written}: {error.strerror or error}.") from error


def check_is_file(path: Path, written: str) -> None:
    """Check that what exists at `path` is a file: reading or writing a pipe may never end.

    Raises:
        ToolError: If it is something else.
        OSError: If it does not exist or may not be looked at.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise ToolError(f"{written} is a directory, not a file.")
    if not stat.S_ISREG(mode):
        raise ToolError(f"{written} is a pipe, socket or device, not a file.")


def printable(text: str) -> str:
    """Return `text` with bytes of a file name that are not UTF-8 shown as U+FFFD.

    >>> printable("caf" + chr(0xDCE9))
    'caf\ufffd'
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
