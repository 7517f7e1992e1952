"""Requests to list, count and compare: files, lines, tables."""

import re
from collections.abc import Sequence

from agent_nb.providers.demo.intent import CountText, Intent, Join, ListFiles, TableShape, Unit
from agent_nb.providers.demo.request import FILE, GLOB, Question, says
from agent_nb.providers.demo.wording import KIND_WORD, kind_of

_JOIN = (
    r"\bhow\b.*\b(?:join|relate|connect|link|fit together|belong together)|^join\b"
    r"|\b(?:what|which)\b.*\b(?:share|in common)\b"
    r"|\b(?:shared|common) (?:columns?|keys?)\b|\bcolumns?\b.*\bin common\b"
    r"|(?:怎么|如何|怎样|能|哪些|什么).*(?:关联|连接|合并|联系|join)|(?:关联|连接|join).*(?:怎么|如何|起来)"
    r"|(?:共同|公共|相同|共有)的?(?:列|字段)"
)


def join(text: str, question: Question) -> Intent | None:
    """Read a question how tables belong together."""
    files = tuple(question.named(FILE, text))
    compares = says(r"\bcompare\b|比较|对比", text) and _tables(files)
    return Join(files) if says(_JOIN, text) or compares else None


def _tables(files: Sequence[str]) -> bool:
    return len(files) > 1 and all(file.lower().endswith((".csv", ".tsv")) for file in files)


_MANY = r"\bhow (?:many|big|long|large)\b|\bnumber of\b|\bcount\b|多少|几|统计|^数"
_TABLE = (
    r"\b(?:rows?|columns?|dimensions?|shape)\b"
    r"|行数|列数|几列|多少列|字段|列名|哪些列|什么列|多少条|记录数"
)


def table_shape(text: str, question: Question) -> Intent | None:
    """Read a question for the size or the columns of a table."""
    file = question.file(text)
    is_table = file is not None and file.lower().endswith((".csv", ".tsv"))
    if file is not None and not is_table and not says(r"\bcolumns?\b|列|字段", text):
        return None
    size = r"(?:多少|几)\s*行|\bhow (?:big|large|long)\b|多大"
    wants = says(_TABLE, text) or (is_table and says(size, text))
    asks = rf"{_MANY}|\b(?:what|which|list|show|shape|size|dimensions?)\b|哪些|什么|列名"
    return TableShape(file) if wants and says(asks, text) else None


_UNITS: tuple[tuple[str, Unit], ...] = (
    (r"\blines?\b|行|\bhow (?:long|big|large)\b", "lines"),
    (r"\bwords?\b|词|字(?!符)", "words"),
    (r"\b(?:characters?|chars?|letters?)\b|字符", "characters"),
)


def count_text(text: str, question: Question) -> Intent | None:
    """Read a question for the number of lines, words or characters."""
    if not says(rf"{_MANY}|行数|字数|词数", text) or says(r"\bfiles\b|(?:多少|几)个?文件", text):
        return None
    unit = next((unit for pattern, unit in _UNITS if says(pattern, text)), None)
    return CountText(question.file(text), unit) if unit else None


_WHICH = (
    r"\b(?:which|what|list|how many|number of|count|show|find|get|any|all|are there|every|see)\b"
    r"|哪些|什么|列出|列一下|多少|几|所有|看|有没有|统计|显示|找"
)
_KIND_NOUNS = r"csvs|tsvs|notebooks?|images?|pictures?|spreadsheets?|pdfs|图片|图像|笔记本"
_PLACE_CONTENTS = (
    r"^what(?:'s| is)(?: there)? (?:in|inside|under) (?!it\b|here\b|this\b|there\b)(?:the )?"
    r"[\w./-]+(?: folder| directory)?$|^(?:ls|dir)\b"
    r"|\bwhat(?:'s| is| do we have| have we got| files are)?\s+(?:there |in )?"
    r"(?:here|(?:this|the)(?: current)? (?:folder|directory))\b"
    r"|\bcontents? of (?:this|the|[\w./-]+/)|^list (?:everything|all)$"
    r"|(?:这里|目录|文件夹)(?:里面|里|中|下面|下)?(?:都)?有(?:什么|哪些|啥)"
    r"|(?:列出|查看|看看)(?:当前)?(?:目录|文件夹)"
)
_FOLDER = (
    r"\b(?:in|under|inside|within|of|ls|dir)\s+(?:the\s+)?(?!(?:this|that|current|my|our|same)\b)"
    r"(?P<a>[\w.-]+/[\w./-]*|[\w.-]+(?=\s+(?:folder|directory|dir|subfolder)\b))"
    r"|\b(?:in|under|inside|within)\s+(?!(?:here|total|this|the|all|it|my|our|a|any)\b)"
    r"(?P<b>[\w.-]+)$"
    r"|(?P<c>[\w./-]+)\s*(?:目录|文件夹)?\s*(?:里面|里|中|下面|下|内)(?:一共|总共)?(?:都)?有"
)
_OF_KIND = (
    rf"(?P<kind>{KIND_WORD})\s*(?:source |code |script )?(?:files?\b|文件)"
    rf"|(?P<noun>(?<![a-z])(?:{_KIND_NOUNS})(?![a-z]))"
)


def list_files(text: str, question: Question) -> Intent | None:
    """Read a question which files there are, or how many."""
    globs = question.named(GLOB, text)
    named = says(_OF_KIND, text)
    files = named or globs or says(r"\b(?:files?|folders?|directories)\b|文件夹?|目录", text)
    if not (files and says(_WHICH, text)) and not says(_PLACE_CONTENTS, text):
        return None
    if question.named(FILE, text):
        return None
    kind = kind_of(globs[0]) if globs else None
    if named:
        kind = kind_of(named["kind"] or named["noun"])
    place = re.search(_FOLDER, text, re.IGNORECASE | re.ASCII)
    folder = next((name for name in place.groups() if name), None) if place else None
    return ListFiles(kind, folder, only_count=says(_MANY, text) is not None)
