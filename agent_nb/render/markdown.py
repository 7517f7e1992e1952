"""A model's Markdown as safe HTML: no raw HTML, no foreign images, sanitised at the end.

Two forms. The *live* one leans on the view's style sheet. The *static* one carries its styles
with it and uses only what front ends keep of a notebook they do not trust.
"""

import re
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, ClassVar, Literal

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from agent_nb.render.highlight import COLOUR_WITHIN_S, USUAL_S, highlighted
from agent_nb.render.maths import latex_source, maths_html, maths_plugin

Form = Literal["live", "static"]
Env = dict[str, Any]

LINE = "rgba(128,128,128,.35)"
SOFT = "rgba(128,128,128,.12)"

_COLOURS: Mapping[str, str] = {  # legible on white and on black alike
    "comment": "#808080",
    "keyword": "#9a5fd0",
    "string": "#b5612b",
    "number": "#2f8a5b",
    "def": "#3f7fc4",
    "builtin": "#2f8793",
    "inserted": "#2f8a5b",
    "deleted": "#c9504c",
}
_STYLES: Mapping[str, str] = {
    "p": "margin:.25em 0 .6em",
    "ul": "margin:.25em 0 .6em;padding-left:1.6em",
    "ol": "margin:.25em 0 .6em;padding-left:1.6em",
    "blockquote": f"margin:.4em 0 .8em;padding:0 0 0 .8em;border-left:3px solid {LINE}",
    "table": "border-collapse:collapse;margin:.4em 0 .8em;font-size:.93em",
    "th": f"border:1px solid {LINE};padding:3px 9px;background:{SOFT}",
    "td": f"border:1px solid {LINE};padding:3px 9px",
    "code": f"background:{SOFT};padding:0 .25em",
    "hr": f"border:0;border-top:1px solid {LINE};margin:1em 0",
}
_HEADING = "font-weight:600;margin:.6em 0 .4em;font-size:{size}em"
PRE_STYLE = (
    f"font-family:Menlo,Consolas,monospace;font-size:.92em;line-height:1.45;background:{SOFT};"
    "padding:8px 10px;margin:.4em 0 .8em;border-radius:4px;overflow:auto;white-space:pre"
)

_TEXT_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "div", "span"),
    *("em", "strong", "s", "code", "pre", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_MATH_TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mpadded", "mphantom"),
    *("mtable", "mtr", "mtd", "menclose", "mfenced", "mmultiscripts", "mprescripts"),
}
_ATTRIBUTES = {
    "*": {"class", "dir"},
    "a": {"href", "title", "target"},
    "span": {"title"},
    "ol": {"start"},
    "math": {"display", "xmlns"},
    "mo": {"stretchy", "fence", "form", "separator", "lspace", "rspace", "minsize", "maxsize"},
    "mi": {"mathvariant"},
    "mfrac": {"linethickness"},
    "mtable": {"columnalign", "rowspacing", "columnspacing"},
    "mspace": {"width"},
    "mover": {"accent"},
    "menclose": {"notation"},
}
_STYLED_TAGS = (*_STYLES, "pre", "div", "span")
_PROPERTIES = {
    *("margin", "padding", "padding-left", "border", "border-left", "border-top", "text-align"),
    *("border-collapse", "border-radius", "font-family", "font-size", "font-weight", "color"),
    *("background", "line-height", "list-style", "overflow", "white-space"),
}
_TASK = re.compile(r"\[([ xX])\][ \t\n]+")
_SCHEMES = {"http", "https", "mailto"}


def render_markdown(source: str, form: Form, env: Env | None = None) -> str:
    """Return Markdown as sanitised HTML.

    `env` carries link definitions from text before it, `is_open` if more text may follow, and
    `continued` if this goes on with code that was cut.
    """
    html: str = parser(form).render(source, {} if env is None else env)
    return sanitised(html)


def sanitised(html: str) -> str:
    """Keep only the tags, attributes, styles and link schemes that our own rendering uses."""
    attributes = {**_ATTRIBUTES}
    for tag in _STYLED_TAGS:
        attributes[tag] = attributes.get(tag, set()) | {"style"}
    return nh3.clean(
        html,
        tags=_TEXT_TAGS | _MATH_TAGS,
        attributes=attributes,
        filter_style_properties=_PROPERTIES,
        url_schemes=_SCHEMES,
    )


@cache
def parser(form: Form) -> MarkdownIt:
    """Return the parser and renderer of a form; CommonMark with tables, tasks and mathematics."""
    renderer, tame = (_Live, _tame_live) if form == "live" else (_Static, _tame_static)
    md = MarkdownIt("commonmark", {"html": False}, renderer_cls=renderer)
    md.enable(["table", "strikethrough"]).use(maths_plugin)
    md.core.ruler.push("tasks", _mark_tasks)
    md.core.ruler.push("agent_nb", tame)
    for name in ("math_inline", "math_inline_double", "math_block"):
        md.add_render_rule(name, renderer.formula)
    return md


