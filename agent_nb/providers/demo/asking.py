"""Questions about a file: answered with its own lines, or not at all."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent_nb.providers.demo.answers import about, code, counted, fenced
from agent_nb.providers.demo.choosing import words_of
from agent_nb.providers.demo.documents import Document
from agent_nb.providers.demo.files import open_file, read_on, unread
from agent_nb.providers.demo.intent import Ask
from agent_nb.providers.demo.passage import Passage
from agent_nb.providers.demo.prose import passages_of
from agent_nb.providers.demo.script import Desk, Script
from agent_nb.providers.demo.sentences import sentences_of
from agent_nb.providers.demo.wording import HAN, word_set

MOST_QUOTES = 3
LONGEST_QUOTE = 600
"""Characters shown of a quote."""
_LINE_BY_LINE = (
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".log",
    ".toml",
    ".yaml",
    ".yml",
    ".ini",
    ".xml",
)
_ALSO: Mapping[str, tuple[str, ...]] = {
    "许可": ("license", "许可", "协议", "mit", "apache", "gpl", "bsd"),
    "协议": ("license", "许可", "协议"),
    "license": ("license", "许可", "协议"),
    "维护": ("maintain", "维护", "author"),
    "maintain": ("maintain", "维护"),
    "作者": ("author", "作者", "written", "maintain"),
    "author": ("author", "作者", "written"),
    "安装": ("install", "安装", "pip"),
    "install": ("install", "安装"),
    "版本": ("version", "版本"),
    "version": ("version", "版本"),
    "依赖": ("depend", "require", "依赖", "需要"),
    "depend": ("depend", "require", "依赖"),
    "贡献": ("contribut", "贡献"),
    "contribut": ("contribut", "贡献"),
    "用法": ("usage", "use", "用法", "使用"),
    "使用": ("usage", "use", "使用", "用法"),
    "怎么用": ("usage", "use", "使用", "用法"),
    "运行": ("run", "start", "运行"),
    "测试": ("test", "测试"),
    "run": ("run", "start", "运行"),
    "use": ("use", "usage", "用法", "使用"),
    "功能": ("feature", "功能"),
    "联系": ("contact", "email", "联系"),
    "支持": ("support", "支持"),
    "用途": ("purpose", "用途"),
    "数据": ("data", "数据"),
    "文档": ("document", "doc", "文档"),
    "python": ("python",),
}
_EMPTY_WORDS = word_set(
    "which what who whom whose when where why how does do did is are was can could should "
    "would tell show explain describe give say says about it its this that there any some "
    "file text document project please me my i one get use used using want know name "
    "called"
)
_ZH_NOISE = re.compile(
    r"它们?|这个?|那个?|是什么|什么|是谁|谁|哪些|哪个|哪里|怎么样?|如何|怎样|为什么|告诉我?|多少|请问?|文件|项目|"
    r"用的?|使用|的|了|是|吗|呢|我|你|有|在|和|里|中|需要|叫|来|要|会|能"
)


def stem(word: str) -> str:
    """Cut an English word to what its forms share.

    >>> {stem(word) for word in ("maintains", "maintained", "maintainer", "maintainers")}
    {'maintain'}
    >>> stem("Licence"), stem("licensed")
    ('licens', 'licens')
    """
    word = word.lower().replace("licence", "license").removesuffix("'s")
    for ending in (
        "ations",
        "ation",
        "ements",
        "ement",
        "ments",
        "ment",
        "ers",
        "ing",
        "ed",
        "er",
        "es",
        "s",
        "e",
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question and what counts as a match for it."""

    word: str
    forms: tuple[str, ...]

    def weight(self, stems: frozenset[str], text: str) -> float:
        """Say how well a text matches: 1 for the word itself, less for a synonym."""
        for place, form in enumerate(self.forms):
            found = form in text if re.match(f"[{HAN}]", form) else stem(form) in stems
            if found:
                return 1.0 if place == 0 else 0.8
        is_numbered = "version" in self.forms and re.search(r"\d\.\d", text)
        return 0.6 if is_numbered else 0.0


def terms_of(question: str) -> list[Term]:
    """Return the words of a question that a text can be searched for.

    >>> [term.word for term in terms_of("And which licence does it use?")]
    ['licence']
    >>> [term.word for term in terms_of("它用什么许可证？")]
    ['许可证']
    """
    english = [w for w in words_of(question) if w.isascii() and w not in _EMPTY_WORDS]
    chinese = re.findall(f"[{HAN}]{{2,}}", _ZH_NOISE.sub(" ", question))
    if not chinese and not english:  # 怎么用, how do I use it
        asks_how = re.match(r"(?i)how\b", question)
        chinese = [key for key in _ALSO if key in question and (asks_how or not key.isascii())]
    return [Term(word, _forms(word)) for word in dict.fromkeys([*english, *chinese])]


def _forms(word: str) -> tuple[str, ...]:
    for key, forms in _ALSO.items():
        if (key in word) if re.match(f"[{HAN}]", key) else stem(word) == stem(key):
            return (word, *forms)
    if re.match(f"[{HAN}]", word) and len(word) > 2:
        return (word, *(word[at : at + 2] for at in range(len(word) - 1)))
    return (word,)


