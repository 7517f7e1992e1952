"""From wording to intent: rules for English and Chinese, tried one after the other."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from agent_nb.providers.demo.intent import (
    About,
    Ask,
    Calculate,
    Continue,
    CountText,
    Decline,
    Intent,
    Introduce,
    Read,
    ShowLines,
    TableShape,
    Wanted,
)
from agent_nb.providers.demo.limit_rules import (
    SUPERLATIVE,
    calculation,
    other_count,
    placeholder,
    sizes,
)
from agent_nb.providers.demo.list_rules import (
    count_text,
    functions,
    join,
    list_files,
    many_tables,
    table_shape,
)
from agent_nb.providers.demo.request import FILE, Question, clauses, says, understand
from agent_nb.providers.demo.search_rules import count_matching, search
from agent_nb.providers.demo.wording import NUMBER, number_of

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
    r"转换|保存|下载|生成|测试|移动|复制|替换|发送|训练)(?!者|人)\s*\S"
    r"|把.{1,40}?(?:翻译|改|删|重命名|移|复制|转换|替换|写入)"
)
_WITH_FILE = (Introduce, Read, ShowLines, CountText, TableShape, Ask, Calculate)


def parse(text: str) -> Wanted:
    """Read a request; whatever it says, at least one intent comes out."""
    question = understand(text)
    if not question.text or re.fullmatch(_GREETING, question.text, re.IGNORECASE):
        return Wanted((About(was_greeted=True),), question.language)
    if open_place := placeholder(question.text, question):
        return Wanted((open_place,), question.language)
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
    if isinstance(intent, Calculate):
        return [intent]
    if isinstance(intent, _WITH_FILE) and intent.file in files:
        return [replace(intent, file=file) for file in files]
    return [intent]


def _continue(text: str, _question: Question) -> Intent | None:
    words = (
        r"continue|go on|keep (?:going|reading)|(?:read|show)(?: me)? more|more|next"
        r"|继续|接着读?|往下|下一页"
    )
    return Continue() if says(rf"^(?:{words})(?: reading|读|看|显示|往下)?$", text) else None


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


_FIRST_ROWS = (
    rf"\b(?P<end>first|top|last|bottom|final)\s+(?P<n>{NUMBER})?\s*"
    r"(?P<one>row|record|entry)?(?(one)|(?:rows|records|entries))\b",
    rf"(?P<end>前面?|开头|头|最后|后|末尾)\s*的?\s*(?P<n>{NUMBER})\s*[条个]",
)
_PREVIEW = (
    rf"^(?:(?:show|print|display|give|see|get)\s+(?:me\s+)?)?(?:the\s+|an?\s+)*(?:head|preview|beginning|start)"
    rf"\b.*{FILE}|^preview\b.*{FILE}|预览|的?(?:开头|前几行|头几行)$"
)


def _show_rows(text: str, question: Question) -> Intent | None:
    """Read a request for the first or last rows, or for how a file begins."""
    file = question.file(text)
    found = next((match for pattern in _FIRST_ROWS if (match := says(pattern, text))), None)
    if found is None:
        return ShowLines(file, 1, 10) if says(_PREVIEW, text) else None
    is_one = found.groupdict().get("one") is not None
    count = max(1, number_of(found["n"])) if found["n"] else 1 if is_one else 5
    if says("last|bottom|final|后|末", found["end"]):
        return ShowLines(file, from_end=count)
    return ShowLines(file, 1, count + 1)  # the first line of a table names its columns


def _show_lines(text: str, question: Question) -> Intent | None:
    if rows := _show_rows(text, question):
        return rows
    file = question.file(text)
    if end := next((match for pattern in _ENDS if (match := says(pattern, text))), None):
        is_one = end["unit"] == "line" or end["end"].lower() in {"header", "表头"}
        count = number_of(end["n"]) if end["n"] else 1 if is_one else 10
        if says("last|bottom|tail|final|后|末|倒|结尾", end["end"]):
            return ShowLines(file, from_end=max(1, count))
        return ShowLines(file, 1, max(1, count))
    found = next((match for pattern in _LINES if (match := says(pattern, text))), None)
    if found is None:
        return None
    first = number_of(found["a"])
    last = number_of(found["b"]) if "b" in found.groupdict() else first
    return ShowLines(file, max(1, min(first, last)), max(1, first, last))


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
    number = says(_COUNT, text)
    if not (says(_INTRODUCE, text) or number):
        return None
    wanted = number_of(number["n"]) if number else 3
    as_list = number is not None and says("bullet|point|要点|条|点", number["unit"]) is not None
    project = says(r"\b(?:project|repo|repository|package|library)\b|项目|仓库", text)
    count = min(max(1, wanted), MOST_SENTENCES)
    return Introduce(
        question.file(text), count, as_list, project is not None, _language_wanted(text)
    )


def _language_wanted(text: str) -> Literal["", "en", "zh", "other"]:
    if says(r"\bin (?:simplified )?chinese\b|用(?:简体)?(?:中文|汉语)", text):
        return "zh"
    if says(r"\bin english\b|用(?:英文|英语)", text):
        return "en"
    other = (
        r"\bin (?:french|german|spanish|japanese|korean|russian|italian|portuguese)\b"
        r"|用[日法德韩俄]"
    )
    return "other" if says(other, text) else ""


_READ = (
    r"^(?:read|open|show|display|print|cat|view|see|look at|load|give|return)\b"
    r"|读|打开|显示|查看|看|输出|打印"
)


def _read(text: str, question: Question) -> Intent | None:
    file = question.file(text)
    if file is not None:
        return Read(file) if says(_READ, text) or re.fullmatch(FILE, text) else None
    if says(r"^(?:read|open|show|print) (?:it|the file|that file)(?: again)?$", text):
        return Read()
    word = re.fullmatch(
        r"(?:read|open|show|print|cat)\s+(?:the\s+)?([\w./-]+)(?:\s+(?:file|folder|directory))?",
        text,
        re.IGNORECASE | re.ASCII,
    )
    return Read(word[1]) if word else None


def _decline(text: str, question: Question) -> Intent | None:
    beyond = re.match(_CANNOT, text, re.IGNORECASE) or says(
        rf"{SUPERLATIVE}|^compare\b|比较|对比", text
    )
    return Decline(question.shown(text)) if beyond else None


_TOPIC = (
    r"\b(?:licen[cs]\w*|maintain\w*|authors?|install\w*|run|use|start|version|usage|requires?|requirements?|depend\w*|"
    r"contribut\w*|wrote|released?|contact|python|project|repo|repository|package|library|readme)\b"
    r"|许可|协议|维护|作者|安装|版本|依赖|贡献|项目|用法|怎么用|如何使用|运行"
)


def _ask(text: str, question: Question) -> Intent:
    file = question.file(text)
    is_topical = file is not None or says(_TOPIC, text) is not None
    words = question.shown(re.sub(FILE, " ", text))  # its name need not stand in the file
    return Ask(words, file, is_topical)


def _how(text: str, question: Question) -> Intent | None:
    """Take questions for an explanation out of the way: their verbs ask for nothing here."""
    explains = (
        r"^(?:and )?how (?:do|can|should|could|would|to|does|is|are)\b(?! (?:they|these|those))"
        r"|^(?:and )?(?:who|whom|whose|when|why)\b|^where (?:can|should|do) (?:i|we|you|one)\b"
        r"(?! (?:use|define|call|import|mention|set)\b)"
        r"|^(?:tell|explain|show) (?:me )?"
        r"(?:how(?! (?:many|big|long|large|often)\b)|why|who|when)\b"
        r"|怎么|如何|怎样|为什么|^谁|是谁|什么时候"
    )
    return _ask(text, question) if says(explains, text) else None


_RULES: tuple[Callable[[str, Question], Intent | None], ...] = (
    _continue,
    join,
    many_tables,
    _show_lines,
    functions,
    count_matching,
    sizes,
    calculation,
    _how,
    _decline,
    search,
    table_shape,
    count_text,
    list_files,
    other_count,
    _introduce,
    _read,
)