class _Renderer(RendererHTML):
    """Renders single tokens; a method of a token's name is its rule."""

    form: ClassVar[Form]

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Name the image and link to it: showing it would load something from outside."""
        source = str(tokens[idx].attrs.get("src", ""))
        label = f"🖼 {escape(tokens[idx].content or source)}"
        if not _is_web(source):
            return f'<span title="{escape(source)}">{label}</span>'
        return f'<a href="{escape(source)}" target="_blank">{label}</a>'

    def formula(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Show mathematics."""
        token = tokens[idx]
        if token.hidden:
            return latex_source(token.content)
        display = token.type != "math_inline"
        return maths_html(token.content, display=display, typeset=self.form == "static")

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Colour code whose language is named."""
        words = tokens[idx].info.split(maxsplit=1)
        content, began = tokens[idx].content, time.monotonic()
        left_s = env.get("colour_s", COLOUR_WITHIN_S)
        code = highlighted(content, words[0] if words else "", self._colour, within_s=left_s)
        beyond_s = time.monotonic() - began - len(content) * USUAL_S
        env["colour_s"] = left_s - max(0.0, beyond_s)
        return f"<pre {self._code_attribute(env)}>{code}</pre>\n"

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Show indented code like fenced code."""
        return self.fence(tokens, idx, options, env)

    @abstractmethod
    def _colour(self, kind: str) -> str: ...

    @abstractmethod
    def _code_attribute(self, env: EnvType) -> str: ...


class _Live(_Renderer):
    form = "live"

    def _colour(self, kind: str) -> str:
        return f'class="agn-{kind}"'

    def _code_attribute(self, env: EnvType) -> str:
        return f'class="agn-code{" agn-more" if env.get("continued") else ""}"'


class _Static(_Renderer):
    form = "static"

    def table_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """Let a wide table scroll by itself."""
        return f'<div style="overflow:auto">{self.renderToken(tokens, idx, options, env)}'

    def table_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        """End what `table_open` began."""
        return f"{self.renderToken(tokens, idx, options, env)}</div>"

    def _colour(self, kind: str) -> str:
        return f'style="color:{_COLOURS[kind]}"'

    def _code_attribute(self, env: EnvType) -> str:
        return f'style="{PRE_STYLE}"'


def _mark_tasks(state: StateCore) -> None:
    """Turn `[ ]` and `[x]` at the start of list items into check boxes, in linear time."""
    lists: list[Token] = []
    for before, item, token in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if before.type in {"bullet_list_open", "ordered_list_open"}:
            lists.append(before)
        elif before.type in {"bullet_list_close", "ordered_list_close"}:
            lists.pop()
        kinds = before.type, item.type, token.type
        if kinds == ("list_item_open", "paragraph_open", "inline") and token.children:
            first = token.children[0]
            if first.type == "text" and (task := _TASK.match(first.content)):
                box = "☐" if task[1] == " " else "☑"
                first.content = f"{box} {first.content[task.end() :]}"
                before.attrSet("class", "task-list-item")
                lists[-1].attrSet("class", "contains-task-list")


def _tame_live(state: StateCore) -> None:
    """Demote headings, drop links that lead nowhere, let text run in its own direction."""
    for token in _all(state.tokens):
        if token.tag in {"p", "li", "th", "td"} and token.nesting == 1:
            token.attrSet("dir", "auto")
        elif token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    _tame_links(state.tokens)


def _tame_static(state: StateCore) -> None:
    """Give every element its style; a heading is no heading, it is no part of the notebook."""
    for token in _all(state.tokens):
        if token.type in {"heading_open", "heading_close"}:
            size = 1.4 - 0.1 * int(token.tag[1])
            token.tag = "div"
            if token.nesting == 1:
                token.attrSet("style", _HEADING.format(size=f"{size:.1f}"))
        elif token.nesting >= 0 and token.tag in _STYLES:
            token.attrSet("style", f"{_STYLES[token.tag]}{_exception(token)}")
    _tame_links(state.tokens)


def _exception(token: Token) -> str:
    """Return what an element's style is changed by where it stands."""
    if token.tag in {"th", "td"}:  # the parser says how a column is aligned
        return f";{token.attrs.get('style', 'text-align:left')}"
    if token.attrs.get("class") == "contains-task-list":
        return ";list-style:none;padding-left:.3em"
    return ";margin:0" if token.tag in {"ul", "ol"} and token.level else ""


def _tame_links(tokens: Sequence[Token]) -> None:
    open_tags: list[str] = []
    for token in _all(tokens):
        if token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            if _is_web(href) or href.startswith("mailto:"):
                token.attrSet("target", "_blank")
            else:
                token.tag, token.attrs = "span", {"title": href}
            open_tags.append(token.tag)
        elif token.type == "link_close":
            token.tag = open_tags.pop()


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _is_web(address: str) -> bool:
    return address.startswith(("http://", "https://"))
