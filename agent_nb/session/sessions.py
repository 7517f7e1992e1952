"""Where session files are, and which is the newest of a directory."""

import hashlib
import os
from pathlib import Path

from agent_nb.core import json_text

_NAME_BYTES = 200


def session_directory(cwd: Path, agent_dir: Path, named: str | Path | None = None) -> Path:
    """Return where sessions of `cwd` are kept; a named directory is used as it is.

    >>> session_directory(Path("/a/b"), Path("/agent")).as_posix()
    '/agent/sessions/--a-b--'
    """
    if named is not None:
        return Path(named).expanduser().absolute()
    flat = str(cwd).lstrip("/\\")
    for separator in "/\\:":
        flat = flat.replace(separator, "-")
    encoded = os.fsencode(flat)
    if len(encoded) > _NAME_BYTES:  # a file name may have 255
        digest = hashlib.sha256(encoded).hexdigest()[:16]
        flat = f"{digest}-{encoded[-_NAME_BYTES // 2 :].decode('utf-8', 'ignore')}"
    return agent_dir / "sessions" / f"--{flat}--"


def latest_session(directory: Path, cwd: Path) -> Path | None:
    """Return the session file of `cwd` that was written last."""
    files = sorted(
        directory.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns, reverse=True
    )
    return next((path for path in files if _cwd_of(path) == str(cwd)), None)


def _cwd_of(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            header = json_text.loads(file.readline(1_000_000))
    except (OSError, ValueError):
        return None
    return header.get("cwd") if isinstance(header, dict) else None
