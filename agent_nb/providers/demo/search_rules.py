"""Requests to find a word in files, or a file by its name."""

import re
from collections.abc import Sequence
from dataclasses import replace

from agent_nb.providers.demo.intent import Calculate, FindFile, Intent, Search
from agent_nb.providers.demo.request import FILE, GLOB, QUOTE, Question, plain, says
from agent_nb.providers.demo.wording import KIND_WORD, kind_of

_FLAGS = re.IGNORECASE | re.ASCII
_ALL = r"(?:the |this |these |all |my |every |any )*"
_INSIDE = r"(?:里面|里边|里|中|下面|下|内)"
_HOLDS_EN = (
    r"(?:contain|mention|include|use|import|have|reference|call|match|define|implement|with)"
    r"(?:s|ing|es)?"
)
_HOLDS_ZH = r"(?:包含|提到|出现|用到|使用|含有|调用|引用|导入)(?:了|过)?"
_ZH_PLACE = (
    rf"在?\s*(?P<scope>{FILE}|{GLOB}|{KIND_WORD}\s*文件|[\w./-]+\s*(?:目录|文件夹)?)\s*{_INSIDE}"
)

# `p` is the phrase, `scope` where to look, `rest` more words to be read like the phrase's end.
_PHRASES = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        r"^(?:which|what|list|find|show|are there|any)?\s*(?:me |all |the |any |of |my )*"
        rf"(?:(?P<scope>{KIND_WORD})\s+)?(?:files?|lines?|notebooks?|scripts?|places?)\s+"
        rf"(?:that |which |here |do |does |all )*{_HOLDS_EN}\s+(?P<p>.+)",
        rf"^(?:how many|count|number of)\s+(?:the |all )*(?:(?P<scope>{KIND_WORD})\s+)?files\s+"
        rf"(?:that |which |here |do |does )*{_HOLDS_EN}\s+(?P<p>.+)",
        r"^(?:count )?how (?:many times|often)\s+(?:does|do|is|are|did)?\s*(?P<p>.+?)\s+"
        r"(?:occurs?|appears?|(?:is |are )?(?:used|mentioned|found|called)|comes? up|shows? up)\b"
        r"(?P<rest>.*)",
        r"^(?:how many|count|number of)\s+(?:the |all )*(?:occurrences?|mentions?|matches|uses?)\s+"
        r"(?:are there )?of\s+(?P<p>.+)",
        rf"^grep\s+(?P<p>.+?)\s+(?P<scope>{FILE}|{GLOB})$",
        rf"^(?:search|grep|look|scan)\b\s*(?:(?P<scope>(?:in |through )?(?:{FILE}|{GLOB}))"
        r"(?=\s+for\b)"
        rf"|(?:in |through )?{_ALL}(?:files?|folder|directory|project|code)"
        r"|everything|everywhere)?\s*(?:for\b)?\s*(?P<p>.+)",
        r"^(?:find|locate)\s+(?P<p>.+)",
        r"^where\s+(?:is|are|does|do|did)\s+(?:the )?(?P<p>.+?)\s+(?:defined|used|mentioned|set"
        r"|called|declared|imported|occurs?|appears?|referenced|implemented|come up)\b(?P<rest>.*)",
        rf"^where\s+(?:is|are)\s+(?P<p>{QUOTE}|{FILE})$",
        rf"^(?:is|are) there (?:an? |any )?(?P<p>{FILE}|{GLOB})(?: files?)?(?: here)?$",
        r"^where\s+(?:do|does|is|are|did)\s+(?:we|i|you|it|they|the code|this project)\s+"
        r"(?:use|define|call|import|mention|set)\s+(?P<p>.+)",
        rf"(?:哪里|哪儿|哪些地方){_HOLDS_ZH}\s*(?P<p>.+)",
        rf"^(?:does|do)\s+(?P<scope>{FILE})\s+(?:mention|contain|include|say|use)s?\s+(?P<p>.+)",
        rf"^is\s+(?P<p>{QUOTE})\s+(?:mentioned|used|contained)?(?P<rest>.*)",
        rf"^(?:有?哪些|哪个|什么|所有|有没有)\s*(?:(?P<scope>{KIND_WORD})\s*)?"
        rf"(?:文件|地方|行|代码)?{_INSIDE}?\s*(?:都|会)?{_HOLDS_ZH}\s*(?P<p>.+)",
        rf"^(?:{_ZH_PLACE})?\s*(?P<p>.+?)\s*(?:一共|总共)?出现(?:了|过)?\s*(?:多少|几)\s*[次处].*",
        rf"^(?:{_ZH_PLACE})?\s*(?:有?多少|有几)(?:行|个文件|处|次){_HOLDS_ZH}\s*(?P<p>.+)",
        rf"^(?:{_ZH_PLACE})?\s*(?:查找|搜索|搜一下|搜|检索|找出|找到|找一下|找一找|找找|找|grep)"
        r"(?:一下)?(?:所有|全部|出|下)?\s*(?P<p>.+)",
        r"^(?P<p>.+?)\s*(?:是)?在(?:哪里|哪儿|哪些文件|哪个文件|什么地方)[里中]?"
        r"(?:被)?(?:出现|提到|定义|使用|用到|调用)?$",
        rf"^(?P<scope>{FILE})\s*{_INSIDE}?(?:有没有|是否)?(?:提到|包含|含有)(?:了|过)?\s*(?P<p>.+)",
    )
)
_FILLERS = re.compile(
    r"^(?:(?:all|every|any|the|occurrences? of|uses? of|mentions? of|references? to|word|phrase"
    r"|text|string|term|lines? (?:with|containing|that contain)|where|for|me)\s+"
    r"|(?:单词|词语?|关键[字词]|字符串|文本|文字|包含|含有|提到|有|所有|全部)\s*)+",
    re.IGNORECASE,
)
_TRAILERS = re.compile(
    r"(?:\s+(?:here|everywhere|anywhere|please|occurs?|appears?|(?:are|is) there"
    r"|comments?|markers?|tags?)|\s*(?:这个|一)(?:词|单词|字|短语)"
    r"|\s*(?:出现)?的(?:地方|位置|行|文件|内容)|\s*出现|\s*在哪里?|\s*一词|\s*[,.;:!?。])+$",
    re.IGNORECASE,
)
_EN_PLACE = re.compile(
    r"\s*\b(?:in|inside|within|under|across|from|of|among|through)\s+"
    rf"(?:(?:here|this|it|them|{_ALL}(?:files?|folder|directory|project|repo(?:sitory)?|code))"
    rf"|{_ALL}(?P<scope>{FILE}|{GLOB}|{KIND_WORD}(?:\s+files?)?"
    r"|[\w.-]+(?:/[\w./-]*)?(?:\s+(?:folder|directory|dir))?))\s*$",
    _FLAGS,
)
_IT = re.compile(r"\b(?:it|(?:this|that|the) file)\s*$", re.IGNORECASE)
_ZH_IT = re.compile(rf"^(?:在)?(?:这个?文件|它|其)(?:{_INSIDE})|^里面")
_ZH_BEFORE = re.compile(rf"{_ZH_PLACE}\s*", _FLAGS)
_ZH_BEHIND = re.compile(rf"\s*在\s*(?P<scope>{FILE}|{GLOB}|[\w./-]+)\s*{_INSIDE}?\s*$", _FLAGS)
_REGEX = re.compile(r"^(?:regexp?|pattern|正则(?:表达式)?)?\s*/(?P<r>.+)/$", re.IGNORECASE)


