"""A request as the rules read it: names of files and quoted words set aside, politeness removed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.providers.demo.wording import HAN, Language, language_of

# What is set aside is stood in for by one private character, its number by its code.
FILE, QUOTE, GLOB = "[\ue000-\ue0ff]", "[\ue100-\ue1ff]", "[\ue200-\ue2ff]"
_FIRST = {"file": 0xE000, "quote": 0xE100, "glob": 0xE200}
_PRIVATE = re.compile("[\ue000-\ue2ff]")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}

MOST_CHARACTERS = 2_000
"""What is looked at of a request: the rules take time that grows with its square."""

_QUOTED = re.compile(
    r"`+([^`\n]+)`+|“([^”\n]+)”|‘([^’\n]+)’|「([^」\n]+)」|『([^』\n]+)』|《([^》\n]+)》"
    r"|(?<!\w)\"([^\"\n]+)\"(?!\w)|(?<!\w)'([^'\n]+)'(?!\w)"
)
_GLOB = re.compile(
    r"[\w./-]*\*[\w.*/-]*|(?<![\w./])\.[A-Za-z][A-Za-z0-9]{0,7}(?=\s*(?:files?\b|文件))"
)
_NAME = re.compile(
    r"@?(?:[A-Za-z]:)?[\w.~+\-/\\]*[\w+\-]\.(?![0-9]+(?![\w.]))[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])"
    r"|(?<![\w.~+\-/\\])(?:[\w.~+\-]*[/\\])*\.(?:env|gitignore|gitattributes|dockerignore|editorconfig|bashrc|npmrc)\b"
    r"|(?<![\w./])(?i:readme)(?![\w.])"
    r"|(?<![\w./])(?:LICEN[CS]E|CHANGELOG|CONTRIBUTING|AUTHORS|NOTICE|Makefile|Dockerfile)(?![\w.])",
)
_NO_NAME = re.compile(r"(?i)e\.g|i\.e|etc|vs|a\.m|p\.m|node\.js|https?://.*|www\..*")
_LEADING_HAN = re.compile(
    r"^.*?(?:读取|读一下|读|打开|显示|查看|看看|看一下|看|介绍|总结|概括|解释|说明一下|统计|数一下"
    rf"|在|把|从|请|文件)(?=[{HAN}A-Za-z0-9])"
)
_POLITE = re.compile(
    r"^(?:(?:please|pls|hey|hi|hello|ok(?:ay)?|so|now|and|then|also|just"
    r"|first(?!\s+(?:\w+\s+)?(?:rows?|lines?|records?|entries|words?|sentences?|page)\b)|kindly"
    r"|(?:could|can|would|will) you|i(?:'d| would) like(?: you)? to|i want(?: you)? to"
    r"|stop|wait|no|actually|never mind|forget (?:it|that)"
    r"|help me(?: to)?|let'?s|let us|go and|try to)\b[\s,:]*"
    r"|(?:算了|不用了|停下?|请问|请你?|您好|你好|麻烦你?|帮我|帮忙|你能不能|你能否|你能|你可以"
    r"|能否|能不能|可不可以|可以|可否|给我|我想要?|我要|那么|那|然后|接着|并且|并|先|同时|再|最后)[\s,:]*)+",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"(?:[\s,]*(?:\b(?:please|thanks|thank you|thx|for me|instead)\b"
    r"|谢谢|好吗|可以吗|行吗|吗|呢|吧|啊|呀|[.!?;:,。、…]))+\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked.

    Attributes:
        text: With stand-ins for what was set aside.
        aside: What each stand-in means.
    """

    text: str
    aside: dict[str, str]
    language: Language

    def shown(self, text: str) -> str:
        """Return `text` with what was set aside back in place."""
        return _PRIVATE.sub(lambda match: self.aside.get(match[0], ""), text)

    def named(self, pattern: str, text: str) -> list[str]:
        """Return what the stand-ins of a kind in `text` mean: files, quoted words or globs."""
        return [self.aside[mark] for mark in re.findall(pattern, text) if mark in self.aside]

    def file(self, text: str) -> str | None:
        """Return the first file that `text` names."""
        return next(iter(self.named(FILE, text)), None)


