"""From wording to intent: rules for English and Chinese, tried one after the other."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from agent_nb.providers.demo.intent import (
    About,
    Ask,
    Continue,
    CountText,
    Decline,
    Intent,
    Introduce,
    Join,
    ListFiles,
    Read,
    ShowLines,
    TableShape,
    Unit,
    Wanted,
)
from agent_nb.providers.demo.request import FILE, GLOB, Question, clauses, understand
from agent_nb.providers.demo.search_rules import search
from agent_nb.providers.demo.wording import KIND_WORD, NUMBER, kind_of, number_of

MOST_SENTENCES = 50
_GREETING = (
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?|/?help|help me"
    r"|[你您]好|嗨|帮助|谢谢你?|早上好)[\s,!.?。~]*)+(?:there|everyone|大家)?[\s!.?。~]*"
    r"|.*\b(?:who|what) are you\b.*|.*\bwhat can (?:you|i) (?:do|ask)\b.*"
    r"|.*(?:你是谁|你是什么|你(?:能|会|可以)(?:做|干)?(?:什么|哪些|啥)).*"
)
_CANNOT = (
    r"(?:write|edit|fix|delete|remove|run|create|make|translate|deploy|install|commit|push|refactor|"
    r"rename|plot|draw|change|add|update|modify|implement|convert|save|download|execute|generate|"
    r"test|build|move|copy|replace|send|train)\s+\S"
    r"|(?:写|编写|修改|编辑|删除|运行|执行|创建|新建|翻译|部署|安装|提交|重构|重命名|画|绘制|改|添加|更新|实现|"
    r"转换|保存|下载|生成|测试|移动|复制|替换|发送|训练)(?!者|人)\S"
    r"|把.{1,40}?(?:翻译|改|删|重命名|移|复制|转换|替换|写入)"
)
_WITH_FILE = (Introduce, Read, ShowLines, CountText, TableShape, Ask)


def parse(text: str) -> Wanted:
    """Read a request; whatever it says, at least one intent comes out."""
    question = understand(text)
    if not question.text or re.fullmatch(_GREETING, question.text, re.IGNORECASE):
        return Wanted((About(was_greeted=True),), question.language)
    parts = clauses(question.text, _CANNOT)
    intents = [intent for part in parts for intent in _intents(part, question)]
    return Wanted(_connected(intents) or (About(was_greeted=True),), question.language)


def _connected(intents: Sequence[Intent]) -> tuple[Intent, ...]:
    """Let later parts of a request speak of the file an earlier one names."""
    found: list[Intent] = []
    for intent in intents:
        before = found[-1] if found else None
        if isinstance(before, _WITH_FILE) and isinstance(intent, _WITH_FILE):
            if isinstance(intent, Ask):
                intent = replace(intent, is_topical=True)
            if intent.file is None:
                intent = replace(intent, file=before.file)
            if _absorbs(intent, before):
                found.pop()  # reading it is part of what follows
        if intent not in found:
            found.append(intent)
    return tuple(found)


def _absorbs(intent: Intent, before: Intent) -> bool:
    """Whether `before` is part of doing `intent`: reading a file, or the same thing said again."""
    same = getattr(intent, "file", None) == getattr(before, "file", None)
    again = isinstance(before, Introduce) and isinstance(intent, Introduce)
    return same and (isinstance(before, Read) or again)


def _intents(text: str, question: Question) -> Sequence[Intent]:
    """Read one part of a request; `count the words in a.md and b.md` wants the same twice."""
    found = (intent for rule in _RULES if (intent := rule(text, question)) is not None)
    intent = next(found, None) or _ask(text, question)
    files = dict.fromkeys(question.named(FILE, text))
    if isinstance(intent, _WITH_FILE) and intent.file in files:
        return [replace(intent, file=file) for file in files]
    return [intent]


def _file(text: str, question: Question) -> str | None:
    return next(iter(question.named(FILE, text)), None)


def _says(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.IGNORECASE)


def _continue(text: str, _question: Question) -> Intent | None:
    words = (
        r"continue|go on|keep (?:going|reading)|(?:read|show)(?: me)? more|more|next"
        r"|继续|接着读?|往下|下一页"
    )
    return Continue() if _says(rf"^(?:{words})(?: reading|读|看|显示|往下)?$", text) else None


_JOIN = (
    r"\bhow\b.*\b(?:join|relate|connect|link|fit together|belong together)|^join\b"
    r"|\b(?:what|which)\b.*\b(?:share|in common)\b"
    r"|\b(?:shared|common) (?:columns?|keys?)\b|\bcolumns?\b.*\bin common\b"
    r"|(?:怎么|如何|怎样|能|哪些|什么).*(?:关联|连接|合并|联系|join)|(?:关联|连接|join).*(?:怎么|如何|起来)"
    r"|(?:共同|公共|相同|共有)的?(?:列|字段)"
)


def _join(text: str, question: Question) -> Intent | None:
    files = tuple(question.named(FILE, text))
    compares = _says(r"\bcompare\b|比较|对比", text) and _tables(files)
    return Join(files) if _says(_JOIN, text) or compares else None


def _tables(files: Sequence[str]) -> bool:
    return len(files) > 1 and all(file.lower().endswith((".csv", ".tsv")) for file in files)


_LINES = (
    rf"\blines?\s+(?P<a>{NUMBER})\s*(?:to|-|–|—|through|till|until|and|\.\.)\s*"
    rf"(?:lines?\s+)?(?P<b>{NUMBER})",
    rf"第?\s*(?P<a>{NUMBER})\s*行?\s*(?:到|至|-|–|—|~)\s*第?\s*(?P<b>{NUMBER})\s*行",
    rf"\bline\s+(?:number\s+)?(?P<a>{NUMBER})",
    rf"(?<!倒数)第\s*(?P<a>{NUMBER})\s*行",
)
_ENDS = (
    rf"\b(?P<end>first|top|head|last|bottom|tail|final)\s+(?P<n>{NUMBER})?\s*(?P<unit>lines?)\b",
    rf"(?P<end>前面?|开头|头|最后|后|末尾|倒数|结尾)\s*的?\s*第?\s*(?P<n>{NUMBER})\s*(?P<unit>行)",
    rf"^(?P<end>head|tail)\s+(?:of\s+|the\s+|-n?\s*(?P<n>\d{{1,6}})\s+)*(?P<unit>)(?={FILE})",
    rf"^(?:read|show|print)(?: me)?(?P<end>)\s+(?P<n>{NUMBER})\s+(?P<unit>lines?)\b",
    rf"\b(?P<end>header)(?P<n>)(?P<unit>)\b(?=.*{FILE})",
    r"(?P<end>表头)(?P<n>)(?P<unit>)",
)


def _show_lines(text: str, question: Question) -> Intent | None:
    file = _file(text, question)
    if end := next((match for pattern in _ENDS if (match := _says(pattern, text))), None):
        is_one = end["unit"] == "line" or end["end"].lower() in {"header", "表头"}
        count = number_of(end["n"]) if end["n"] else 1 if is_one else 10
        if _says("last|bottom|tail|final|后|末|倒|结尾", end["end"]):
            return ShowLines(file, from_end=max(1, count))
        return ShowLines(file, 1, max(1, count))
    found = next((match for pattern in _LINES if (match := _says(pattern, text))), None)
    if found is None:
        return None
    first = number_of(found["a"])
    last = number_of(found["b"]) if "b" in found.groupdict() else first
    return ShowLines(file, max(1, min(first, last)), max(1, first, last))


_MANY = r"\bhow (?:many|big|long|large)\b|\bnumber of\b|\bcount\b|多少|几|统计|^数"
_TABLE = (
    r"\b(?:rows?|columns?|dimensions?|shape)\b"
    r"|行数|列数|几列|多少列|字段|列名|哪些列|什么列|多少条|记录数"
)


def _table_shape(text: str, question: Question) -> Intent | None:
    file = _file(text, question)
    is_table = file is not None and file.lower().endswith((".csv", ".tsv"))
    if file is not None and not is_table and not _says(r"\bcolumns?\b|列|字段", text):
        return None
    size = r"(?:多少|几)\s*行|\bhow (?:big|large|long)\b|多大"
    wants = _says(_TABLE, text) or (is_table and _says(size, text))
    asks = rf"{_MANY}|\b(?:what|which|list|show|shape|size|dimensions?)\b|哪些|什么|列名"
    return TableShape(file) if wants and _says(asks, text) else None


_UNITS: tuple[tuple[str, Unit], ...] = (
    (r"\blines?\b|行|\bhow (?:long|big|large)\b", "lines"),
    (r"\bwords?\b|词|字(?!符)", "words"),
    (r"\b(?:characters?|chars?|letters?)\b|字符", "characters"),
)


def _count_text(text: str, question: Question) -> Intent | None:
    if not _says(rf"{_MANY}|行数|字数|词数", text) or _says(r"\bfiles\b|(?:多少|几)个?文件", text):
        return None
    unit = next((unit for pattern, unit in _UNITS if _says(pattern, text)), None)
    return CountText(_file(text, question), unit) if unit else None


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


def _list_files(text: str, question: Question) -> Intent | None:
    globs = question.named(GLOB, text)
    named = _says(_OF_KIND, text)
    files = named or globs or _says(r"\b(?:files?|folders?|directories)\b|文件夹?|目录", text)
    if not (files and _says(_WHICH, text)) and not _says(_PLACE_CONTENTS, text):
        return None
    if question.named(FILE, text):
        return None
    kind = kind_of(globs[0]) if globs else None
    if named:
        kind = kind_of(named["kind"] or named["noun"])
    place = re.search(_FOLDER, text, re.IGNORECASE | re.ASCII)
    folder = next((name for name in place.groups() if name), None) if place else None
    return ListFiles(kind, folder, only_count=_says(_MANY, text) is not None)


_OBJECT = (
    rf"(?:{FILE}|\b(?:project|repo|repository|package|library|readme|file|document|text|code|module|"
    r"script|notebook|it|this|that|everything|folder|directory)\b)"
)
_INTRODUCE = (
    r"\b(?:summar(?:y|i[sz]e|ies)|introduc(?:e|tion)|overview|outline|gist|tl;?dr|recap)\b"
    r"|\b(?:explain|describe|tell me (?:something |more )?about)\b"
    rf"(?!.*\b(?:how|why|where|who)\b).*{_OBJECT}"
    rf"|\bwhat(?:'s| is| does| do)\b\s*(?:in |about )?(?:this|the|that)?\s*{_OBJECT}"
    r"\s*(?:all about|about|do|say|for|contain)?$"
    r"|总结|概括|概述|介绍|简介|摘要|解释|归纳|讲讲|讲一下|说说|大意|主要内容|^说明"
    rf"|(?:项目|仓库|文件|代码|脚本|{FILE})\s*(?:是|里面?|中)?"
    r"\s*[做干讲说写有是]?[了的]?(?:什么|啥)"
    r"|是(?:个|一个)?什么(?:项目|仓库|文件|东西)|^这是什么$"
    r"|(?:是|用来)?[做干](?:什么|嘛|啥)[的用]?$|关于什么"
)
_COUNT = (
    rf"(?P<n>{NUMBER})[\s-]*(?:(?:short|whole|complete|full|simple|good|key|main)\s+)*"
    r"(?P<unit>sentences?|bullet(?:s| points?)?|points?|个?句子?话?|个?要点|条|点)"
)


def _introduce(text: str, question: Question) -> Intent | None:
    number = _says(_COUNT, text)
    if not (_says(_INTRODUCE, text) or number):
        return None
    wanted = number_of(number["n"]) if number else 3
    as_list = number is not None and _says("bullet|point|要点|条|点", number["unit"]) is not None
    project = _says(r"\b(?:project|repo|repository|package|library)\b|项目|仓库", text)
    count = min(max(1, wanted), MOST_SENTENCES)
    return Introduce(
        _file(text, question), count, as_list, project is not None, _language_wanted(text)
    )


def _language_wanted(text: str) -> Literal["", "en", "zh", "other"]:
    if _says(r"\bin (?:simplified )?chinese\b|用(?:简体)?(?:中文|汉语)", text):
        return "zh"
    if _says(r"\bin english\b|用(?:英文|英语)", text):
        return "en"
    other = (
        r"\bin (?:french|german|spanish|japanese|korean|russian|italian|portuguese)\b"
        r"|用[日法德韩俄]"
    )
    return "other" if _says(other, text) else ""


_READ = (
    r"^(?:read|open|show|display|print|cat|view|see|look at|load|give|return)\b"
    r"|读|打开|显示|查看|看|输出|打印"
)


def _read(text: str, question: Question) -> Intent | None:
    file = _file(text, question)
    if file is not None:
        return Read(file) if _says(_READ, text) or re.fullmatch(FILE, text) else None
    if _says(r"^(?:read|open|show|print) (?:it|the file|that file)(?: again)?$", text):
        return Read()
    word = re.fullmatch(
        r"(?:read|open|show|print|cat)\s+(?:the\s+)?([\w./-]+)(?:\s+(?:file|folder|directory))?",
        text,
        re.IGNORECASE | re.ASCII,
    )
    return Read(word[1]) if word else None


def _decline(text: str, question: Question) -> Intent | None:
    superlative = (
        r"\b(?:largest|biggest|smallest|newest|oldest|latest|longest)\b|最[大小新旧早晚长短]"
    )
    beyond = re.match(_CANNOT, text, re.IGNORECASE) or _says(superlative, text)
    return Decline(question.shown(text)) if beyond else None


_TOPIC = (
    r"\b(?:licen[cs]\w*|maintain\w*|authors?|install\w*|version|usage|requires?|requirements?|depend\w*|"
    r"contribut\w*|wrote|released?|contact|python|project|repo|repository|package|library|readme)\b"
    r"|许可|协议|维护|作者|安装|版本|依赖|贡献|项目|用法|怎么用|如何使用|运行"
)


def _ask(text: str, question: Question) -> Intent:
    file = _file(text, question)
    is_topical = file is not None or _says(_TOPIC, text) is not None
    words = question.shown(re.sub(FILE, " ", text))  # its name need not stand in the file
    return Ask(words, file, is_topical)


def _how(text: str, question: Question) -> Intent | None:
    """Take questions for an explanation out of the way: their verbs ask for nothing here."""
    explains = (
        r"^(?:and )?how (?:do|can|should|could|would|to|does|is|are)\b(?! (?:they|these|those))"
        r"|^(?:and )?(?:who|whom|whose|when|why)\b|^where (?:can|should|do) (?:i|we|you|one)\b"
        r"(?! (?:use|define|call|import|mention|set)\b)"
        r"|^(?:tell|explain|show) (?:me )?(?:how|why|who|when)\b"
        r"|怎么|如何|怎样|为什么|^谁|是谁|什么时候"
    )
    return _ask(text, question) if _says(explains, text) else None


_RULES: tuple[Callable[[str, Question], Intent | None], ...] = (
    _continue,
    _join,
    _show_lines,
    _how,
    _decline,
    search,
    _table_shape,
    _count_text,
    _list_files,
    _introduce,
    _read,
)
