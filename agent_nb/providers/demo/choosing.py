"""Which sentences of a text say most about it: by place, wording and the words it repeats.

Deterministic and extractive: every sentence is the file's own.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from agent_nb.providers.demo.sentences import Sentence
from agent_nb.providers.demo.wording import HAN, Language, is_chinese, word_set

_WORD = re.compile(rf"[A-Za-z][\w'-]+|[{HAN}]")
_COMMON = word_set(
    "the a an and or of to in is are was were be been it its this that these those for with as "
    "on by at from can will you your we our they their he she his her not no but if then than "
    "so such also has have had do does which who what when where how all any each more most "
    "other some into over"
) | frozenset("的了和是在有与及或也不这那个一为以对中上下可会能你我们它他她就都而等到把被从用")
_DEFINES = re.compile(
    r"\b(?:is an?|is the|are|provides?|lets? you|helps?|allows?|offers?|contains?|describes?|aims?"
    r"|supports?|makes?|reads?|finds?|turns?|holds?)\b"
    r"|是一?个?|提供|用于|可以|帮助|支持|包含|旨在"
)
_LEANS_ON_OTHERS = re.compile(
    r"(?:it|this|that|these|those|they|he|she|however|but|and|so|also|then|therefore|thus|otherwise"
    r"|for example|in addition|instead|moreover|furthermore|additionally|finally|alternatively)\b"
    r"|(?:它|他|她|这|那|但|然而|因此|所以|例如|此外|另外|同时|否则|而且|并且|然后)",
    re.IGNORECASE,
)
_DIRECTS = re.compile(
    r"(?:see|run|use|click|install|note|please|check|visit|read|open|copy|clone|make sure|try|add"
    r"|if you|to (?:install|run|build|use|get|contribute)|you (?:can|may|should|need|must)|thanks?"
    r"|feel free|let's|here(?:'s| is| are))\b"
    r"|(?:请|参见|参阅|运行|安装|点击|注意|感谢|欢迎|如果|要)",
    re.IGNORECASE,
)
_SIDE_MATTERS = re.compile(
    r"licen[cs]e|install|contribut|change ?log|history|release|acknowledg|credit|author|citation"
    r"|citing|test|develop|build|faq|troubleshoot|support|community|contact|sponsor|conduct"
    r"|table of contents|requirement|reference"
    r"|许可|安装|贡献|更新|致谢|作者|引用|测试|开发|联系",
    re.IGNORECASE,
)
_MAIN_MATTERS = re.compile(
    r"about|overview|introduc|what is|what it|why|feature|summary"
    r"|简介|介绍|概述|特性|功能|什么是|为什么",
    re.IGNORECASE,
)


def words_of(text: str) -> list[str]:
    """Return the words that carry meaning, in lower case; of Chinese text the characters."""
    return [word for word in _WORD.findall(text.lower()) if word not in _COMMON]


def choose(
    sentences: Sequence[Sentence], count: int, *, language: Language = Language.ENGLISH
) -> tuple[Sentence, ...]:
    """Choose up to `count` whole sentences, in the order of the text.

    Args:
        sentences: All sentences of the text, in order.
        count: How many are wanted.
        language: Preferred where a text in two languages has enough of it.
    """
    able = [index for index, sentence in enumerate(sentences) if sentence.is_whole]
    able = _one_language(sentences, able, count, language)
    able = _without_repeats(sentences, able)
    words = {index: frozenset(words_of(sentences[index].text)) for index in able}
    frequent = Counter(word for index in able for word in words[index])
    title = sentences[0].passage.heading[:1] if sentences else ()
    scores = {
        index: _worth(sentences[index], words[index], frequent)
        + _place(sentences[index], place / len(able), title)
        + 3 / (1 + place)
        for place, index in enumerate(able)
    }
    # Company can lower a score, not raise it: the others need no second look.
    rest = sorted(able, key=lambda index: -scores[index])[: 10 * count + 20]
    chosen: list[int] = []
    while rest and len(chosen) < count:
        fits = {
            index: scores[index]
            - _overlap(words, index, chosen)
            - (
                2
                if index != able[0] and index - 1 not in chosen and _leans(sentences[index])
                else 0
            )
            for index in rest
        }
        best = max(rest, key=lambda index: (fits[index], -index))
        chosen.append(best)
        rest.remove(best)
    return tuple(sentences[index] for index in sorted(chosen))


def _one_language(
    sentences: Sequence[Sentence], able: Sequence[int], count: int, language: Language
) -> list[int]:
    chinese = [index for index in able if is_chinese(sentences[index].text)]
    others = sorted(set(able).difference(chinese))
    wanted = chinese if language is Language.CHINESE else others
    main = wanted if len(wanted) >= count else max(others, chinese, key=len)
    return [*main] if len(main) >= count else [*able]


def _without_repeats(sentences: Sequence[Sentence], able: Sequence[int]) -> list[int]:
    first: dict[str, int] = {}
    for index in able:
        first.setdefault(sentences[index].text, index)
    return sorted(first.values())


def _worth(sentence: Sentence, words: frozenset[str], frequent: Counter[str]) -> float:
    """Score a sentence by itself, without its place in the text."""
    text = sentence.text
    length = len(words) / 2 if is_chinese(text) else len(words)
    shared = sum(min(frequent[word] - 1, 4) for word in words) / (len(words) + 4)
    score = shared + (1.0 if _DEFINES.search(text) else 0.0)
    if length < 4:
        score -= 2.0
    if length > 32:
        score -= (length - 32) / 12
    if _DIRECTS.match(text):
        score -= 1.5
    if text.endswith(("?", "？", "!", "！")):
        score -= 0.8
    if "http" in text or text.count("`") > 6:
        score -= 0.7
    if sentence.passage.kind == "item":
        score -= 0.6
    return score


def _place(sentence: Sentence, part: float, title: Sequence[str]) -> float:
    """Score where a sentence stands; `part` of the text comes before it, from 0 to 1."""
    headings = [heading for heading in sentence.passage.heading if heading not in title]
    score = 1.2 * (1 - part)
    if not headings:
        score += 0.8
    if any(_MAIN_MATTERS.search(heading) for heading in headings):
        score += 0.6
    if any(_SIDE_MATTERS.search(heading) for heading in headings):
        score -= 1.6
    return score


def _leans(sentence: Sentence) -> bool:
    """Whether a sentence needs the one before it, as `It …` does."""
    return _LEANS_ON_OTHERS.match(sentence.text) is not None


def _overlap(words: Mapping[int, frozenset[str]], index: int, chosen: Sequence[int]) -> float:
    """Score how much a sentence repeats those chosen before."""
    ours = words[index]
    return sum(
        1.5 * len(ours & words[other]) / (1 + min(len(ours), len(words[other]))) for other in chosen
    )
