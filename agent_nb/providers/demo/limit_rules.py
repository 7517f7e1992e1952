"""Requests that take calculating, or a name the text leaves open: known, so as to be refused."""

from agent_nb.providers.demo.intent import Calculate, Decline, Intent
from agent_nb.providers.demo.request import FILE, QUOTE, Question, says

_SEARCHES = r"^(?:search|grep|look for|where)\b|^(?:在.{1,40})?(?:查找|搜索?|检索)"
_PLACE = r"\$?\{[A-Za-z_][\w.]*\}|(?<![\w$])\$[A-Za-z_]\w*"


def placeholder(text: str, question: Question) -> Intent | None:
    """Read a place such as `{f}` that was to be filled before the text was sent."""
    if says(rf"{_SEARCHES}|^find\b", text):
        return None
    found = says(_PLACE, text)
    return Decline(question.shown(found[0]), "placeholder") if found else None


_SIZES = (
    r"\bfiles?\b.*\b(?:larger|bigger|smaller|newer|older|heavier|modified|changed|created|sizes?"
    r"|[kmg]i?b|bytes)\b"
    rf"|{FILE}.*\b(?:modified|last changed|created)\b"
    r"|\b(?:larger|bigger|smaller|newer|older) files?\b|\b(?:file|folder) sizes?\b"
    r"|文件.*(?:大于|小于|超过|大小|修改时间|创建时间|[KMG]B)|(?:大于|小于|超过).*文件"
)
SUPERLATIVE = r"\b(?:largest|biggest|smallest|newest|oldest|latest|longest)\b|最[大小新旧早晚长短]"
_OF_FILES = r"\b(?:files?|notebooks?|scripts?|folders?)\b|文件|目录"


def sizes(text: str, question: Question) -> Intent | None:
    """Read a question for the sizes or dates of files, which no tool tells."""
    about_files = says(_SIZES, text) or (says(SUPERLATIVE, text) and says(_OF_FILES, text))
    return Decline(question.shown(text), "sizes") if about_files else None


_OPERATIONS = (
    r"\bfiles?\b.*\b(?:different|differ|identical|the same(?! (?:folder|directory)))\b|"
    r"\b(?:sum(?: up)?|averages?|avg|mean|median|standard deviation|variance|percent(?:age)?s?"
    r"|proportion|correlat\w+|histogram|distribution|group(?:ed)? by|aggregate|pivot|calculate"
    r"|compute|subtotals?|totals?(?! (?:number|count|lines?|rows?|words?)\b)|outliers?|sort(?:ed)?"
    r"|duplicates?|duplicated|unique|distinct|(?:how many|number of) different"
    r"|max(?:imum)?|min(?:imum)?|highest|lowest|greatest|fewest|earliest|how much"
    r"|cheapest|most expensive|(?:date|value) ranges?|range of|what dates?"
    r"|(?:missing|null|nan|empty|blank) (?:values?|cells?|entries|data|rows?|fields?)"
    r"|the (?:most|least)$|which \w+ .*\bthe (?:most|least)|top \d+ \w+ by"
    r"|(?:most|least) (?:often|frequent\w*|common\w*)"
    r"|(?:amounts?|totals?|sales|revenue|counts?|numbers?) (?:by|per|for each)"
    r"|(?:per|by|for each|for every) (?:day|week|month|quarter|year|store|city|customer|product"
    r"|category|group|region|country|date))\b"
    r"|[总總][和额額计計]|合[计計]|求和|平均|均值|中位数|最[高低多少大小早晚](?!\s*[\d一二两三四五六七八九十])"
    r"|[统統][计計](?:每|各|不同|.{1,12}(?:分布|次数))|每[个個家天月年](?!文件)|按.{1,8}(?:[统統][计計]|分组|汇总|排序)"
    r"|各(?:个|家|门店|城市|月)|分组|去重|重复|不同的|缺失|空值|为空|占比|百分比|比例|排序|相关性|标准差"
)
_FINDS_A_WORD = r"^(?:find|locate)\b(?!.*\bthe (?!(?:word|term|string|text|phrase)\b))"
_NOT_MEANT = r"[总總][计計](?=有?(?:多少|几))|\b(?:in|a) total\b|\bin total\b|\bat (?:most|least)\b"
_ROWS = r"(?:rows?|records?|entries|observations|customers?|orders?|products?|sales|people|items?)"
_FILTERS = (
    rf"\b{_ROWS}\b.*\b(?:whose|without|after|before|between|since|have no|has no|with no|where"
    r"|more than|less than|above|below|over|under \d|greater|equals?|live in|made|bought|joined)\b"
    rf"|\b{_ROWS} (?:that |which |who )?(?:are |is |come |were )?from\b"
    rf"|\b{_ROWS} with (?:an? |the )?\w+ (?:of|=|>|<|above|below|over)|[<>=]\s*\d"
    r"|\bbetween\b.*\band\b|\b(?:more|less|greater|fewer|higher|lower|larger|smaller) than \d"
    r"|(?:没有|缺少|不含).{1,8}的(?:行|记录|客户|数据)|(?:大于|小于|高于|低于|超过|介于|多于|少于)\s*\d"
    r"|(?:哪些|哪个|什么|多少|几)(?:个|位|名|家)?(?:客户|顾客|门店|城市|产品|商品|订单|记录|用户)"
)
_COUNTS = (
    r"\bhow many (?!(?:files?|folders?|directories|lines?|rows?|columns?|words?|characters?|chars?"
    r"|letters?|times|tables?|records?|entries|occurrences?|matches)\b)\w+"
    r"|(?:多少|几)\s*(?:个|位|名|家|种|本)(?!.*(?:文件|要点|句|[行列字词表笔图]))"
)
_IS_ABOUT_THE_PROJECT = (
    r"\b(?:python|version|licen[cs]e|project|package|library|readme)\b|版本|许可"
)
_IS_TABLE = (".csv", ".tsv", ".xlsx", ".xls", ".parquet", ".jsonl")


def calculation(text: str, question: Question) -> Intent | None:
    """Read a question whose answer must be worked out of values."""
    files = question.named(FILE, text)
    about_table = any(file.lower().endswith(_IS_TABLE) for file in files)
    if says(_SEARCHES, text) or (not about_table and says(_IS_ABOUT_THE_PROJECT, text)):
        return None
    if not about_table and says(_FINDS_A_WORD, text):
        return None
    words = says(_NOT_MEANT, text)
    bare = text if words is None else text.replace(words[0], " ")
    superlative = about_table and says(SUPERLATIVE, bare)
    if (
        superlative
        or says(_OPERATIONS, bare)
        or (says(_FILTERS, bare) and not says(QUOTE, bare) and not says(r"\blines?\b|第.*行", bare))
    ):
        return Calculate(question.shown(text), files[0] if files else None)
    return None


def other_count(text: str, question: Question) -> Intent | None:
    """Read a question for the number of things that none of the counting rules knows."""
    if not says(_COUNTS, text):
        return None
    return Calculate(question.shown(text), question.file(text))
