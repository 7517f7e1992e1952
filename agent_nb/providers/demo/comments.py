"""Running text out of source code: docstrings and comments."""

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import replace

from agent_nb.providers.demo.passage import Passage, joined_lines, plain_passages

# By the ending of a file's name.
COMMENT_MARKS = {
    **dict.fromkeys(("sh", "bash", "toml", "yaml", "yml", "r", "rb", "pl", "cfg", "ini"), r"#"),
    **dict.fromkeys(
        ("js", "mjs", "ts", "tsx", "jsx", "c", "h", "cpp", "hpp", "cc", "java", "rs", "go", "kt"),
        r"//[/!]?|/\*+|\*(?!/)",
    ),
    **dict.fromkeys(("sql", "lua", "hs"), r"--"),
}


def comment_passages(text: str, mark: str) -> Iterator[Passage]:
    """Take lines that are comments, those that follow one another as one text."""
    comment = re.compile(rf"\s*(?:{mark})(?!!)\s?(.*?)\s*(?:\*+/)?\s*")
    block: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        match = comment.fullmatch(line)
        if match and match[1]:
            block.append(match[1])
        elif block:
            yield joined_lines(block, number - len(block), kind="comment")
            block = []


_DOCSTRING = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')(.*)\1", re.DOTALL)


def python_passages(text: str) -> Iterator[Passage]:
    """Take the docstrings of Python source, then its comments."""
    yield from _docstrings(text)
    yield from comment_passages(text, "#")


def _docstrings(text: str) -> Iterator[Passage]:
    """Find strings that are statements. Tokens and not a syntax tree: parsing could warn."""
    begins = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and begins:
                found = _DOCSTRING.fullmatch(token.string)
                for passage in plain_passages(found[2]) if found else ():
                    yield replace(passage, line=passage.line + token.start[0] - 1)
            if token.type not in {tokenize.NL, tokenize.COMMENT}:
                begins = token.type in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    except (tokenize.TokenError, SyntaxError):
        return  # not whole, or not Python: what was found so far counts
