r"""Mathematics in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, shown as MathML.

Front ends strip MathML from notebooks they do not trust but typeset LaTeX everywhere, so static
forms keep the LaTeX, inside elements that ask for it; they switch it off around everything else.
"""

import re
from functools import lru_cache
from html import escape

from latex2mathml import exceptions
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.dollarmath import dollarmath_plugin

MAX_LATEX = 4_000
PLAIN_CLASS = "mathjax_ignore tex2jax_ignore"
TYPESET_CLASS = "mathjax_process tex2jax_process"

_REFUSED = re.compile(  # may link, load, style or define: left as source
    r"\\(?:href|url|style|class|cssId|html\w*|data|require|include\w*|unicode|bbox|mmlToken"
    r"|def|gdef|edef|xdef|let|newcommand|renewcommand|newenvironment|renewenvironment|csname"
    r"|catcode|DeclareMathOperator|verb|input|read|write|special)(?![A-Za-z])|\$"
)
_TEXT_WITH_TAG = re.compile(r"\\(?:text\w*|mbox|hbox|operatorname)\b.*<", re.DOTALL)
_FAILURES: tuple[type[Exception], ...] = (
    *(kind for kind in vars(exceptions).values() if isinstance(kind, type)),
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    StopIteration,
    RecursionError,
)


def maths_plugin(md: MarkdownIt) -> None:
    """Teach a parser the four ways to write mathematics; tokens are `math_inline`, `…_block`."""
    md.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    md.inline.ruler.before("escape", "math_brackets", _brackets)
    md.block.ruler.at(
        "math_block", _display, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


@lru_cache(maxsize=256)
def maths_html(latex: str, *, display: bool, typeset: bool) -> str:
    """Return a formula as MathML, or for the front end to typeset; as source if it is no formula.

    The MathML is not safe by itself: the converter copies text and attributes as they are.
    """
    latex = latex.strip()
    if not latex or len(latex) > MAX_LATEX or _REFUSED.search(latex):
        return latex_source(latex)
    if _TEXT_WITH_TAG.search(latex):  # the converter would copy it as it is
        return latex_source(latex)
    if typeset:
        if display:
            attributes = f'class="{TYPESET_CLASS}" style="overflow:auto"'
            return f"<div {attributes}>$${escape(latex)}$$</div>"
        return f'<span class="{TYPESET_CLASS}">${escape(latex)}$</span>'
    try:
        mathml: str = convert(latex, display="block" if display else "inline")
    except _FAILURES:
        return latex_source(latex)
    return mathml


def latex_source(latex: str) -> str:
    """Return a formula as code."""
    return f"<code>{escape(latex)}</code>"


def _brackets(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - a rule's signature
    for opener, closer, kind in (
        ("\\(", "\\)", "math_inline"),
        ("\\[", "\\]", "math_inline_double"),
    ):
        if state.src.startswith(opener, state.pos):
            end = state.src.find(closer, state.pos + 2)
            if end < 0:
                return False
            if not silent:
                state.push(kind, "math", 0).content = state.src[state.pos + 2 : end]
            state.pos = end + 2
            return True
    return False


def _display(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    r"""Take `$$` or `\[ at the start of a line up to its end at the end of a line.

    Unlike the plugin's rule it ends a paragraph, and a blank line ends it. Where more text may
    follow (`is_open` in the environment) a formula without its end is taken too, and shown as code.
    """
    begin = state.bMarks[start_line] + state.tShift[start_line]
    opener = state.src[begin : begin + 2]
    closer = {"$$": "$$", "\\[": "\\]"}.get(opener)
    if closer is None or state.is_code_block(start_line):
        return False
    last, closed = _formula_end(state, start_line, end_line, closer)
    if not closed and not state.env.get("is_open"):
        return False
    if not silent:
        lines = state.getLines(start_line, last + 1, state.blkIndent, keepLastLF=False).strip()
        token = state.push("math_block", "math", 0)
        token.block, token.map, token.markup = True, [start_line, last + 1], opener
        token.content = lines.removeprefix(opener).removesuffix(closer if closed else "")
        token.hidden = not closed
        state.line = last + 1
    return True


def _formula_end(
    state: StateBlock, start_line: int, end_line: int, closer: str
) -> tuple[int, bool]:
    """Return the last line of a formula, and whether it ends with its closing mark."""
    last = start_line
    for line in range(start_line, end_line):
        first = state.bMarks[line] + state.tShift[line] + (2 if line == start_line else 0)
        text = state.src[first : state.eMarks[line]].rstrip()
        if text.endswith(closer):
            return line, True
        if line > start_line and (not text or state.sCount[line] < state.blkIndent):
            break
        last = line
    return last, False
