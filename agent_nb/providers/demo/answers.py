"""How answers are put: names, counts, lists and quoted lines as Markdown, and what stands fast."""

import re
from collections.abc import Sequence

from agent_nb.inspect.turns import CallRecord
from agent_nb.providers.demo.documents import Document
from agent_nb.providers.demo.script import Desk
from agent_nb.providers.demo.wording import HAN, Language

MOST_LISTED = 40
MOST_LINES = 400


def code(text: str) -> str:
    """Write a name so that nothing in it is taken for Markdown.

    >>> code("__init__.py"), code("a`b")
    ('`__init__.py`', '`` a`b ``')
    """
    text = re.sub(r"\s+", " ", text) or " "
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def fenced(text: str, language: str = "") -> str:
    """Write lines as they are, in a fence longer than any in them."""
    ticks = max((len(run) for run in re.findall(r"`{3,}", text)), default=2) + 1
    fence = "`" * ticks
    return f"{fence}{language}\n{text}\n{fence}"


def counted(desk: Desk, number: int, english: str, chinese: str) -> str:
    """Write a number with its noun.

    >>> counted(Desk(), 1, "file", "个文件"), counted(Desk(), 2300, "CSV file", "个文件")
    ('1 file', '2,300 CSV files')
    """
    plural = english if number == 1 else f"{english}s"
    return desk.say(f"{number:,} {plural}", f"{number:,} {chinese}")


def listed(desk: Desk, names: Sequence[str]) -> str:
    """Write names in a row if they are few, else as a list; very many are cut, and that is said."""
    shown = [code(name) for name in names[:MOST_LISTED]]
    left = len(names) - len(shown)
    if len(names) <= 4:
        return desk.say(", ", "、").join(shown)
    more = desk.say(f"\n- … and {left:,} more", f"\n- ……还有 {left:,} 个") if left else ""
    return "\n\n" + "\n".join(f"- {name}" for name in shown) + more


def joined(sentences: Sequence[str]) -> str:
    """Write sentences as one paragraph; Chinese ones need no space between them."""
    text = ""
    for sentence in sentences:
        close = re.search(f"[{HAN}。！？”」]$", text) and re.match(f"[{HAN}“「《]", sentence)
        text += sentence if not text or close else f" {sentence}"
    return text


def quoted_lines(desk: Desk, document: Document, first: int, last: int) -> str:
    """Write lines of a file under their numbers, at most `MOST_LINES`."""
    last = min(last, document.last, first + MOST_LINES - 1)
    lines = document.lines[first - document.first : last - document.first + 1]
    name = code(document.path)
    which = f"{first}" if first == last else f"{first}–{last}"
    heading = desk.say(
        f"{'Line' if first == last else 'Lines'} {which} of {name}:", f"{name} 第 {which} 行："
    )
    return f"{heading}\n\n{fenced(chr(10).join(lines), _fence_language(document.path))}"


_SHOWN = re.compile(
    r"^(?:Lines? (?:\d+–)?(?P<en>\d+) of `(?P<of>[^`\n]+)`:"
    r"|`(?P<zh_of>[^`\n]+)` 第 (?:\d+–)?(?P<zh>\d+) 行：)$",
    re.MULTILINE,
)


def last_shown(text: str) -> tuple[str, int] | None:
    """Return the file and the last line that an answer of ours showed.

    >>> last_shown("Lines 3–8 of `a.md`:")
    ('a.md', 8)
    """
    matches = list(_SHOWN.finditer(text))
    if not matches:
        return None
    last = matches[-1]
    return last["of"] or last["zh_of"], int(last["en"] or last["zh"])


_FENCE_LANGUAGES = frozenset(
    {"c", "cpp", "css", "go", "html", "java", "js", "json", "py", "rs", "sh", "sql", "toml", "ts"}
)


def _fence_language(path: str) -> str:
    ending = path.rsplit(".", 1)[-1].lower()
    return ending if ending in _FENCE_LANGUAGES else ""


def refused(desk: Desk, record: CallRecord) -> str:
    """Pass on why a tool did not do what was asked, in its own words."""
    return (
        desk.say(f"The tool {code(record.name)} reported:", f"工具 {code(record.name)} 报告：")
        + f"\n\n{fenced(record.text.strip() or '?')}"
    )


_WHAT_I_AM = (
    "I am `demo/reader`: a set of rules inside this package, not a language model. I need no key "
    "and no network, and I answer only from what the tools find in your files.",
    "我是 `demo/reader`：这个包里的一组规则，不是语言模型。"
    "我不需要密钥，也不联网，只根据工具在你的文件里找到的内容回答。",
)
_WHAT_I_CAN = (
    """I can:

- introduce a file: `Please read README.md and introduce the project in three sentences.`
- answer from it: `And which licence?`, `How do I install it?`
- list and count files: `Which CSV files are here, and how do they join?`
- search: `Find "TODO" in the Python files`
- show lines: `Show lines 10 to 20 of setup.py`
- count: `How many rows and columns does data.csv have?`, `Count the words in notes.md`

For anything else use a real model: set a key such as `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` \
in the environment, or name a model with `--model`.""",
    """我可以：

- 介绍文件：`请读 README.md，用三句话介绍这个项目`
- 根据文件回答：`它用什么许可证？`、`怎么安装？`
- 列出和统计文件：`这里有哪些 CSV 文件，它们怎么关联？`
- 搜索：`在 Python 文件中查找 "TODO"`
- 显示某些行：`显示 setup.py 第 10 到 20 行`
- 计数：`data.csv 有多少行多少列？`、`notes.md 有多少字？`

其他问题请用真正的模型：在环境变量中设置密钥（如 `ANTHROPIC_API_KEY` 或 \
`OPENAI_API_KEY`），或用 `--model` 指定模型。""",
)


def about(desk: Desk, *, was_greeted: bool) -> str:
    """Say what this model is, what it can do, and how to use a real one."""
    puzzled = "" if was_greeted else desk.say("I do not understand that. ", "这个我不明白。")
    chinese = desk.language is Language.CHINESE
    return f"{puzzled}{_WHAT_I_AM[chinese]}\n\n{_WHAT_I_CAN[chinese]}"


def declined(desk: Desk, what: str) -> str:
    """Say that something is beyond a reader."""
    return desk.say(
        f"I cannot do this: {code(what)}. I am rules that read, list, search and count, not a "
        "language model. Set a key in the environment or name a model with `--model` for it.",
        f"这个我做不到：{code(what)}。我只是会读取、列出、搜索和计数的规则，不是语言模型。"
        "请在环境变量中设置密钥，或用 `--model` 指定模型。",
    )
