"""Scripts about source code: what a file defines, and how one of those begins."""

import re
from collections.abc import Sequence

from agent_nb.providers.demo.answers import code, counted, fenced, quoted_lines
from agent_nb.providers.demo.documents import Document
from agent_nb.providers.demo.files import known_or_named, open_file, read_on, unread
from agent_nb.providers.demo.intent import Functions
from agent_nb.providers.demo.script import Desk, Script

DEFINITION = re.compile(
    r"^\s*(?:export |pub |async |static |public )*"
    r"(?:def|class|function|fn|func|interface|struct|enum|trait|type)\s+(\w+)"
)
MOST_LINES = 12
"""Lines shown of one function."""


def functions(intent: Functions, desk: Desk) -> Script:
    """Show the lines that define something, or one of them with what it says of itself."""
    document = yield from open_file(desk, known_or_named(desk, intent.file))
    document = yield from read_on(desk, document)
    found = [
        (number, match[1])
        for number, line in enumerate(document.lines, start=document.first)
        if (match := DEFINITION.match(line))
    ]
    name = code(document.path)
    if intent.name:
        lines = [number for number, defined in found if defined == intent.name]
        if lines:
            return _one(desk, document, intent.name, lines[0])
        missing = desk.say(
            f"I found no definition of {code(intent.name)} in {name}.",
            f"我在 {name} 里没有找到 {code(intent.name)} 的定义。",
        )
        return missing + unread(desk, document)
    if not found:
        nothing = desk.say(
            f"I found no function or class in {name}.", f"我在 {name} 里没有找到函数或类。"
        )
        return nothing + unread(desk, document)
    number = counted(desk, len(found), "definition", "处定义")
    shown = "\n".join(f"{at}: {_line(document, at)}" for at, _ in found)
    heading = desk.say(f"{name} has {number}:", f"{name} 有 {number}：")
    return f"{heading}\n\n{fenced(shown)}{unread(desk, document)}"


def _line(document: Document, number: int) -> str:
    return document.lines[number - document.first]


def _one(desk: Desk, document: Document, name: str, first: int) -> str:
    """Show a definition as far as its docstring or its first comment goes."""
    body = document.lines[first - document.first :][:MOST_LINES]
    said = _said(body)
    if said:
        return quoted_lines(desk, document, first, first + said - 1)
    note = desk.say(
        f"{code(name)} has no docstring or comment at its beginning, and I cannot explain code.",
        f"{code(name)} 的开头没有文档字符串或注释，我不能解释代码。",
    )
    shown = quoted_lines(desk, document, first, first + _end(body) - 1)
    return f"{note} {shown}"


def _said(body: Sequence[str]) -> int:
    """Return how many lines reach to the end of the docstring or comment; 0 if there is none."""
    start = next((at for at, line in enumerate(body) if line.rstrip().endswith((":", "{"))), 0) + 1
    text = body[start].strip() if start < len(body) else ""
    if text.startswith(("#", "//")):
        marks = (line.strip().startswith(("#", "//")) for line in body[start:])
        return start + next((at for at, is_mark in enumerate(marks) if not is_mark), len(body))
    quote = re.match(r"[rRuU]?(\"\"\"|''')", text)
    if quote is None:
        return 0
    if text.count(quote[1]) > 1:
        return start + 1
    ends = (at for at, line in enumerate(body[start + 1 :], start + 2) if quote[1] in line)
    return next(ends, len(body))


def _end(body: Sequence[str]) -> int:
    """Return how many lines belong to a definition, by their indentation."""
    depth = len(body[0]) - len(body[0].lstrip())
    for at, line in enumerate(body[1:], start=1):
        if line.strip() and len(line) - len(line.lstrip()) <= depth and line.strip()[0] not in ")}":
            return len("\n".join(body[:at]).rstrip().split("\n"))
    return len(body)
