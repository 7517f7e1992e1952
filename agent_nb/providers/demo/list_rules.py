"""Requests to list, count and compare: files, lines, tables."""

import re
from collections.abc import Sequence
from typing import Literal

from agent_nb.providers.demo.intent import (
    Calculate,
    CountText,
    Functions,
    Intent,
    Join,
    ListFiles,
    ManyTables,
    TableShape,
    Unit,
)
from agent_nb.providers.demo.request import FILE, GLOB, QUOTE, Question, says
from agent_nb.providers.demo.wording import KIND_WORD, kind_of, word_set

_JOIN = (
    r"\bhow\b.*\b(?:join|relate|connect|link|fit together|belong together)|^join\b"
    r"|\b(?:what|which)\b.*\b(?:share|in common)\b"
    r"|\b(?:which|what|can|could)\b.*\b(?:tables?|files?|csvs?|they|these|them)\b.*\b(?:joined|joins?|join)\b"
    r"|\b(?:shared|common) (?:columns?|keys?)\b|\bcolumns?\b.*\bin common\b"
    r"|(?:怎么|如何|怎样|能|哪些|什么).*(?:关联|连接|合并|联系|join)|(?:关联|连接|join).*(?:怎么|如何|起来)"
    r"|(?:共同|公共|相同|共有)的?(?:列|字段)"
)


def join(text: str, question: Question) -> Intent | None:
    """Read a question how tables belong together."""
    files = tuple(question.named(FILE, text))
    every = not files and says(r"\b(?:csvs?|tables)\b|CSV|表", text)
    compares = says(r"\bcompare\b|比较|对比", text) and (every or _tables(files))
    return Join(files) if says(_JOIN, text) or compares else None


def _tables(files: Sequence[str]) -> bool:
    return len(files) > 1 and all(file.lower().endswith((".csv", ".tsv")) for file in files)


_MANY = r"\bhow (?:many|big|long|large)\b|\bnumber of\b|\bcount\b|多少|几|统计|^数"
_TABLE = (
    r"\b(?:rows?|columns?|dimensions?|shape)\b"
    r"|\b(?:how many|number of|count)\b.*\b(?:records|entries)\b"
    r"|行数|列数|几列|多少列|字段|列名|哪些列|什么列|多少条|几条|记录数"
)

_HAS_COLUMN = (
    r"^(?:is|are) there\b.*\b(?:columns?|fields?)\b|^(?:does|do|has)\b.*\b(?:columns?|fields?)\b"
    r"|(?:有没有|是否有|是不是有).*(?:列|字段)"
)


def table_shape(text: str, question: Question) -> Intent | None:
    """Read a question for the size or the columns of a table."""
    file = question.file(text)
    if file is None and says(r"^what are (?:they|these|those) (?:called|named)|^叫什么", text):
        return TableShape()
    is_table = file is not None and file.lower().endswith((".csv", ".tsv"))
    if is_table and says(_HAS_COLUMN, text):
        return TableShape(file)
    if file is not None and not is_table and not says(r"\bcolumns?\b|列|字段", text):
        return None
    size = r"(?:多少|几)\s*行|\bhow (?:big|large|long)\b|多大"
    wants = says(_TABLE, text) or (is_table and says(size, text))
    asks = (
        rf"{_MANY}|\b(?:what|which|list|show|shape|size|dimensions?)\b|^(?:rows?|columns?)\b"
        r"|哪些|什么|列名"
    )
    if not (wants and says(asks, text)):
        return None
    if _asks_for_more(text):
        return Calculate(question.shown(text), file)
    return TableShape(file)


_PLAIN = re.compile(
    rf"{FILE}|[^\w\s]|_|\b(?:how|many|big|long|large|number|count|the|of|in|at|for|from|and|or|a|an|it|its|this"
    r"|that|file|files|table|tables|csv|tsv|data|dataset|sheet|lines?|rows?|columns?|records?|entries|names?"
    r"|words?|characters?|chars?|letters?|dimensions?|shape|size|header|headers|code|text|document"
    r"|notebook|script|is|are|was|there|here|does|do|did|has|have|contain|contains|got|what|what's"
    r"|which|list|show|see|say|tell|give|get|me|us|you|we|i|all|total|exactly|together|altogether|overall"
    r"|both|each|about|please|much|up|find out|out|also|can|could|let|know|called|named|read|print"
    r"|display|s|long|first|as|well)\b"
    r"|一共|总共|总|共|有|多少|几|行数|列数|行|列|字段|列名|名称|名字|名|数据|数一数|数一下|数|统计一下|统计|统計|計|条|记录|字符|字"
    r"|词|单词|个|里面|里|中|的|文件|表格|表|它们?|这个?|那个?|哪些|什么|都|是|和|与|及|分别|各|请|告诉我|我|列出|显示"
    r"|看看|看|大小|大|长|多|包含|含有|含|一下|叫|呢|吗",
    re.IGNORECASE,
)


# Of a name with spaces, `sales report 2024.csv`, only the last word is known to be one.
_BEFORE_FILE = re.compile(
    rf"(?:\b(?!(?:in|of|from|for|does|do|are|is|the|has|have)\b)[A-Za-z]\w*\s+){{1,4}}(?={FILE})",
    re.IGNORECASE,
)


def _asks_for_more(text: str) -> bool:
    """Say whether a question to count has words beyond counting: `rows have no email`."""
    text = _BEFORE_FILE.sub("", text)
    return re.search(r"\w", _PLAIN.sub(" ", text)) is not None


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
    if unit is None:
        return None
    if _asks_for_more(text):
        return Calculate(question.shown(text), question.file(text))
    return CountText(question.file(text), unit)


