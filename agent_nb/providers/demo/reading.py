"""Scripts about one file: introduce it, show it, count in it."""

import re
from collections.abc import Sequence

from agent_nb.providers.demo.answers import code, counted, joined, listed, quoted_lines, uncountable
from agent_nb.providers.demo.choosing import choose
from agent_nb.providers.demo.documents import Document, is_garbled
from agent_nb.providers.demo.files import (
    known_or_named,
    open_file,
    read_end,
    read_on,
    unread,
)
from agent_nb.providers.demo.functions import DEFINITION
from agent_nb.providers.demo.intent import CountText, Introduce, Read, ShowLines
from agent_nb.providers.demo.prose import passages_of
from agent_nb.providers.demo.script import CannotAnswerError, Desk, Script
from agent_nb.providers.demo.sentences import sentences_of
from agent_nb.providers.demo.wording import HAN, is_chinese

PAGE_LINES = 40
"""Lines shown at a time of a file that is only to be read."""


def introduce(intent: Introduce, desk: Desk) -> Script:
    """Answer with whole sentences of the file, as many as were asked for."""
    known = None if intent.file or intent.is_project else desk.known(None)
    if known and known.first == 1:
        document = known
    else:
        document = yield from open_file(desk, known.path if known else intent.file)
    document = yield from read_on(desk, document)
    sentences = sentences_of(passages_of(document.text, document.path, first=document.first))
    chosen = [s.text for s in choose(sentences, intent.count, language=desk.language)]
    if not chosen:
        return _without_sentences(desk, document)
    body = "\n".join(f"- {text}" for text in chosen) if intent.as_list else joined(chosen)
    if intent.language and intent.language != ("zh" if is_chinese(body) else "en"):
        body += desk.say(
            "\n\n(I can only quote, not translate.)", "\n\n（我只能引用原文，不能翻译。）"
        )
    if len(chosen) == intent.count:
        return body
    number = counted(desk, len(chosen), "whole sentence", "个完整的句子")
    few = desk.say(
        f"{code(document.path)} has only {number} I can quote:",
        f"{code(document.path)} 只有 {number}可以引用：",
    )
    return f"{few}\n\n{body}"


def _without_sentences(desk: Desk, document: Document) -> str:
    name, count = code(document.path), counted(desk, document.line_count, "line", "行")
    if not document.text.strip():
        return desk.say(f"{name} is empty.", f"{name} 是空的。")
    answer = desk.say(
        f"{name} has no whole sentences to quote. It has {count}",
        f"{name} 里没有可以引用的完整句子。它有 {count}",
    )
    defined = list(
        dict.fromkeys(match[1] for line in document.lines if (match := DEFINITION.match(line)))
    )
    if defined:
        return answer + desk.say(" and defines: ", "，定义了：") + listed(desk, defined)
    shown = quoted_lines(desk, document, document.first, document.first + 9)
    return f"{answer}{desk.say('.', '。')} {shown}"


def read(intent: Read, desk: Desk) -> Script:
    """Show how a file begins."""
    document = yield from open_file(desk, known_or_named(desk, intent.file))
    return _page(desk, document, document.first)


def _page(desk: Desk, document: Document, first: int) -> str:
    """Show `PAGE_LINES` lines, and say how to get at the others."""
    name = code(document.path)
    if not document.text.strip():
        return desk.say(f"{name} is empty.", f"{name} 是空的。")
    last = min(document.last, first + PAGE_LINES - 1)
    answer = quoted_lines(desk, document, first, last)
    if last == document.last and document.next_offset is None:
        return answer
    more = desk.say(
        f"{name} goes on after line {last:,}: say `continue` to see more.",
        f"{name} 在第 {last:,} 行之后还有内容：说“继续”可以接着看。",
    )
    return f"{answer}\n\n{more}"


def show_lines(intent: ShowLines, desk: Desk) -> Script:
    """Show the lines asked for, under their numbers."""
    path = known_or_named(desk, intent.file)
    if intent.from_end:
        return (yield from _show_end(path, intent.from_end, desk))
    wanted = intent.last - intent.first + 1
    document = yield from open_file(desk, path, first=intent.first, limit=wanted)
    answer = quoted_lines(desk, document, intent.first, intent.last)
    if document.next_offset is None and document.last < intent.last:
        end = desk.say(
            f"The file ends at line {document.last:,}.", f"文件到第 {document.last:,} 行为止。"
        )
        return f"{answer}\n\n{end}"
    return answer


def _show_end(path: str, count: int, desk: Desk) -> Script:
    document = yield from open_file(desk, path)
    document = yield from read_end(desk, document, count)
    first = max(document.first, document.last - count + 1)
    return quoted_lines(desk, document, first, document.last) + unread(desk, document)


def go_on(desk: Desk) -> Script:
    """Show what follows the lines shown last, or else the part of a file read last."""
    latest = desk.known(None)
    if desk.shown:
        path, last = desk.shown
    elif latest:
        path, last = latest.path, latest.last
    else:
        return desk.say(
            "There is nothing to continue: no file was read yet.",
            "没有可以继续的：还没有读过文件。",
        )
    document = desk.known(path)
    if document and document.next_offset is None and document.last <= last:
        return desk.say(
            f"That was all of {code(path)}: it ends at line {document.last:,}.",
            f"{code(path)} 已经全部显示，到第 {document.last:,} 行为止。",
        )
    if document is None or not document.first <= last + 1 <= document.last:
        document = yield from open_file(desk, path, first=last + 1)
    return _page(desk, document, last + 1)


_WORD = re.compile(rf"[{HAN}]|[^\W_](?:[^\W{HAN}]|['’-](?=\w))*")


def words_in(lines: Sequence[str]) -> int:
    """Count words; in Chinese text each character is one.

    >>> words_in(["It's a well-known fact: 你好 world_1."])
    7
    """
    return sum(len(_WORD.findall(line)) for line in lines)


def count_text(intent: CountText, desk: Desk) -> Script:
    """Count lines, words or characters of a whole file."""
    path = known_or_named(desk, intent.file)
    document = yield from open_file(desk, path)
    if intent.unit == "lines":
        end = yield from read_end(desk, document, 1)
        number = counted(desk, end.last, "line", "行")
    else:
        end = document = yield from read_on(desk, document)
        if is_garbled(document.text):
            raise CannotAnswerError(uncountable(desk, document.path))
        number = (
            counted(desk, words_in(document.lines), "word", "个词（汉字按字计）")
            if intent.unit == "words"
            else counted(desk, len(document.text), "character", "个字符")
        )
    name = code(document.path)
    least = desk.say("at least ", "至少 ") if end.next_offset is not None else desk.say("", " ")
    return desk.say(f"{name} has {least}{number}.", f"{name} 有{least}{number}。") + unread(
        desk, end
    )