_NOT_A_WORD = "empty|blank|different|unique|distinct|duplicated?|total|more|other|new|long|short"
_COUNT_ZH = r"(?:[统統][计計]|数)(?:一下|一数)?"
_LINES_HOLD = (
    r"(?:that |which |do |does |are |is )*(?:contain(?:s|ing)?|with|mention(?:s|ing)?"
    r"|includ(?:es?|ing)|hav(?:e|ing)|match(?:es|ing)?)"
)
_COUNT_PHRASES = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        r"^(?:how many|count|number of|count how many)\s+(?:the |all |of the )*"
        r"(?:lines?|rows?|records?)\s+"
        rf"(?:(?:in|of) (?P<scope>{FILE})\s+)?{_LINES_HOLD}\s+(?P<p>(?!no\b|more\b|less\b).+)",
        rf"^(?:how many|count|number of)\s+(?:the |all )*(?P<p>{QUOTE}|(?-i:[A-Z]{{3,}}s?))"
        r"(?:\s+(?:lines?|comments?|entries|messages?))?(?:\s+(?:are|is)(?: there)?)?"
        r"(?P<rest>\b.*|$)",
        rf"^(?:how many|count|number of)\s+(?:the |all )*(?P<p>(?!(?:{_NOT_A_WORD})\b)[A-Za-z]\w+)"
        r"\s+(?:lines|comments|messages)"
        r"\s+(?:are|is)(?: there)?(?P<rest>\b.*|$)",
        rf"^(?:{_ZH_PLACE})?\s*(?:[统統][计計]|数一?数)?(?:一共|总共|共)?(?:有?多少|有几)"
        r"\s*(?:行|条)(?:里|中)?"
        rf"{_HOLDS_ZH}\s*(?P<p>.+)",
        rf"^(?:[统統][计計]|数一?数)\s*(?:{_ZH_PLACE})?\s*(?:所有)?{_HOLDS_ZH}\s*(?P<p>.+?)\s*的?行数?$",
        rf"^(?:{_ZH_PLACE})?\s*{_HOLDS_ZH}\s*(?P<p>.+?)\s*的?行?\s*(?:一共|总共)?有?(?:多少|几)\s*[行条]?$",
        rf"^(?:{_COUNT_ZH}\s*)?(?:{_ZH_PLACE})?\s*(?:一共|总共)?有?(?:多少|几)\s*(?:个|处|条|行)\s*(?P<p>{QUOTE}|(?-i:[A-Z]{{3,}}))$",
    )
)


