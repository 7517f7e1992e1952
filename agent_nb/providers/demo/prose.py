"""Running text out of files: paragraphs, list items, docstrings and comments, with line numbers."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from agent_nb.providers.demo.comments import COMMENT_MARKS, comment_passages, python_passages
from agent_nb.providers.demo.passage import (
    Flow,
    Passage,
    PassageKind,
    joined_lines,
    plain_passages,
)

if TYPE_CHECKING:
    from markdown_it.token import Token


def passages_of(text: str, path: str, *, first: int = 1) -> tuple[Passage, ...]:
    """Return the running text of a file, in order; `first` is the number of its first line."""
    ending = path.rsplit(".", 1)[-1].lower() if "." in path else ""
    if ending in {"md", "markdown", "mdx", "qmd", ""}:
        found = _markdown(text)
    elif ending == "ipynb":
        found = _notebook(text)
    elif ending in {"py", "pyi"}:
        found = python_passages(text)
    elif ending in {"html", "htm", "xhtml"}:
        found = _html(text)
    elif ending in COMMENT_MARKS:
        found = comment_passages(text, COMMENT_MARKS[ending])
    else:
        found = plain_passages(text, is_rst=ending == "rst")
    return tuple(replace(passage, line=passage.line + first - 1) for passage in found)


# --- Markdown

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---[ \t]*(?=\n|\Z)", re.DOTALL)
_ADMONITION = re.compile(r"\[![A-Z]+\]")


def _markdown(text: str) -> Iterator[Passage]:
    from markdown_it import MarkdownIt  # when first needed: it is slow to import

    text = _FRONT_MATTER.sub(lambda match: "\n" * match[0].count("\n"), text)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    headings: dict[int, str] = {}
    open_lists, in_table = 0, False
    for index, token in enumerate(tokens):
        open_lists += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        in_table = {"table_open": True, "table_close": False}.get(token.type, in_table)
        if token.map is None or in_table:
            continue
        line, path = token.map[0] + 1, tuple(headings.values())
        if token.type == "inline":
            before = tokens[index - 1]
            passage = _inline(token, path, kind="item" if open_lists else "paragraph")
            if before.type == "heading_open":
                level = int(before.tag[1:])
                headings = {at: name for at, name in headings.items() if at < level}
                headings[level] = passage.text
                passage = replace(passage, kind="heading")
            if passage.text and not passage.text.startswith("[^"):  # not a footnote
                yield passage
        elif token.type in {"fence", "code_block"}:
            skipped = token.type == "fence"
            yield Passage(token.content.rstrip("\n"), line + skipped, (), path, "code")
        elif token.type == "html_block":
            yield from (
                replace(passage, line=passage.line + line - 1, heading=path)
                for passage in _html(token.content)
            )


def _inline(token: "Token", heading: tuple[str, ...], *, kind: PassageKind) -> Passage:
    flow, outside, links = Flow(), "", 0
    for child in token.children or ():
        links += {"link_open": 1, "link_close": -1}.get(child.type, 0)
        if child.type in {"softbreak", "hardbreak"}:
            flow.end_line()
        elif child.type == "text" and not _ADMONITION.fullmatch(child.content):
            flow.add(child.content)
            outside += "" if links else child.content
        elif child.type == "code_inline":
            flow.add(f"`{child.content}`")
    if kind != "heading" and not re.search(r"\w", outside):
        flow = Flow()  # nothing but links, badges or code: no text to quote
    return flow.passage((token.map or [0])[0] + 1, heading, kind)


def _notebook(text: str) -> Iterator[Passage]:
    """Take the Markdown cells, from a notebook's JSON or from its cells written as Markdown."""
    cells = _markdown_cells(text)
    if cells is None:
        if not text.lstrip().startswith("{"):  # JSON that was cut is no text
            yield from _markdown(text)
        return
    lines, at = text.split("\n"), 0
    for source in cells:
        # Notebooks are written with each line of a cell in a line of its own.
        begins = json.dumps(source.split("\n", 1)[0], ensure_ascii=False)[1:-1]
        at = next((n for n in range(at, len(lines)) if begins and begins in lines[n]), at)
        for passage in _markdown(source):
            yield replace(passage, line=passage.line + at)


def _markdown_cells(text: str) -> list[str] | None:
    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell.get("cell_type") == "markdown"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # no notebook's JSON


# --- HTML


class _Paragraphs(HTMLParser):
    """Collects the text of block elements."""

    _BLOCKS = frozenset({"p", "li", "div", "td", "th", "h1", "h2", "h3", "h4", "br", "blockquote"})
    _HIDDEN = frozenset({"script", "style", "head", "pre", "svg", "nav", "table"})

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Passage] = []
        self._lines: list[str] = []
        self._line = 1
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._BLOCKS:
            self.end()
        self._hidden += tag in self._HIDDEN

    def handle_endtag(self, tag: str) -> None:
        if tag in self._HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        if tag in self._BLOCKS:
            self.end()

    def handle_data(self, data: str) -> None:
        if self._hidden or not (self._lines or data.strip()):
            return
        if not self._lines:
            self._line = self.getpos()[0] + len(data[: -len(data.lstrip())].split("\n")) - 1
            data = data.lstrip()
        head, *rest = data.split("\n")
        self._lines = [*self._lines[:-1], "".join(self._lines[-1:]) + head, *rest]

    def end(self) -> None:
        """Close the paragraph at hand."""
        if any(line.strip() for line in self._lines):
            self.found.append(joined_lines(self._lines, self._line))
        self._lines = []


def _html(text: str) -> Iterator[Passage]:
    parser = _Paragraphs()
    parser.feed(text)
    parser.close()
    parser.end()
    yield from parser.found
