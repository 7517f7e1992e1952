"""Whole sentences of a text, in English and Chinese."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_nb.providers.demo.passage import Passage
from agent_nb.providers.demo.wording import HAN, word_set

_CLOSERS = "\"'”’»)]」』）】》*_"
_END = re.compile(rf"(?:[.!?]+|…+|[。！？]+)[{re.escape(_CLOSERS)}]*")
_BEFORE_MORE = word_set(
    "e.g i.e cf vs viz approx ca resp incl excl dr mr mrs ms prof st fig figs eq sec ch vol no "
    "nr pp dept est min max ver u.s u.k"
)
"""Abbreviations that never end a sentence."""
_ABBREVIATIONS = _BEFORE_MORE | word_set("etc al inc ltd co corp jr sr a.m p.m")
_PAIRS = {"(": ")", "“": "”", "「": "」", "『": "』", "（": "）", "《": "》", "[": "]"}
_LAST_WORD = re.compile(r"[\w.]*\Z")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as the file has it.

    Attributes:
        text: Whole and verbatim, but for line breaks and inline markup.
        line: Number of the line it begins in.
        passage: Where it stands.
        position: Its number within the passage, from 0.
        is_whole: False where the passage ends without an end mark.
    """

    text: str
    line: int
    passage: Passage
    position: int
    is_whole: bool = True


def sentences_of(passages: Sequence[Passage]) -> tuple[Sentence, ...]:
    """Cut passages into sentences; headings and code have none."""
    return tuple(
        Sentence(text, passage.line_at(start), passage, position, _is_whole(text))
        for passage in passages
        if passage.kind not in {"heading", "code"}
        for position, (start, text) in enumerate(_cut(passage.text))
    )


def split_sentences(text: str) -> list[str]:
    """Cut a paragraph into sentences.

    >>> split_sentences("Dr. Ada wrote v1.2, e.g. `a.py`. It works! 好。真的吗？")
    ['Dr. Ada wrote v1.2, e.g. `a.py`.', 'It works!', '好。', '真的吗？']
    """
    return [sentence for _, sentence in _cut(text)]


def _is_whole(text: str) -> bool:
    return any(end.end() == len(text) for end in _END.finditer(text))


def _cut(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence with where it begins."""
    inside = _enclosed(text)
    start = 0
    for end in _END.finditer(text):
        if not inside[end.end() - 1] and _ends(text, end):
            yield from _trimmed(text, start, end.end())
            start = end.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    sentence = text[start:end].strip()
    if sentence:
        yield start + len(text[start:end]) - len(text[start:end].lstrip()), sentence


def _ends(text: str, end: re.Match[str]) -> bool:
    """Decide whether an end mark ends a sentence, by what stands before and after it."""
    mark, after = end[0], text[end.end() :]
    if mark[0] in "。！？" or not after.strip():
        return True
    if re.match(f"[{HAN}]", after):
        return mark[0] != "…"  # 我……不知道
    if not after[0].isspace():
        return False  # v1.2, file.py, 3.5
    following = after.lstrip()[0]
    before = _LAST_WORD.search(text[max(0, end.start() - 40) : end.start()])
    word = before[0].strip(".").lower() if before else ""
    if mark[0] == "." and _goes_on(word, text, end.start(), following):
        return False
    if not following.islower():
        return True
    # Names may begin in small letters: `It reads files. pandas is used.`
    return mark.rstrip(_CLOSERS) == "." and (len(word) > 3 or text[end.start() - 1] in ")`")


def _goes_on(word: str, text: str, at: int, following: str) -> bool:
    if word in _BEFORE_MORE or (word in _ABBREVIATIONS and following.islower()):
        return True
    is_initial = len(word) == 1 and text[at - 1 : at].isupper() and word != "i"
    is_list_number = word.isdigit() and at < 5 and text[:at].strip() == word
    return is_initial or is_list_number


def _enclosed(text: str) -> list[bool]:
    """Mark the characters within code, quotation marks or brackets that are closed again."""
    inside = [False] * len(text)
    for start, end in _enclosures(text):
        inside[start:end] = [True] * (end - start)
    return inside


def _enclosures(text: str) -> Iterator[tuple[int, int]]:
    """Yield from behind each opening mark to its closing mark, which is outside."""
    opened: list[tuple[str, int]] = []
    closing = {close: start for start, close in _PAIRS.items()}
    for index, character in enumerate(text):
        if character in '"`':
            if opened and opened[-1][0] == character:
                yield opened.pop()[1], index
            elif text.find(character, index + 1) > 0 and _may_open(text, index):
                opened.append((character, index))
        elif character in _PAIRS:
            opened.append((character, index))
        elif character in closing:
            while opened:
                mark, start = opened.pop()
                if mark == closing[character]:
                    yield start, index
                    break


def _may_open(text: str, index: int) -> bool:
    """A straight mark opens where a word begins: `5" wide` opens nothing."""
    return index == 0 or not text[index - 1].isalnum()