@dataclass(frozen=True, slots=True)
class Quote:
    """A place in the file: a sentence, a line, or what stands under a heading."""

    text: str
    line: int
    is_code: bool = False


def ask(intent: Ask, desk: Desk) -> Script:
    """Answer with the lines that match best, from what is known of the file if that has any."""
    terms = terms_of(intent.question)
    known = _candidates(intent, desk)
    if not terms or not (known or intent.is_topical):
        return about(desk, was_greeted=False)
    for document in known:
        if quotes := best_quotes(document, terms):
            return _answer(desk, document, terms, quotes)
    document = known[0] if known else (yield from open_file(desk, intent.file))
    if document.first > 1:
        document = yield from open_file(desk, document.path)
    document = yield from read_on(desk, document)
    return _answer(desk, document, terms, best_quotes(document, terms))


def _candidates(intent: Ask, desk: Desk) -> list[Document]:
    """Return the known file to look in: the one named, else the latest.

    A question about the project may be answered from any text read before, but from no table.
    """
    if intent.file is not None:
        named = desk.known(intent.file)
        return [named] if named else []
    latest_first = [*desk.documents, *desk.attached][::-1]
    if intent.is_topical:
        return [known for known in latest_first if not _is_table(known.path)]
    return latest_first[:1]


def _is_table(path: str) -> bool:
    return path.lower().endswith((".csv", ".tsv"))


def best_quotes(document: Document, terms: Sequence[Term]) -> list[Quote]:
    """Return the places of the file that match, the best first."""
    quotes = list(_quotes(document))
    scores = [_score(quote, heading, terms) for quote, heading in quotes]
    enough = max(0.7 * max(scores, default=0), 0.45 * len(terms))
    good = [at for at, score in enumerate(scores) if score > 0 and score >= enough]
    good.sort(key=lambda at: -scores[at])
    return [quotes[at][0] for at in good]


def _score(quote: Quote, heading: str, terms: Sequence[Term]) -> float:
    low, low_heading = quote.text.lower(), heading.lower()
    stems = frozenset(map(stem, words_of(low)))
    heading_stems = frozenset(map(stem, words_of(low_heading)))
    score = 0.0
    for term in terms:
        inside = term.weight(stems, low) * (0.5 if quote.is_code else 1)
        score += max(inside, 1.2 * term.weight(heading_stems, low_heading)) + 0.2 * inside
    return score


def _quotes(document: Document) -> Iterator[tuple[Quote, str]]:
    """Yield what can be quoted, each with the heading right above it."""
    if document.path.lower().endswith(_LINE_BY_LINE):
        first = document.first
        if first == 1 and _is_table(document.path):
            first = 2  # the names of columns are no answer
        yield from ((quote, "") for quote in _lines(document, first, document.last))
        return
    for passage in passages_of(document.text, document.path, first=document.first):
        heading = passage.heading[-1] if passage.heading else ""
        if passage.kind == "code":
            yield Quote(passage.text, passage.line, is_code=True), heading
        elif passage.kind != "heading":
            yield from ((quote, heading) for quote in _sentences(document, passage))


def _sentences(document: Document, passage: Passage) -> Iterator[Quote]:
    for sentence in sentences_of([passage]):
        last = passage.line_at(len(passage.text))
        if sentence.is_whole or sentence.line == last:
            yield Quote(sentence.text, sentence.line)
        else:  # lines that are no text: a log, a list
            yield from _lines(document, sentence.line, last)


def _lines(document: Document, first: int, last: int) -> Iterator[Quote]:
    lines = document.lines[first - document.first : last - document.first + 1]
    for number, line in enumerate(lines, start=first):
        if line.strip():
            yield Quote(line.strip(), number)


def _answer(desk: Desk, document: Document, terms: Sequence[Term], quotes: Sequence[Quote]) -> str:
    name = code(document.path)
    if not quotes:
        lines = f"{document.first:,}–{document.last:,}"
        columns = ""
        if _is_table(document.path) and document.first == 1:
            columns = desk.say(" Its first line: ", "它的第一行：") + code(
                document.lines[0].strip()
            )
        looked = desk.say(", ", "、").join(code(term.word) for term in terms)
        nothing = desk.say(
            f"I looked for {looked} in {name} (lines {lines}) and found nothing that answers this. "
            "I can only quote what is there.",
            f"我在 {name}（第 {lines} 行）里找了 {looked}，"
            "没有找到能回答这个问题的内容。我只能引用文件里的原文。",
        )
        return nothing + columns + unread(desk, document)
    parts = []
    for quote in sorted(quotes[:MOST_QUOTES], key=lambda quote: quote.line):
        text = quote.text
        text = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"
        place = desk.say(f"{name}, line {quote.line:,}:", f"{name} 第 {quote.line:,} 行：")
        body = f"\n\n{fenced(text)}" if quote.is_code else desk.say(" ", "") + text
        parts.append(place + body)
    left = len(quotes) - len(parts)
    if left and document.path.lower().endswith(_LINE_BY_LINE):
        more = counted(desk, left, "more line", "行")
        match = "matches" if left == 1 else "match"
        parts.append(
            desk.say(
                f"I quote lines and do not work with values: {more} of this file {match} as well.",
                f"我只引用原文，不做计算：这个文件还有 {more}同样匹配。",
            )
            + unread(desk, document)
        )
    return "\n\n".join(parts)