def says(pattern: str, text: str) -> re.Match[str] | None:
    """Find a wording, whatever its case."""
    return re.search(pattern, text, re.IGNORECASE)


class _Aside:
    """Sets parts of a text aside."""

    def __init__(self) -> None:
        self.meaning: dict[str, str] = {}

    def put(self, kind: str, text: str) -> str:
        start = _FIRST[kind]
        number = sum(start <= ord(mark) < start + 0x100 for mark in self.meaning)
        if number > 0xFF:
            return text
        mark = chr(start + number)
        self.meaning[mark] = text
        return f" {mark} "

    def quote(self, match: re.Match[str]) -> str:
        text = next(group for group in match.groups() if group is not None).strip()
        if not text:
            return " "
        if "*" in text and _GLOB.fullmatch(text):
            return self.put("glob", text)
        kind = "file" if _is_path(text) else "quote"
        return self.put(kind, text)

    def name(self, match: re.Match[str]) -> str:
        text = match[0]
        if _NO_NAME.fullmatch(text):
            return text
        # Chinese is written without spaces: 读说明.md names 说明.md.
        lead = _LEADING_HAN.match(text)
        start = lead.end() if lead else 0
        return text[:start] + self.put("file", text[start:].removeprefix("@"))


def _is_path(text: str) -> bool:
    whole = _NAME.fullmatch(text) or re.fullmatch(r"[^\n?*|<>]*\.[A-Za-z][A-Za-z0-9]{0,7}", text)
    return (whole is not None or re.fullmatch(r"[\w.~-]*(?:/[\w.-]+)+", text) is not None) and (
        len(text) < 200 and not _NO_NAME.fullmatch(text)
    )


def understand(text: str) -> Question:
    """Prepare a request for the rules."""
    aside = _Aside()
    text = _QUOTED.sub(aside.quote, _PRIVATE.sub(" ", text[:MOST_CHARACTERS]))
    text = text.translate(_FULL_WIDTH)
    text = _GLOB.sub(lambda match: aside.put("glob", match[0]), text)
    text = _NAME.sub(aside.name, text)
    text = re.sub(r"\s+", " ", text).strip()
    return Question(text, aside.meaning, language_of(_PRIVATE.sub(" ", text)))


def plain(text: str) -> str:
    """Remove politeness before and after a request.

    >>> plain("Could you please list the files, thanks?"), plain("请帮我列出文件，谢谢。")
    ('list the files', '列出文件')
    """
    before = None
    while before != text:
        before = text
        text = _THANKS.sub("", _POLITE.sub("", text.strip().translate(_FULL_WIDTH)))
    return text.strip()


_START = (
    r"(?:read|open|show|display|print|list|count|find|search|grep|look|summari[sz]e|introduce|explain|"
    r"describe|tell|give|say|what|which|how|who|where|when|why|continue|is|are|does)\b"
    r"|(?:读|打开|显示|列出|数|统计|查找|搜索|搜|找|总结|概括|概述|介绍|解释|说明|告诉|看|哪|什么|谁|它|他们|"
    r"怎么|如何|有多少|有几|用[^,]{1,4}(?:句|条|点))"
)
_JOINT = re.compile(
    r"\s*(?:[,;.?!]?\s+(?:and then|and also|and|then|after that,?)\s+|[;.?!,]\s+|[。;,、!?]\s*)"
    r"|\s*(?:然后|接着|并且|并|再|同时|最后)\s*",
    re.IGNORECASE,
)


def clauses(text: str, also: str) -> Sequence[str]:
    """Cut a request where a new one starts: with a word of asking, or one that `also` matches.

    >>> clauses("read a.md and tell me how cats and dogs live", "write")
    ['read a.md', 'tell me how cats and dogs live']
    """
    start = re.compile(f"(?:{_START}|{also})", re.IGNORECASE)
    parts, begin = [], 0
    for joint in _JOINT.finditer(text):
        rest = plain(text[joint.end() :])
        if joint.start() > begin and start.match(rest):
            parts.append(plain(text[begin : joint.start()]))
            begin = joint.end()
    return [part for part in [*parts, plain(text[begin:])] if part]
