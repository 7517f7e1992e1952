"""Words of requests: languages, numbers, and kinds of files, in English and Chinese."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN = re.compile(f"[{HAN}]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that lists them."""
    return frozenset(words.split())


_ENGLISH = word_set(
    "a an and are between can could count describe display do does explain find for from grep "
    "have how i in introduce is it list look many of on open please print read search show "
    "summarise summarize tell the there this to under what where which who with you"
)


class Language(StrEnum):
    """The languages of questions and answers."""

    ENGLISH = "en"
    CHINESE = "zh"


def language_of(text: str) -> Language:
    """Tell the language of a request; names of files and quoted words should be gone.

    >>> language_of("这里有哪些 CSV 文件"), language_of("find 你好 in the notes")
    (<Language.CHINESE: 'zh'>, <Language.ENGLISH: 'en'>)
    """
    han = len(_HAN.findall(text))
    english = sum(word.lower() in _ENGLISH for word in _LATIN_WORD.findall(text))
    return Language.CHINESE if han > 2 * english else Language.ENGLISH


def is_chinese(text: str) -> bool:
    """Say whether a text of a file is mostly Chinese: a character weighs as much as a word."""
    return len(_HAN.findall(text)) > len(_LATIN_WORD.findall(text))


_ENGLISH_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_WORDS: Mapping[str, int] = {
    **{word: number for number, word in enumerate(_ENGLISH_NUMBERS)},
    "a": 1,
    "an": 1,
    "single": 1,
    "couple": 2,
    "few": 3,
    "dozen": 12,
}
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2}

NUMBER = (
    r"(?:\d{1,9}|[零一二两三四五六七八九十百]{1,5}"
    r"|\b(?:a\s+)?(?:single|couple(?:\s+of)?|few|dozen)\b"
    rf"|\b(?:{'|'.join(_ENGLISH_NUMBERS)}|an|a)\b)"
)
"""A pattern for what `number_of` reads."""


def number_of(text: str) -> int:
    """Read a number in digits or in words.

    >>> [number_of(word) for word in ("12", "Three", "a couple of", "十", "二十五", "一百零三")]
    [12, 3, 2, 10, 25, 103]
    """
    text = text.lower().strip()
    if text.isascii() and text.isdigit():
        return int(text)
    words = [word for word in text.split() if word in _WORDS]
    if words:
        return _WORDS[next((word for word in words if word != "a"), "a")]
    total, digit = 0, 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        else:
            total += (digit or 1) * (100 if character == "百" else 10)
            digit = 0
    return total + digit


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of files: its name, the endings that make it, and its Chinese name if it has one."""

    name: str
    endings: tuple[str, ...]
    chinese: str = ""

    @property
    def pattern(self) -> str:
        """A glob for all of them."""
        if len(self.endings) == 1:
            return f"*.{self.endings[0]}"
        return f"*.{{{','.join(self.endings)}}}"

    def takes(self, name: str) -> bool:
        """Say whether a file of this name is of this kind."""
        return name.lower().endswith(tuple(f".{ending}" for ending in self.endings))


_KINDS: tuple[tuple[str, Kind], ...] = (
    ("csvs?", Kind("CSV", ("csv",))),
    ("tsvs?", Kind("TSV", ("tsv",))),
    ("jsonl|ndjson", Kind("JSONL", ("jsonl",))),
    ("jsons?", Kind("JSON", ("json",))),
    ("pythons?|py", Kind("Python", ("py",))),
    ("jupyter|notebooks?|ipynb|笔记本", Kind("notebook", ("ipynb",), "笔记本")),
    ("markdown|md", Kind("Markdown", ("md",))),
    ("rst|restructuredtext", Kind("reStructuredText", ("rst",))),
    ("text|txt|文本", Kind("text", ("txt",), "文本")),
    (
        "images?|pictures?|图片|图像",
        Kind("image", ("png", "jpg", "jpeg", "gif", "svg", "webp"), "图片"),
    ),
    ("ya?ml", Kind("YAML", ("yaml", "yml"))),
    ("toml", Kind("TOML", ("toml",))),
    ("html?", Kind("HTML", ("html", "htm"))),
    ("css", Kind("CSS", ("css",))),
    ("xml", Kind("XML", ("xml",))),
    ("sql", Kind("SQL", ("sql",))),
    ("javascript|js", Kind("JavaScript", ("js", "mjs"))),
    ("typescript|ts", Kind("TypeScript", ("ts", "tsx"))),
    ("rust", Kind("Rust", ("rs",))),
    ("java", Kind("Java", ("java",))),
    (r"c\+\+|cpp", Kind("C++", ("cpp", "hpp", "cc"))),
    ("shell|bash|sh", Kind("shell", ("sh",))),
    ("excel|xlsx?|spreadsheets?", Kind("Excel", ("xlsx", "xls"))),
    ("parquets?", Kind("Parquet", ("parquet",))),
    ("pdfs?", Kind("PDF", ("pdf",))),
    ("log|日志", Kind("log", ("log",), "日志")),
    (
        "data|数据",
        Kind("data", ("csv", "tsv", "json", "jsonl", "parquet", "xlsx", "sqlite", "db"), "数据"),
    ),
)
KIND_WORD = (
    r"(?<![A-Za-z0-9_.])(?:" + "|".join(words for words, _ in _KINDS) + r")(?![A-Za-z0-9_+])"
)
"""A pattern for what `kind_of` reads."""


def kind_of(word: str) -> Kind | None:
    """Return the kind of files a word, a glob or an ending stands for.

    >>> kind_of("CSVs").pattern, kind_of("*.rs").pattern, kind_of("images").takes("a/b.PNG")
    ('*.csv', '*.rs', True)
    """
    word = word.lower().strip()
    for words, kind in _KINDS:
        if re.fullmatch(words, word):
            return kind
    ending = re.fullmatch(r"\*?\.([a-z0-9]{1,8})", word)
    if ending is None:
        return None
    named = (kind for _, kind in _KINDS if kind.endings == (ending[1],))
    return next(named, Kind(f".{ending[1]}", (ending[1],)))
