"""Glob patterns of the search tools, as ripgrep and fd read them."""

import re
from collections.abc import Iterator

from agent_nb.core.errors import ToolError

MOST_CHARS = 1_000
_MOST_EXPANDED_CHARS = 20_000
_MOST_NESTED = 10
_TOKEN = re.compile(
    r"(?P<deep>(?<![^/])\*\*(?:/|\Z))|(?P<star>\*+)|\[[!^]?\]?[^]]*\]|\\.|.", re.DOTALL
)


def glob_regex(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """Compile a glob for paths relative to the searched directory, with `/` between their parts.

    Without `/` in it, the pattern is for file names at any depth. `*` and `?` stay inside a part,
    `**` goes through all, `[ab]`, `[!ab]` and `{one,two}` are understood, a backslash escapes.

    Raises:
        ToolError: If it is not a glob.

    >>> bool(glob_regex("*.py").fullmatch("src/a.py"))
    True
    >>> bool(glob_regex("src/*.py").fullmatch("src/deep/a.py"))
    False
    """
    if len(pattern) > MOST_CHARS:
        raise ToolError(f"The glob pattern has more than {MOST_CHARS} characters.")
    if "\0" in pattern:
        raise ToolError("The glob pattern has a NUL character, which no file name may hold.")
    plain = re.sub("^(?:[.]/)+", "", pattern)
    if plain.endswith("/"):
        plain += "**"
    plain = plain.removeprefix("/") if "/" in plain else f"**/{plain}"
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    try:
        alternatives = _alternatives(_TOKEN.finditer(plain), 0)
        return re.compile("|".join(map(_translate, alternatives)), flags)
    except (ValueError, re.error) as error:
        raise ToolError(f"{pattern} is not a valid glob pattern: {error}.") from error


def file_name_glob(pattern: str, *, ignore_case: bool = False) -> str | None:
    """Return a glob that the names of all files matching `pattern` match, None if there is none.

    It need not be exact: it spares ripgrep from files, before `glob_regex` decides.

    >>> file_name_glob("src/**/*.py", ignore_case=True)
    '*.[pP][yY]'
    """
    name = pattern.rpartition("/")[2]
    if not name.strip("*") or re.search(r"[{}\[\]\\,]", name) or not name.isascii():
        return None
    if ignore_case:
        return re.sub("[a-z]", lambda match: f"[{match[0]}{match[0].upper()}]", name.lower())
    return name


def _alternatives(tokens: Iterator[re.Match[str]], depth: int) -> list[str]:
    """Write out the braces, as globs without any.

    Raises:
        ValueError: If one is not closed, or there are too many.
    """
    if depth > _MOST_NESTED:
        raise ValueError(f"more than {_MOST_NESTED} braces are nested")
    done: list[str] = []
    current = [""]
    for match in tokens:
        token = match[0]
        if depth and token == "}":
            return done + current
        if depth and token == ",":
            done += current
            current = [""]
            continue
        ends = _alternatives(tokens, depth + 1) if token == "{" else [token]
        if len(current) * sum(len(end) + 1 for end in ends) > _MOST_EXPANDED_CHARS:
            raise ValueError("its braces stand for too many patterns")
        current = [start + end for start in current for end in ends]
        if sum(map(len, current)) > _MOST_EXPANDED_CHARS:
            raise ValueError("its braces stand for too many patterns")
    if depth:
        raise ValueError("a { is not closed")
    return current


def _translate(glob: str) -> str:
    """Translate a glob without braces into an expression that cannot backtrack for long.

    Where a wildcard is followed by another of its kind, the nearest place for what stands between
    them is as good as any, so atomic groups forbid to try the others.
    """
    regex, deep, runs = "", "", [""]
    for match in _TOKEN.finditer(glob):
        token = match[0]
        if match["deep"]:
            regex += f"(?>{deep}{_in_order(runs)})"
            deep, runs = ("(?:.*?/)??" if token.endswith("/") else ".*?"), [""]
        elif match["star"]:
            runs.append("")
        else:
            runs[-1] += _one(token)
    *before, last = runs
    return regex + deep + (f"{_in_order(before)}[^/]*{last}" if before else last)


def _in_order(runs: list[str]) -> str:
    return runs[0] + "".join(f"(?>[^/]*?{run})" for run in runs[1:])


def _one(token: str) -> str:
    """Translate what stands for one character."""
    if token == "?":
        return "[^/]"
    if token.startswith("[") and len(token) > 2:
        return _character_class(token)
    return re.escape(token[1:] if token.startswith("\\") and token[1:] else token)


def _character_class(token: str) -> str:
    body = token[1:-1]
    negation = "^" if body[0] in "!^" else ""
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", body[1:] if negation else body)
    return f"(?!/)[{negation}{escaped}]"
