"""Glob patterns of the search tools, as ripgrep and fd read them."""

import re

from agent_nb.core.errors import ToolError

_TOKEN = re.compile(r"\*\*/|/\*\*$|\*+|\?|\{|\}|,|\[[!^]?\]?[^]]*\]|\\.|.", re.DOTALL)
_WILDCARDS = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_BRACES = {"{": "(?:", ",": "|", "}": ")"}


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
    plain = re.sub("^(?:[.]/)+", "", pattern)
    if plain.endswith("/"):
        plain += "**"
    prefix = "" if "/" in plain else "(?:.*/)?"
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    try:
        return re.compile(prefix + _translate(plain.removeprefix("/")), flags)
    except re.error as error:
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


def _translate(pattern: str) -> str:
    depth = 0
    parts = []
    for token in _TOKEN.findall(pattern):
        if token in _WILDCARDS:
            parts.append(_WILDCARDS[token])
        elif token == "{" or (depth and token in _BRACES):
            depth += {"{": 1, ",": 0, "}": -1}[token]
            parts.append(_BRACES[token])
        elif token.startswith("[") and len(token) > 2:
            parts.append(_character_class(token))
        elif token.startswith("**"):
            parts.append("[^/]*")
        else:
            parts.append(re.escape(token[1:] if token.startswith("\\") and token[1:] else token))
    return "".join(parts)


def _character_class(token: str) -> str:
    body = token[1:-1]
    negation = "^" if body[0] in "!^" else ""
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", body[1:] if negation else body)
    return f"(?!/)[{negation}{escaped}]"
