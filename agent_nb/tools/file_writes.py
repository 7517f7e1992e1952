"""Writing files whole: one writer a file at a time, the old content or the new and nothing else."""

import asyncio
import errno
import os
import secrets
import stat
from collections.abc import MutableMapping
from pathlib import Path
from weakref import WeakValueDictionary

from agent_nb.tools.paths import printable


class FileLocks:
    """One lock a file, so that changes of it asked for in one answer come one after the other."""

    def __init__(self) -> None:
        self._locks: MutableMapping[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, path: Path) -> asyncio.Lock:
        """Return the lock of the file behind `path`, whatever links lead to it.

        It looks at the disk and still does not leave the event loop: calls must queue in the order
        they were asked for.
        """
        key = os.path.normcase(os.path.realpath(path))
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock


def encode(text: str) -> bytes:
    """Encode text a model wrote as UTF-8; surrogate halves are joined, or become U+FFFD."""
    return printable(text).encode("utf-8")


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` beside the file and move it into place; links, mode and owner stay.

    Where that cannot keep what the file is (a device, one of several hard links, an owner we may
    not give) or the directory takes no new file, it is written in place.

    Raises:
        OSError: If it cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        existing = target.stat()
    except FileNotFoundError:
        existing = None
    if existing is None:
        _move_into_place(target, data, None)
        return
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if stat.S_ISREG(existing.st_mode) and existing.st_nlink == 1:
        try:
            _move_into_place(target, data, existing)
        except PermissionError:
            target.write_bytes(data)
    else:
        target.write_bytes(data)


def _move_into_place(target: Path, data: bytes, existing: os.stat_result | None) -> None:
    temporary = target.with_name(f".agent_nb-{secrets.token_hex(8)}.tmp")
    try:
        # Created with the mode an ordinary file gets, which only the system knows (umask).
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        if existing is not None:
            _give_ownership(temporary, existing)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _give_ownership(path: Path, like: os.stat_result) -> None:
    made = path.stat()
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
        os.chown(path, like.st_uid, like.st_gid)
    path.chmod(stat.S_IMODE(like.st_mode))