_EVERY = (
    rf"\b(?:all|every|each|both)\b(?: of)?(?: the| these| those| my)*\s+(?P<en>{KIND_WORD})"
    rf"|(?:所有|全部|每[个個]?|各个?|这些)\s*的?\s*(?P<zh>{KIND_WORD})"
    rf"|\b(?:the|these|those|my)\s+(?P<the>{KIND_WORD})\s+files\b"
    rf"|(?P<mid>{KIND_WORD})\s*(?:files?\b|文件)?\s*(?:一共|总共|合计|加起来|together|in total)"
)
_SAYS_COLUMNS = r"\b(?:columns?|headers?|fields?)\b|列(?![出举])|字段|表头"
_SAYS_ROWS = r"\b(?:rows?|lines?|records?|size|shape)\b|行|多少条|记录"
_SAYS_SUMMARY = r"\b(?:summar|introduc|describe|explain|overview)|总结|概括|介绍|概述|说明"
_TOGETHER = r"\b(?:together|in total|combined|altogether|in all|overall)\b|一共|总共|合计|加起来"

_THEY = (
    r"\b(?:do|have) (?:they|these|those)(?: all| each)? (?:have|got|contain)\b"
    r"|^它们(?:都|各|分别)?有"
)
_COMPARES = r"\b(?:longer|shorter|larger|bigger|smaller|more (?:rows|lines))\b|哪个.*[多少大小长短]"


def many_tables(text: str, question: Question) -> Intent | None:
    """Read a request for the size or the columns of many tables at once."""
    wants: Literal["rows", "columns"] = "rows"
    if not says(f"{_SAYS_ROWS}|{_COMPARES}", text):
        if not says(f"{_SAYS_COLUMNS}|{_SAYS_SUMMARY}", text):
            return None
        wants = "columns" if says(_SAYS_COLUMNS, text) else "rows"
    files = tuple(question.named(FILE, text))
    csv = kind_of("csv")
    if csv and len(files) > 1 and _tables(files) and says(f"{_TOGETHER}|{_COMPARES}", text):
        return ManyTables(csv, files=files, wants=wants)
    if not files and says(_THEY, text):
        return ManyTables(csv, wants=wants) if csv and not says(r"\blines?\b", text) else None
    every = says(_EVERY, text)
    if every is None or files:
        return None
    kind = kind_of(next(group for group in every.groups() if group))
    return ManyTables(kind, _folder(text, question), wants=wants) if kind else None


def _folder(text: str, question: Question) -> str | None:
    text = re.sub(rf"\s*({QUOTE})\s*", lambda mark: f" {question.aside.get(mark[1], '')} ", text)
    text = text.strip()
    place = re.search(_FOLDER, text, re.IGNORECASE | re.ASCII)
    return next((name for name in place.groups() if name), None) if place else None


_DEFINED = r"\b(?:functions?|methods?|class(?:es)?|definitions?|defs)\b|函数|方法|哪些类"
_CODE_NAME = r"(?P<name>[A-Za-z_]\w*)(?:\(\))?"


_ONE = (
    rf"^(?:what|how) does (?:the )?(?:function |method |class )?{_CODE_NAME} (?:do|work)\b",
    rf"^(?:explain|describe|show|introduce)(?: me)? the (?:function|method|class) {_CODE_NAME}",
    rf"{FILE}\s*(?:里面?|中)的?\s*(?:函数|方法|类)?\s*{_CODE_NAME}\s*(?:函数)?\s*是?[做干]",
)


def functions(text: str, question: Question) -> Intent | None:
    """Read a question what a file defines, or what one function in it does."""
    file = question.file(text)
    shown = re.sub(QUOTE, lambda mark: question.aside.get(mark[0], ""), text)
    one = next((match for pattern in _ONE if (match := says(pattern, shown))), None)
    name = one["name"] if one else ""
    is_code = file is not None and not file.lower().endswith(_NO_CODE)
    if name and (is_code or says(_DEFINED, text)) and name.lower() not in _NO_CODE_NAME:
        return Functions(file, name)
    asks = says(
        r"\b(?:which|what|list|show|find|how many|are there|any)\b|多少|几|哪些|什么|列出|显示",
        text,
    )
    names_word = says(QUOTE, text) is not None
    return Functions(file) if asks and file and says(_DEFINED, text) and not names_word else None


_NO_CODE = (".md", ".txt", ".rst", ".csv", ".tsv", ".json", ".toml", ".yaml", ".yml")
_NO_CODE_NAME = word_set("it this that the file script module code project package library program")


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
    r"|\bcontents? of (?:this|the|[\w./-]+/)|^(?:list|show) (?:everything|all)"
    r"(?: (?:in|inside|under) .+)?$"
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


_IN_FILES = r"\b(?:lines?|rows?|words?|characters?)\b|行|字|词"


def list_files(text: str, question: Question) -> Intent | None:
    """Read a question which files there are, or how many."""
    globs = question.named(GLOB, text)
    named = says(_OF_KIND, text)
    files = named or globs or says(r"\b(?:files?|folders?|directories)\b|文件夹?|目录", text)
    if not (files and says(_WHICH, text)) and not says(_PLACE_CONTENTS, text):
        return None
    if question.named(FILE, text):
        return None
    if says(rf"{_MANY}|{_TOGETHER}", text) and says(_IN_FILES, text):
        return Calculate(question.shown(text))
    kind = kind_of(globs[0]) if globs else None
    if named:
        kind = kind_of(named["kind"] or named["noun"])
    folders = says(r"\b(?:sub)?(?:folders|directories)\b|文件夹|子目录", text)
    others = says(r"\bfiles?\b|文件(?!夹)|文件夹\s*[里中下内]", text)
    return ListFiles(
        kind,
        _folder(text, question),
        only_count=says(_MANY, text) is not None,
        only_folders=folders is not None and others is None,
    )
