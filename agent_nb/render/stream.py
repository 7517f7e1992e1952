"""Markdown that is still being written, as HTML in top-level blocks.

A block that is finished never changes again and is rendered once; only the last one is rendered
anew as it grows. A block of more than `MAX_BLOCK` characters is cut at a line end, so that no step
costs more than that: code and tables go on in a further block that repeats their opening lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markdown_it.token import Token

from agent_nb.render.growing import GrowingText
from agent_nb.render.inert import without_secrets
from agent_nb.render.markdown import Env, parser, render_markdown

MAX_BLOCK = 8_000

_UNDECIDED = re.compile(r"\s*(?:[-=*+#>`~$|\\_: \t]+|\d{1,9}[.)]?[ \t]*)")
"""A last line that may yet become a list, a rule, a heading or code: not shown before it does."""

_HALF_TABLE = re.compile(r"(?:\A|\n\n)\|[^\n]*(?:\n[-|: \t]*)?\Z")
_HALF_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\Z")
_OPEN_STRONG = re.compile(r"(?:\A|[\s(\[\"'])\*\*(?=[^\s*])[^*]*\*?\Z")
_WORD_AT_END = re.compile(r"(?<![\w.-])[\w.-]+\Z")
_CODE_SPAN = re.compile(r"`[^`\n]*`")


def html_blocks(text: GrowingText, *, is_open: bool, secrets: Sequence[str] = ()) -> list[str]:
    """Return the text's top-level blocks as sanitised HTML, the last one as far as it goes."""
    progress = text.keeping(_Progress)
    if progress.count > text.count:
        progress = _Progress()  # an older value of this text: start over for it
    progress.advance(text, secrets)
    return [*progress.finished, *progress.unfinished(secrets, is_open=is_open)]


@dataclass(slots=True)
class _Progress:
    """How far a text is rendered: `rest` is what follows the finished blocks."""

    count: int = 0
    rest: str = ""
    continued: bool = False
    finished: list[str] = field(default_factory=list)
    env: Env = field(default_factory=dict)

    def advance(self, text: GrowingText, secrets: Sequence[str]) -> None:
        """Take in new pieces and render the blocks they finish."""
        new = text.since(self.count)
        self.count = text.count
        self.rest += new
        if "\n" not in new and len(self.rest) <= MAX_BLOCK:
            return
        while taken := _take(self.rest):
            for source in taken.finished:
                self.finished += self._html(source, secrets, self.env)
                self.continued = False
            self.rest, self.continued = taken.rest, taken.goes_on

    def unfinished(self, secrets: Sequence[str], *, is_open: bool) -> Iterator[str]:
        """Yield the last block's HTML, if it shows anything."""
        definitions = dict(self.env.get("references", {}))  # one of the last block may yet grow
        env = {"references": definitions, "is_open": is_open}
        yield from self._html(mended(self.rest) if is_open else self.rest, secrets, env)

    def _html(self, source: str, secrets: Sequence[str], env: Env) -> Iterator[str]:
        if source.strip():
            env["continued"] = self.continued
            html = render_markdown(without_secrets(source, secrets), "live", env)
            if html.strip():
                yield html


def mended(source: str) -> str:
    r"""Return unfinished Markdown so that it need not be taken back: what is undecided left out.

    >>> mended("Some **bold te"), mended("A list:\n-"), mended("see [docs](http://a")
    ('Some **bold te**', 'A list:\n', 'see docs')
    """
    start = source.rfind("\n") + 1
    in_code = source.startswith(("```", "~~~"))
    if _UNDECIDED.fullmatch(source, start):
        source = source if in_code and "`" not in source[start:] else source[:start]
    if in_code:
        return source
    source = _HALF_TABLE.sub("", source)
    source = _HALF_LINK.sub(r"\1", source)
    return _closed(source)


def _closed(source: str) -> str:
    """Close a code span or strong emphasis that the last paragraph leaves open."""
    paragraph = _CODE_SPAN.sub("", source[source.rfind("\n\n") + 1 :])
    if paragraph.count("`") % 2:
        return source[:-1] if source.endswith("`") else source + "`"
    if source.endswith("**") and paragraph.count("**") % 2:
        return source.rstrip("*")
    if _OPEN_STRONG.search(paragraph):
        return source.rstrip("* ") + "**"
    return source


@dataclass(frozen=True, slots=True)
class _Taken:
    """Blocks that can no longer change, what follows, and whether it continues the last one."""

    finished: list[str]
    rest: str
    goes_on: bool = False


def _take(source: str) -> _Taken | None:
    """Cut finished blocks off: all but the last of those that begin in complete lines.

    CommonMark closes blocks line by line and never opens one again, so only the last can change.
    """
    window = source[: source.rfind("\n", 0, 2 * MAX_BLOCK) + 1]
    blocks = _block_starts(window)
    finished, begin = [], 0
    for _, (_kind, end) in pairwise(blocks):
        if end - begin > MAX_BLOCK:
            break
        finished.append(source[begin:end])
        begin = end
    if begin:
        return _Taken(finished, source[begin:])
    if len(source) > MAX_BLOCK:
        return _cut(source, blocks[0][0] if blocks else "")
    return None


def _cut(source: str, kind: str) -> _Taken:
    """Cut a long block at a line end, else at a space; the rest repeats the opening lines.

    The cut is in the second half of what is allowed, far behind what is repeated: else a long
    line after the opening lines would leave the rest as long as it was.
    """
    head, least = source[:MAX_BLOCK], MAX_BLOCK // 2
    at = head.rfind("\n", least) + 1 or head.rfind(" ", least) + 1 or _word_start(head, least)
    opening = {"fence": 1, "table_open": 2}.get(kind, 0)
    opener = "".join(line + "\n" for line in head.split("\n")[:opening])
    if len(opener) * 2 > least:
        opener = ""
    return _Taken([source[:at]], opener + source[at:], goes_on=kind == "fence")


def _word_start(head: str, least: int) -> int:
    """Return where the last word begins, so that no key is cut in two; the end if all is one."""
    words = _WORD_AT_END.search(head, least)
    return words.start() if words and words.start() > least else len(head)


def _block_starts(source: str) -> list[tuple[str, int]]:
    """Return the kind of each top-level block and the offset where it starts."""
    md = parser("live")
    tokens: list[Token] = []
    md.block.parse(source.replace("\r", " "), md, {"is_open": True}, tokens)
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return [
        (token.type, starts[token.map[0]])
        for token in tokens
        if token.level == 0 and token.nesting >= 0 and token.map
    ]
