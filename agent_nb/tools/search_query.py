"""What a search looks for, and what it finds."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for.

    Attributes:
        pattern: A regular expression, or text if `literal`.
        root: A directory to look through, or a file.
        name_glob: Only files with such a name.
        context_lines: Lines to give before and after every match.
    """

    pattern: str
    root: Path
    name_glob: str | None = None
    ignore_case: bool = False
    literal: bool = False
    context_lines: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A line of a file, one that matches or one near it.

    Attributes:
        path: Relative to the root, with `/`; of a root that is a file, its name.
        line: Counted from 1; 0 of a line of some megabytes, whose number and text are not given.
        text: The line without its end.
        is_match: False for a line around a match.
    """

    path: str
    line: int
    text: str
    is_match: bool
