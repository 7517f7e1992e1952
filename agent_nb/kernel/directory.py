"""Find the directory a notebook's session works in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_nb.core.errors import ConfigError


def notebook_directory(
    names: Mapping[str, Any], environment: Mapping[str, str], *, explicit: str | Path | None = None
) -> Path:
    """Return the directory of the notebook, else the process's working directory.

    Args:
        names: The notebook's variables; VS Code puts the notebook's path among them.
        environment: The kernel's; Jupyter Server names the notebook there when it starts a
            kernel, and that name goes stale when the notebook is renamed.
        explicit: A directory that was asked for; it wins.

    Raises:
        ConfigError: If `explicit` is no directory, or the working directory is gone.
    """
    if explicit is not None:
        return _existing(Path(explicit).expanduser())
    for notebook in (names.get("__vsc_ipynb_file__"), environment.get("JPY_SESSION_NAME")):
        if isinstance(notebook, str) and Path(notebook).is_absolute() and Path(notebook).is_file():
            return Path(notebook).parent.resolve()
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigError(
            "The notebook's working directory does not exist any more. "
            "Go to one that does with os.chdir, then ask again."
        ) from error


def _existing(directory: Path) -> Path:
    if directory.is_dir():
        return directory.resolve()
    found = "is a file" if directory.exists() else "does not exist"
    raise ConfigError(f"The agent cannot work in {directory}: it {found}, a directory is needed.")
