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
- count: `How many rows and columns does data.csv have?`, `How many lines contain "error"?`

I do not calculate, filter or compare values.

For anything else use a real model: set a key such as `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` \
in the environment, or name a model with `--model`.""",
    """我可以：

- 介绍文件：`请读 README.md，用三句话介绍这个项目`
- 根据文件回答：`它用什么许可证？`、`怎么安装？`
- 列出和统计文件：`这里有哪些 CSV 文件，它们怎么关联？`
- 搜索：`在 Python 文件中查找 "TODO"`
- 显示某些行：`显示 setup.py 第 10 到 20 行`
- 计数：`data.csv 有多少行多少列？`、`有多少行包含 "error"？`

我不会计算、筛选或比较数值。

其他问题请用真正的模型：在环境变量中设置密钥（如 `ANTHROPIC_API_KEY` 或 \
`OPENAI_API_KEY`），或用 `--model` 指定模型。""",
)


def about(desk: Desk, *, was_greeted: bool) -> str:
    """Say what this model is, what it can do, and how to use a real one."""
    puzzled = "" if was_greeted else desk.say("I do not understand that. ", "这个我不明白。")
    chinese = desk.language is Language.CHINESE
    return f"{puzzled}{_WHAT_I_AM[chinese]}\n\n{_WHAT_I_CAN[chinese]}"


def declined(desk: Desk, what: str, reason: str = "") -> str:
    """Say that something is beyond a reader, and what can be done instead."""
    name = code(what)
    if reason == "placeholder":
        return desk.say(
            f"Your text is taken literally, so {name} names no file. To put a value there, ask "
            'from Python: `await agent.prompt(f"…")`.',
            f"文字按原样理解，{name} 不是文件名。"
            '要填入变量的值，请在 Python 里问：`await agent.prompt(f"…")`。',
        )
    if reason == "sizes":
        return desk.say(
            f"I cannot do this: {name}. My tools list names, not the sizes or dates of files. In "
            "a cell, `!ls -lS` lists files by size.",
            f"这个我做不到：{name}。我的工具只列出文件名，不显示大小和日期。"
            "在单元格里可以用 `!ls -lS` 按大小列出文件。",
        )
    return desk.say(
        f"I cannot do this: {name}. I am rules that read, list, search and count, not a "
        "language model. Set a key in the environment or name a model with `--model` for it.",
        f"这个我做不到：{name}。我只是会读取、列出、搜索和计数的规则，不是语言模型。"
        "请在环境变量中设置密钥，或用 `--model` 指定模型。",
    )


def no_calculator(desk: Desk, what: str) -> str:
    """Say that values are read but not worked with."""
    return desk.say(
        f"I cannot answer this: {code(what)}. I only read, list, search and count; I do not "
        "calculate, filter or compare values. A real model can: set a key in the environment or "
        "name one with `--model`.",
        f"这个我回答不了：{code(what)}。我只会读取、列出、搜索和计数，不会计算、筛选或比较数值。"
        "请用真正的模型：在环境变量中设置密钥，或用 `--model` 指定模型。",
    )


def encoding_note(desk: Desk, text: str, guess: str = "") -> str:
    """Warn where an answer quotes characters that `read` could not decode.

    Args:
        desk: Decides the language.
        text: The answer.
        guess: What the encoding seems to be.
    """
    if "\ufffd" not in text:
        return ""
    name = guess.strip("?") or "…"
    return desk.say(
        "\n\nThe file is not UTF-8, and I read nothing else: each `\ufffd` stands for something "
        "that is lost here. Save it as UTF-8, or open it in a cell: "
        f'`open(path, encoding="{name}")`.',
        "\n\n这个文件不是 UTF-8 编码，而我只能读 UTF-8：每个 `\ufffd` 都代表读不出的内容。"
        f'请另存为 UTF-8，或在单元格里打开：`open(path, encoding="{name}")`。',
    )


def not_utf8(desk: Desk, path: str, guess: str = "") -> str:
    """Say that a file has NUL bytes, as UTF-16 does, and cannot be read."""
    looks = guess.strip("?")
    maybe = desk.say(f", it looks like {looks}", f"，看起来是 {looks}") if looks else ""
    return desk.say(
        f"{code(path)} is not UTF-8{maybe}: it has NUL bytes, as UTF-16 and files that are no "
        "text have. I can only read UTF-8.",
        f"{code(path)} 不是 UTF-8{maybe}：里面有 NUL 字节（UTF-16 或非文本文件才有）。"
        "我只能读 UTF-8。",
    )


def uncountable(desk: Desk, path: str) -> str:
    """Say that words and characters cannot be told in a file that is not UTF-8."""
    return desk.say(
        f"{code(path)} is not UTF-8, so I can count its lines, but not its words or characters.",
        f"{code(path)} 不是 UTF-8 编码，我能数行数，但数不了词和字符。",
    )


def in_a_row(desk: Desk, names: Sequence[str]) -> str:
    """Write names on one line, however many."""
    shown = [code(name) for name in names[:MOST_LISTED]]
    left = len(names) - len(shown)
    more = desk.say(f" … and {left:,} more", f" ……还有 {left:,} 个") if left else ""
    return desk.say(", ", "、").join(shown) + more
