"""Keys: where they come from. Never in a repr, log, notebook, event or session."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_nb.core.errors import ConfigError

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
COMMAND_TIMEOUT_S = 10


@dataclass(frozen=True, slots=True)
class Key:
    """A key and where it was found: the name of a variable or file."""

    value: str = field(repr=False)
    source: str


def resolve_value(value: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Return what a value of `models.json` means: itself, `$NAME`, or the output of `!command`.

    Returns None where a variable it names is not set.

    Raises:
        ConfigError: If the command fails.

    >>> resolve_value("Bearer $TOKEN", {"TOKEN": "abc"})
    'Bearer abc'
    """
    variables = os.environ if environment is None else environment
    if value.startswith("!"):
        return _output_of(value[1:])
    names = [braced or plain for braced, plain in _VARIABLE.findall(value)]
    if any(name not in variables for name in names):
        return None
    return _VARIABLE.sub(lambda match: variables[match[1] or match[2]], value)


def _output_of(command: str) -> str:
    try:
        done = subprocess.run(
            command,
            shell=True,
            check=True,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(f"The command that should give a key failed: {command}") from error
    return done.stdout.strip()


def environment_key(names: tuple[str, ...], environment: Mapping[str, str]) -> Key | None:
    """Return the first key that is set and not empty."""
    for name in names:
        if environment.get(name):
            return Key(environment[name], name)
    return None
