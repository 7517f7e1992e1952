"""Rewrite `%agent` lines and `%%agent` cells to plain Python before IPython parses a cell.

Why not leave it to IPython: it turns a line that ends in `?` into help and strips prompts from
text, and a magic it calls cannot await, so that buttons would wait for the end of the cell. Where
the rewriting is in doubt it leaves the lines alone; IPython then calls the blocking magic.
"""

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from itertools import islice

from agent_nb.kernel.failure import AgentUsageError

MAGIC = "agent"
AWAITED_MAGIC = "agent_awaited"

_CELL = re.compile(r"%%agent(?P<line>[ \t].*)?$")
_LINE = re.compile(r"%agent(?=\s|$)")
_LEADING_ESCAPE = re.compile(r"[ \t]*(?=[%!?,;/])")  # no line of Python begins like that
_ASSIGNED_ESCAPE = re.compile(r"=[ \t]*(?=[%!])")
_NOT_CODE = frozenset(
    (
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.COMMENT,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
)


def rewrite(lines: list[str], *, can_await: bool) -> list[str]:
    """Return the lines of a cell with every `%agent` in them as a call of its magic.

    Args:
        lines: The cell; all its lines but the last have their line end.
        can_await: Whether code outside of functions may await; otherwise it calls the blocking
            magic, as code inside a plain function always does.

    Raises:
        AgentUsageError: If `%%agent` is not the first line of its cell.
    """
    source = "".join(lines)
    if "%agent" not in source:
        return lines
    physical = io.StringIO(source).readlines()  # at LF only: U+2028 is text, not a line end
    first = next(index for index, line in enumerate(physical) if line.strip())
    if cell := _CELL.match(physical[first].rstrip()):
        return [_cell_call(cell["line"] or "", "".join(physical[first + 1 :]), can_await=can_await)]
    if physical[first].lstrip().startswith("%%"):
        return lines  # the text of another cell magic, which knows best what it is
    return _rewrite_lines(physical, can_await=can_await)


def _cell_call(line: str, body: str, *, can_await: bool) -> str:
    name = AWAITED_MAGIC if can_await else MAGIC
    if not body.strip():
        return _line_call(line, awaited=can_await) + "\n"
    call = f"get_ipython().run_cell_magic({name!r}, {line.strip()!r}, {body!r})"
    return f"await {call}\n" if can_await else f"{call}\n"


def _line_call(text: str, *, awaited: bool) -> str:
    name = AWAITED_MAGIC if awaited else MAGIC
    call = f"get_ipython().run_line_magic({name!r}, {text.strip()!r})"
    return f"await {call}" if awaited else call


def _rewrite_lines(physical: Sequence[str], *, can_await: bool) -> list[str]:
    """Go through the cell statement by statement, as text after `%agent` is no Python."""
    out: list[str] = []
    scopes = _Scopes(can_await=can_await)
    index = 0
    while index < len(physical):
        line = physical[index]
        escape = _escape_in(line)
        if escape is None:
            try:
                statement = _statement(islice(physical, index, None))
            except (tokenize.TokenError, SyntaxError):
                return [*out, *physical[index:]]
            end = index + statement[-1].end[0]
            scopes.enter(line, statement)
            out += physical[index:end]
        else:
            end = _end_of_continued(physical, index)
            out += _escaped(physical[index:end], escape, scopes)
        index = end
    return out


def _escaped(lines: Sequence[str], escape: int, scopes: "_Scopes") -> list[str]:
    """Return the lines of one magic or shell command, rewritten if it is ours."""
    before, after = lines[0][:escape], lines[0][escape:]
    if _CELL.match(after.rstrip()) and not before.strip():
        raise AgentUsageError(
            "%%agent must be the first line of its cell: move what is above it to another cell, "
            "or ask in one line with %agent"
        )
    magic = _LINE.match(after)
    if magic is None:
        return list(lines)
    parts = [after[magic.end() :], *lines[1:]]
    joined = [part.rstrip()[:-1].rstrip() for part in parts[:-1]]
    text = " ".join([*joined, parts[-1].strip() if joined else parts[-1]])
    call = _line_call(text, awaited=scopes.can_await_at(before))
    return [f"{before}{call}\n", *("\n" for _ in joined)]  # line numbers stay right


def _escape_in(line: str) -> int | None:
    """Return where `%` or another of IPython's signs takes the rest of a statement's first line."""
    if leading := _LEADING_ESCAPE.match(line):
        return leading.end()
    for match in _ASSIGNED_ESCAPE.finditer(line):
        if _is_assignment(line[: match.end()]):
            return match.end()
    return None


def _is_assignment(before: str) -> bool:
    """Say whether `before` is Python up to an assignment's `=`, outside strings and brackets."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(before).readline))
    except (tokenize.TokenError, SyntaxError):
        return False
    code = [token for token in tokens if token.type not in _NOT_CODE]
    whole = not any(token.type in {tokenize.ERRORTOKEN, tokenize.COMMENT} for token in tokens)
    return whole and len(code) > 1 and code[-1].string == "="


def _statement(lines: Iterator[str]) -> list[tokenize.TokenInfo]:
    """Return the tokens of the first statement, or of the blank or comment line before one."""
    tokens, blank = [], True
    for token in tokenize.generate_tokens(lines.__next__):
        tokens.append(token)
        blank = blank and token.type in _NOT_CODE
        if token.type == tokenize.NEWLINE or (token.type == tokenize.NL and blank):
            break
    return tokens


def _end_of_continued(lines: Sequence[str], index: int) -> int:
    """Return the index after the last line of a command that backslashes carry on."""
    while index + 1 < len(lines) and lines[index].rstrip("\r\n").endswith("\\"):
        index += 1
    return index + 1


class _Scopes:
    """The functions and classes that are open at a line, by their indentation."""

    def __init__(self, *, can_await: bool) -> None:
        self._open: list[tuple[int, bool]] = []
        self._can_await = can_await

    def enter(self, line: str, statement: Sequence[tokenize.TokenInfo]) -> None:
        """Go on to a statement that begins with `line`, which may open a scope."""
        words = [token.string for token in statement if token.type not in _NOT_CODE]
        if not words:
            return
        self._close(_column(line))
        can_await = _awaits_in(words)
        if can_await is not None and words[-1] == ":":
            self._open.append((_column(line), can_await))

    def can_await_at(self, before: str) -> bool:
        """Say whether a magic may await on a line that begins with `before`."""
        self._close(_column(before))
        own = _awaits_in(before.split())  # `def f(): x = %agent …`
        outer = self._open[-1][1] if self._open else self._can_await
        return outer if own is None else own

    def _close(self, column: int) -> None:
        while self._open and column <= self._open[-1][0]:
            self._open.pop()


def _column(line: str) -> int:
    blank = line[: len(line) - len(line.lstrip(" \t\f"))]
    return len(blank.expandtabs(8))


def _awaits_in(words: Sequence[str]) -> bool | None:
    """Say whether the scope these words open can await; None if they open none."""
    if words[:1] == ["def"] or words[:1] == ["class"]:
        return False
    return True if words[:2] == ["async", "def"] else None
