"""Scripts about CSV files: their size, their columns, and which columns they share."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.providers.demo.answers import code, counted, fenced, listed, refused
from agent_nb.providers.demo.documents import name_of
from agent_nb.providers.demo.files import known_or_named, open_file, read_on
from agent_nb.providers.demo.intent import Join, TableShape
from agent_nb.providers.demo.listing import files_of_kind
from agent_nb.providers.demo.results import read_part
from agent_nb.providers.demo.script import Call, CannotAnswerError, Desk, Script, Talk, use
from agent_nb.providers.demo.wording import Kind

MOST_TABLES = 8
"""Tables compared at once."""
HEAD_LINES = 5
_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class Table:
    """A parsed table: `columns` are the cells of the first row, `row_count` the others."""

    columns: tuple[str, ...]
    row_count: int
    odd_rows: int = 0


def parse_table(text: str, path: str = "") -> Table:
    r"""Parse the text of a table; the delimiter is guessed from its beginning.

    Raises:
        ValueError: If it cannot be parsed.

    >>> parse_table('a;b\n1;"two\nlines"\n')
    Table(columns=('a', 'b'), row_count=1, odd_rows=0)
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    delimiter = "\t" if path.lower().endswith(".tsv") else _delimiter(text)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if not rows:
        return Table((), 0)
    columns = tuple(cell.strip() for cell in rows[0])
    odd = sum(len(row) != len(columns) for row in rows[1:])
    return Table(columns, len(rows) - 1, odd)


def _delimiter(text: str) -> str:
    """Return the delimiter that stands equally often in the first rows, else the commonest."""
    try:
        return csv.Sniffer().sniff(text[:8192], _DELIMITERS).delimiter
    except csv.Error:
        first = text.split("\n", 1)[0]
        return max(_DELIMITERS, key=first.count)


_REPORTED = re.compile(r"(?P<rows>\d[\d,]*) rows?\b.*?(?P<columns>\d[\d,]*) columns?\b", re.DOTALL)
_REPORT_LINES = 30


def table_shape(intent: TableShape, desk: Desk) -> Script:
    """Count the rows and columns of a table, with the tool `data` where there is one."""
    path = known_or_named(desk, intent.file)
    if "data" in desk.tools:
        text = desk.say(f"I will look into {code(path)}.", f"我来查看 {code(path)}。")
        (record,) = yield from use(desk, text, Call("data", {"path": path}))
        if not record.is_error:
            return _reported(desk, path, record.text)
    document = yield from open_file(desk, path)
    document = yield from read_on(desk, document)
    name = code(document.path)
    try:
        table = parse_table(document.text, document.path)
    except ValueError as error:
        return desk.say(
            f"{name} cannot be read as a table: {error}.", f"{name} 不能当作表格读取：{error}。"
        )
    if not table.columns:
        return desk.say(f"{name} is empty.", f"{name} 是空的。")
    rows = counted(desk, table.row_count, "row", "行")
    columns = counted(desk, len(table.columns), "column", "列")
    if document.next_offset is not None:
        rows = desk.say(f"at least {rows}", f"至少 {rows}")
    answer = desk.say(
        f"{name} has {rows} and {columns}. The first line, which I took for the names, is not "
        "counted. Columns: ",
        f"{name} 有 {rows}、{columns}（第一行当作列名，不计在内）。列名：",
    ) + listed(desk, table.columns)
    if table.odd_rows:
        odd = counted(desk, table.odd_rows, "row", "行")
        answer += desk.say(
            f"\n\n{odd} of them with another number of cells.", f"\n\n其中 {odd}的单元格数目不同。"
        )
    return answer


def _reported(desk: Desk, path: str, report: str) -> str:
    """Pass on what `data` says, its counts first."""
    found, name = _REPORTED.search(report), code(path)
    shown = fenced("\n".join(report.split("\n")[:_REPORT_LINES]))
    if found is None:
        return (
            desk.say(f"{name}, as `data` reports it:", f"{name}，`data` 的报告：") + f"\n\n{shown}"
        )
    rows, columns = found["rows"], found["columns"]
    return (
        desk.say(
            f"{name} has {rows} rows and {columns} columns. `data` reports:",
            f"{name} 有 {rows} 行、{columns} 列。`data` 的报告：",
        )
        + f"\n\n{shown}"
    )


def join(intent: Join, desk: Desk) -> Script:
    """Compare the first lines of several tables and name the columns they share."""
    paths = intent.files
    if len(paths) < 2:
        paths = (yield from files_of_kind(desk, Kind("CSV", ("csv",)))).files
    if len(paths) < 2:
        number = counted(desk, len(paths), "CSV file", "个 CSV 文件")
        return desk.say(
            f"Joining takes two tables, and I found {number}.",
            f"连接需要两个表，我只找到 {number}。",
        )
    columns = yield from _heads(desk, paths[:MOST_TABLES])
    lines = [f"- {code(path)}: {', '.join(map(code, names))}" for path, names in columns.items()]
    left = len(paths) - len(columns)
    note = (
        desk.say(f"\n- … and {left} not looked at", f"\n- ……还有 {left} 个没有看") if left else ""
    )
    heading = desk.say("Their columns:", "它们的列：")
    return f"{heading}\n\n" + "\n".join(lines) + f"{note}\n\n{_shared(desk, columns)}"


def _heads(desk: Desk, paths: Sequence[str]) -> Talk[dict[str, tuple[str, ...]]]:
    number = counted(desk, len(paths), "table", "个表")
    text = desk.say(f"I will read the first lines of {number}.", f"我来读 {number}的开头几行。")
    calls = [Call("read", {"path": path, "limit": HEAD_LINES}) for path in paths]
    records = yield from use(desk, text, *calls)
    columns = {}
    for path, record in zip(paths, records, strict=True):
        if record.is_error:
            raise CannotAnswerError(refused(desk, record))
        columns[path] = parse_table("\n".join(read_part(record).lines), path).columns
    return columns


def _shared(desk: Desk, columns: dict[str, tuple[str, ...]]) -> str:
    """Say which names occur in several tables, and which look like references by name."""
    tables = Counter(name.lower() for names in columns.values() for name in set(names))
    answers = []
    for name in [name for name, count in tables.items() if count > 1 and name]:
        where = [path for path, names in columns.items() if name in map(str.lower, names)]
        places = desk.say(", ", "、").join(map(code, where))
        answers.append(
            desk.say(f"- {code(name)} is in {places}.", f"- {code(name)} 在 {places} 中都有。")
        )
    answers += _references(desk, columns)
    if not answers:
        return desk.say(
            "No column has the same name in two of them, so names alone do not say how they join.",
            "没有同名的列，只看列名看不出怎么连接。",
        )
    heading = desk.say("By their names they join on:", "按列名看，可以这样连接：")
    return f"{heading}\n\n" + "\n".join(answers)


def _references(desk: Desk, columns: dict[str, tuple[str, ...]]) -> list[str]:
    """Find columns such as `customer_id` beside a table `customers` with a column `id`."""
    answers = []
    for path, names in columns.items():
        stem = name_of(path).rsplit(".", 1)[0].lower()
        if "id" not in map(str.lower, names):
            continue
        keys = {f"{stem}_id", f"{stem.removesuffix('s')}_id"}
        for other, others in columns.items():
            key = next((name for name in others if name.lower() in keys and other != path), None)
            if key:
                answers.append(
                    desk.say(
                        f"- {code(key)} of {code(other)} looks like `id` of {code(path)}.",
                        f"- {code(other)} 的 {code(key)} 像是 {code(path)} 的 `id`。",
                    )
                )
    return answers
