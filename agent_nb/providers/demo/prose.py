"""Running text out of files: paragraphs, list items, docstrings and comments, with line numbers."""

import io
import json
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Literal

from agent_nb.providers.demo.wording import HAN

if TYPE_CHECKING:
    from markdown_it.token import Token

PassageKind = Literal["paragraph", "item", "heading", "code", "comment"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of text that belongs together.

    Attributes:
        text: Its lines joined to one, inline markup reduced to its text.
        line: Number of its first line in the file.
        breaks: Where in `text` each further line of the file begins.
        heading: The headings it stands under, the lowest last.
        kind: "code" is kept as written, with its line ends.
    """

    text: str
    line: int
    breaks: tuple[int, ...] = ()
    heading: tuple[str, ...] = ()
    kind: PassageKind = "paragraph"

    def line_at(self, offset: int) -> int:
        """Return the number of the line a character stands in."""
        return self.line + sum(start <= offset for start in self.breaks)


def passages_of(text: str, path: str, *, first: int = 1) -> tuple[Passage, ...]:
    """Return the running text of a file, in order; `first` is the number of its first line."""
    ending = path.rsplit(".", 1)[-1].lower() if "." in path else ""
    if ending in {"md", "markdown", "mdx", "qmd", ""}:
        found = _markdown(text)
    elif ending == "ipynb":
        found = _notebook(text)
    elif ending in {"py", "pyi"}:
        found = _python(text)
    elif ending in {"html", "htm", "xhtml"}:
        found = _html(text)
    elif ending in _COMMENTS:
        found = _comments(text, _COMMENTS[ending])
    else:
        found = _plain(text, is_rst=ending == "rst")
    return tuple(replace(passage, line=passage.line + first - 1) for passage in found)


# --- lines to one text

_HAN_BREAK = re.compile(f"[{HAN}，。！？；：、（）“”‘’]")


class _Flow:
    """Joins pieces and lines; no space is put where a Chinese text goes on in the next line."""

    def __init__(self) -> None:
        self.text = ""
        self.breaks: list[int] = []
        self._ended = False

    def add(self, piece: str) -> None:
        """Append text of the current line."""
        if self._ended and piece:
            self._ended = False
            joined = self.text.rstrip()
            close = _HAN_BREAK.match(joined[-1:]) and _HAN_BREAK.match(piece)
            self.text = joined + ("" if close or not joined else " ")
            self.breaks[-1] = len(self.text)
        self.text += piece

    def end_line(self) -> None:
        """Note that the file's line ends here."""
        self.breaks.append(len(self.text))
        self._ended = True

    def passage(self, line: int, heading: tuple[str, ...], kind: PassageKind) -> Passage:
        """Return what was joined."""
        return Passage(self.text.strip(), line, tuple(self.breaks), heading, kind)


def _joined(
    lines: Sequence[str], line: int, heading: tuple[str, ...] = (), kind: PassageKind = "paragraph"
) -> Passage:
    flow = _Flow()
    for number, text in enumerate(lines):
        if number:
            flow.end_line()
        flow.add(text.strip())
    return flow.passage(line, heading, kind)


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
    flow, outside, links = _Flow(), "", 0
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
        flow = _Flow()  # nothing but links, badges or code: no text to quote
    return flow.passage((token.map or [0])[0] + 1, heading, kind)


def _notebook(text: str) -> Iterator[Passage]:
    """Take the Markdown cells, from a notebook's JSON or from its cells written as Markdown."""
    cells = _markdown_cells(text)
    if cells is None:
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
            self.found.append(_joined(self._lines, self._line))
        self._lines = []


def _html(text: str) -> Iterator[Passage]:
    parser = _Paragraphs()
    parser.feed(text)
    parser.close()
    parser.end()
    yield from parser.found


# --- plain text

_RULE = re.compile(r"\s*([-=~^\"'`#*+_.])\1{2,}\s*")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")


_RST_MARKUP: tuple[tuple[str, str], ...] = (
    (r"``(.+?)``", r"`\1`"),
    (r"`([^`<]+?)\s*<[^`>]+>`__?", r"\1"),
    (r":[\w:]+:`~?([^`]+)`", r"\1"),
    (r"`([^`]+)`_+", r"\1"),
    (r"\*\*(\S(?:.*?\S)?)\*\*", r"\1"),
    (r"(?<=\w)_(?=[\s.,;:!?)]|$)", ""),
)


def _plain(text: str, *, is_rst: bool = False) -> Iterator[Passage]:
    lines = text.split("\n")
    start, literal = 0, False
    for end in range(len(lines) + 1):
        ends = end == len(lines) or not lines[end].strip() or _RULE.fullmatch(lines[end])
        if not ends and not (end > start and _ITEM.match(lines[end])):
            continue
        underlined = end < len(lines) and end - start == 1 and lines[end].strip() and ends
        if end > start and not underlined:
            literal = literal and lines[start].startswith((" ", "\t"))
            if not literal:
                yield from _block(lines[start:end], start + 1, is_rst=is_rst)
            literal = literal or (is_rst and lines[end - 1].rstrip().endswith("::"))
        start = end + bool(ends)


def _block(lines: Sequence[str], line: int, *, is_rst: bool) -> Iterator[Passage]:
    if lines[0].lstrip().startswith((".. ", ">>>", "$ ")):
        return
    item = _ITEM.match(lines[0])
    body = [lines[0][item.end() :], *lines[1:]] if item else [*lines]
    if is_rst:
        for pattern, plain in _RST_MARKUP:
            body = [re.sub(pattern, plain, text) for text in body]
    yield _joined(body, line, kind="item" if item else "paragraph")


# --- source code

_COMMENTS = {
    **dict.fromkeys(("sh", "bash", "toml", "yaml", "yml", "r", "rb", "pl", "cfg", "ini"), r"#"),
    **dict.fromkeys(
        ("js", "mjs", "ts", "tsx", "jsx", "c", "h", "cpp", "hpp", "cc", "java", "rs", "go", "kt"),
        r"//[/!]?|/\*+|\*(?!/)",
    ),
    **dict.fromkeys(("sql", "lua", "hs"), r"--"),
}


def _comments(text: str, mark: str) -> Iterator[Passage]:
    comment = re.compile(rf"\s*(?:{mark})(?!!)\s?(.*?)\s*(?:\*+/)?\s*")
    block: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        match = comment.fullmatch(line)
        if match and match[1]:
            block.append(match[1])
        elif block:
            yield _joined(block, number - len(block), kind="comment")
            block = []


_DOCSTRING = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')(.*)\1", re.DOTALL)


def _python(text: str) -> Iterator[Passage]:
    yield from _docstrings(text)
    yield from _comments(text, "#")


def _docstrings(text: str) -> Iterator[Passage]:
    """Find strings that are statements. Tokens and not a syntax tree: parsing could warn."""
    begins = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and begins:
                found = _DOCSTRING.fullmatch(token.string)
                for passage in _plain(found[2]) if found else ():
                    yield replace(passage, line=passage.line + token.start[0] - 1)
            if token.type not in {tokenize.NL, tokenize.COMMENT}:
                begins = token.type in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    except (tokenize.TokenError, SyntaxError):
        return  # not whole, or not Python: what was found so far counts