_ARTICLE = re.compile(r"^an?\s+(?!in\b|of\b)(?=\w)", re.IGNORECASE)
_A_VALUE = (
    r"[<>=]|^(?:no|both|either|neither|only|empty|missing|more|less|above|below|over|under|equal)\b"
)


def count_matching(text: str, question: Question) -> Intent | None:
    """Read a question for the number of lines that contain something."""
    if it := _ZH_IT.match(text):
        return _in_known(count_matching(text[it.end() :].strip(), question))
    for pattern in _COUNT_PHRASES:
        if found := pattern.search(text):
            groups = found.groupdict()
            phrase = _ARTICLE.sub("", groups["p"])
            if says(_A_VALUE, phrase) or kind_of(phrase):
                continue
            words = plain(phrase + (groups.get("rest") or ""))
            wanted = _wanted(words, groups.get("scope") or "", question)
            if not isinstance(wanted, Search):
                return None
            if (
                says(r"\b(?:have|having|with)\b", text)
                and " " in wanted.phrase
                and not says(QUOTE, text)
            ):  # `rows with store B`: a column and its value
                return Calculate(question.shown(text), wanted.file)
            return replace(wanted, only_count=True)
    return None


_HOW_OFTEN = (
    r"\bhow (?:many times|often)\b|\b(?:how many|count|number of)\b.*"
    r"\b(?:occurrences?|mentions?|matches)"
    r"|出现(?:了|过)?\s*(?:多少|几)\s*[次处]"
)


