"""What a request can want of the reader."""

from dataclasses import dataclass
from typing import Literal

from agent_nb.providers.demo.wording import Kind, Language


@dataclass(frozen=True, slots=True)
class Introduce:
    """Say in `count` sentences what is in a file.

    Attributes:
        file: Which file, the latest one read unless one is named.
        count: Sentences.
        as_list: Whether each is a point of a list.
        is_project: Whether the project is meant, and so its README.
        language: Which language the answer should have: "en", "zh", "other", or none named.
    """

    file: str | None = None
    count: int = 3
    as_list: bool = False
    is_project: bool = False
    language: Literal["", "en", "zh", "other"] = ""


@dataclass(frozen=True, slots=True)
class Read:
    """Show a file from its beginning."""

    file: str | None = None


@dataclass(frozen=True, slots=True)
class ShowLines:
    """Show lines `first` to `last`; with `from_end` the last that many."""

    file: str | None = None
    first: int = 1
    last: int = 1
    from_end: int = 0


Unit = Literal["lines", "words", "characters"]


@dataclass(frozen=True, slots=True)
class CountText:
    """Count lines, words or characters of a file."""

    file: str | None = None
    unit: Unit = "lines"


@dataclass(frozen=True, slots=True)
class TableShape:
    """Count rows and columns of a table, and name the columns."""

    file: str | None = None


@dataclass(frozen=True, slots=True)
class ManyTables:
    """Say the same of many tables: those named, or all of a kind."""

    kind: Kind
    folder: str | None = None
    files: tuple[str, ...] = ()
    wants: Literal["rows", "columns"] = "rows"


@dataclass(frozen=True, slots=True)
class Functions:
    """Show the functions and classes a file defines, or the beginning of one of them."""

    file: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class ListFiles:
    """List files, or only count them; without a kind what is in a folder."""

    kind: Kind | None = None
    folder: str | None = None
    only_count: bool = False
    only_folders: bool = False


@dataclass(frozen=True, slots=True)
class FindFile:
    """Say where files of a name are."""

    name: str


@dataclass(frozen=True, slots=True)
class Search:
    """Find a phrase in files.

    Attributes:
        phrase: What to look for.
        file: The only file to look in.
        folder: The only folder.
        glob: Only files of these names.
        is_regex: Whether `phrase` is a regular expression.
        guessed: The phrase to try where `folder` is none after all: `in hat` of `cat in hat`.
        only_count: Whether the number of lines is all that was asked for.
        in_known: Whether to look in the file read last: `find x in it`.
    """

    phrase: str
    file: str | None = None
    folder: str | None = None
    glob: str | None = None
    is_regex: bool = False
    guessed: str | None = None
    only_count: bool = False
    in_known: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """Say which columns tables share; without names all CSV files."""

    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Continue:
    """Show what follows the part of a file that was read last."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Answer a question from the text of a file.

    Attributes:
        question: In the user's words.
        file: Which file, the latest one read unless one is named.
        is_topical: Whether it sounds like a question about a project.
    """

    question: str
    file: str | None = None
    is_topical: bool = False


@dataclass(frozen=True, slots=True)
class Calculate:
    """Work something out of values, which a reader cannot; `file` is where they would be."""

    what: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Decline:
    """Something a reader cannot do, and why not, if that is known."""

    what: str
    reason: Literal["", "placeholder", "sizes"] = ""


@dataclass(frozen=True, slots=True)
class About:
    """Say what this model is and can do."""

    was_greeted: bool = False


Intent = (
    Introduce
    | Read
    | ShowLines
    | CountText
    | TableShape
    | ManyTables
    | Functions
    | ListFiles
    | FindFile
    | Search
    | Join
    | Continue
    | Ask
    | Calculate
    | Decline
    | About
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request taken apart: what it wants, in order, and in which language."""

    intents: tuple[Intent, ...]
    language: Language
