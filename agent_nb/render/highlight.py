"""Code as HTML, coloured by Pygments; few kinds of token, so that the HTML stays small."""

import re
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from html import escape
from itertools import groupby

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

MAX_CODE = 20_000
"""Longer code stays uncoloured."""

COLOUR_WITHIN_S = 0.25
"""Time beyond the usual to colour the code of one text: some lexers are slow on bad input."""

USUAL_S = 5e-6
"""What a character may take without being counted; most lexers need less."""

_KINDS = (
    (Comment, "comment"),
    (Keyword.Constant, "builtin"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (String, "string"),
    (Number, "number"),
    (Name.Function, "def"),
    (Name.Class, "def"),
    (Name.Decorator, "def"),
    (Name.Attribute, "def"),
    (Name.Tag, "keyword"),
    (Name.Builtin, "builtin"),
    (Name.Exception, "builtin"),
    (Generic.Inserted, "inserted"),
    (Generic.Deleted, "deleted"),
    (Generic.Heading, "comment"),
    (Generic.Subheading, "comment"),
)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}", re.ASCII)

Attribute = Callable[[str], str]
"""Gives the HTML attribute for a kind of token, such as `class="agn-keyword"`."""


def highlighted(
    code: str, language: str, attribute: Attribute, *, within_s: float = COLOUR_WITHIN_S
) -> str:
    """Return `code` as escaped HTML, with `<span>`s where the language is known.

    What a lexer has not reached after `within_s` and the usual time stays uncoloured.
    """
    lexer = _lexer(language) if len(code) <= MAX_CODE and _LANGUAGE.fullmatch(language) else None
    if lexer is None:
        return escape(code, quote=False)
    return "".join(_spans(_pieces(lexer, code, within_s), attribute))


def _pieces(lexer: Lexer, code: str, within_s: float) -> Iterable[tuple[str, str]]:
    """Yield the kind and text of each token, and in the end of what there was no time for."""
    until, reached = time.monotonic() + within_s + len(code) * USUAL_S, 0
    for at, token, text in lexer.get_tokens_unprocessed(code):
        if time.monotonic() > until:
            break
        yield _kind(token), text
        reached = at + len(text)
    yield "", code[reached:]


def _spans(pieces: Iterable[tuple[str, str]], attribute: Attribute) -> Iterable[str]:
    for kind, group in groupby(pieces, key=lambda piece: piece[0]):
        text = escape("".join(text for _, text in group), quote=False)
        yield f"<span {attribute(kind)}>{text}</span>" if kind else text


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _kind(token: _TokenType) -> str:
    return next((kind for parent, kind in _KINDS if token in parent), "")