def search(text: str, question: Question) -> Intent | None:
    """Read a request to find a phrase in files, or a file by its name."""
    if it := _ZH_IT.match(text):
        return _in_known(search(text[it.end() :].strip(), question))
    for pattern in _PHRASES:
        found = pattern.search(text)
        if found:
            groups = found.groupdict()
            words = plain(groups["p"] + (groups.get("rest") or ""))
            wanted = _wanted(words, groups.get("scope") or "", question)
            if isinstance(wanted, Search) and says(_HOW_OFTEN, text):
                return replace(wanted, only_count=True)
            return wanted
    return None


def _in_known(wanted: Intent | None) -> Intent | None:
    return replace(wanted, in_known=True) if isinstance(wanted, Search) else wanted


_NOTES = r"(?:notes?|items?|lines?|messages?|entries|statements?)"


def _wanted(words: str, place: str, question: Question) -> Intent | None:
    whole = words = _TRAILERS.sub("", words)
    in_known = False
    for pattern in (_EN_PLACE, _ZH_BEHIND, _ZH_BEFORE):
        found = pattern.match(words) if pattern is _ZH_BEFORE else pattern.search(words)
        if found and found[0] != words:
            words = words[: found.start()] + words[found.end() :]
            place = found["scope"] or place
            in_known = _IT.search(found[0]) is not None
            break
    words = _TRAILERS.sub("", _FILLERS.sub("", words)).strip()
    if named := re.match(r"files?\s+(?:named|called)\s+(.+)", words, re.IGNORECASE):
        return FindFile(question.shown(named[1]).strip())
    quotes = question.named(QUOTE, words)
    if not quotes and re.fullmatch(rf"{FILE}|{GLOB}", words) and not place:
        return FindFile(question.shown(words))
    phrase = quotes[0] if quotes else question.shown(words).strip()
    phrase = re.sub(rf"^([A-Z]{{2,}})(?:s|\s+{_NOTES})$", r"\1", phrase)  # TODOs, FIXME notes
    if not phrase:
        return None
    regex = _REGEX.match(phrase)
    wanted = Search(regex["r"] if regex else phrase, is_regex=regex is not None, in_known=in_known)
    if several := _several(words, quotes):
        wanted = replace(wanted, phrase="|".join(map(re.escape, several)), is_regex=True)
    guessed = None if quotes else question.shown(_FILLERS.sub("", whole)).strip()
    return _placed(wanted, place.strip(), question, guessed=guessed)


_AND = r"\s*(?:,|、)\s*(?:and |or )?|\s+(?:and|or)\s+|\s*(?:和|或者?|与|以及)\s*"


def _several(words: str, quotes: Sequence[str]) -> Sequence[str]:
    """Return the words, if a list of quoted ones or of ones in capitals is to be found."""
    parts = re.split(_AND, words)
    if len(parts) < 2:
        return ()
    if len(quotes) == len(parts) and all(re.fullmatch(QUOTE, part) for part in parts):
        return quotes
    are_capitals = all(re.fullmatch(r"[A-Z]{3,}s?", part) for part in parts)
    if are_capitals:
        return [part.removesuffix("s") for part in parts]
    are_choices = says(r"\bor\b|或", words) and all(re.fullmatch(r"\w+", part) for part in parts)
    return parts if are_choices else ()


def _placed(wanted: Search, place: str, question: Question, *, guessed: str | None) -> Search:
    """Say where to look: in a file, in files of some name, or in a folder."""
    place = re.sub(r"^(?:in|through)\s+|\s*(?:文件夹?|目录)$", "", place)
    bare = re.sub(r"\s+(?:files?|folder|directory|dir)$", "", place, flags=re.IGNORECASE)
    if files := question.named(FILE, place):
        return replace(wanted, file=files[0])
    named = next(iter(question.named(GLOB, place)), bare)
    if kind := kind_of(named):
        return replace(wanted, glob=kind.pattern)
    if named != bare:
        return replace(wanted, glob=named)
    if not bare:
        return wanted
    is_plain_word = bare == place and "/" not in bare
    guessed = guessed if is_plain_word and guessed != wanted.phrase else None
    return replace(wanted, folder=bare, guessed=guessed)
