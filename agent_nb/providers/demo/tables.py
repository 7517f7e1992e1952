"""Scripts about CSV files: their size, their columns, and which columns they share."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_nb.providers.demo.answers import (
    code,
    counted,
    fenced,
    in_a_row,
    no_calculator,
)
from agent_nb.providers.demo.documents import Document
from agent_nb.providers.demo.files import (
    known_or_named,
    open_file,
    read_end,
    read_on,
    unread,
)
from agent_nb.providers.demo.intent import Calculate, TableShape
from agent_nb.providers.demo.results import found_lines
from agent_nb.providers.demo.script import Call, Desk, Script, Talk, use

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
    if document.next_offset is not None and "grep" in desk.tools:
        rows = yield from _rows_of_long(desk, document)
        if rows is not None:
            columns = parse_table(document.text, document.path).columns
            return _shape_answer(desk, document, rows, columns, is_least=False)
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
    is_cut = document.next_offset is not None
    answer = _shape_answer(desk, document, table.row_count, table.columns, is_least=is_cut)
    if table.odd_rows:
        be = "has" if table.odd_rows == 1 else "have"
        odd = counted(desk, table.odd_rows, "row", "行")
        answer += desk.say(
            f"\n\n{odd} of these {be} another number of cells.",
            f"\n\n其中 {odd}的单元格数目不同。",
        )
    return answer + unread(desk, document)


def _shape_answer(
    desk: Desk, document: Document, row_count: int, names: Sequence[str], *, is_least: bool
) -> str:
    rows = counted(desk, row_count, "row", "行")
    columns = counted(desk, len(names), "column", "列")
    least = desk.say("at least ", "至少 ") if is_least else desk.say("", " ")
    header = desk.once(
        desk.say(
            " The first line, which I took for the names, is not counted.",
            "第一行当作列名，不计在内。",
        )
    )
    name, row = code(document.path), in_a_row(desk, names)
    return desk.say(
        f"{name} has {least}{rows} and {columns}.{header} Columns: {row}",
        f"{name} 有{least}{rows}、{columns}。{header}列名：{row}",
    )


_ROW_BREAKERS = r'"|^\s*$'


def _rows_of_long(desk: Desk, document: Document) -> Talk[int | None]:
    """Count the rows of a long table by its lines; None where a row need not be a line."""
    text = desk.say(
        f"{code(document.path)} is long; I will see whether each of its lines is a row.",
        f"{code(document.path)} 很长，我先看看是不是每行一条记录。",
    )
    call = Call("grep", {"pattern": _ROW_BREAKERS, "path": document.path, "limit": 1})
    (record,) = yield from use(desk, text, call)
    if record.is_error or found_lines(record).lines or document.total is None:
        return None
    end = yield from read_end(desk, document, 1)
    return end.last - 1 if end.next_offset is None else None


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


def _spoken_of(desk: Desk) -> str:
    """Return the table the last answer was about; nothing if it named none or several."""
    answer = desk.said[-1] if desk.said else ""
    named = {known.path for known in desk.documents if code(known.path) in answer}
    return named.pop() if len(named) == 1 else ""


def calculate(intent: Calculate, desk: Desk) -> Script:
    """Refuse to work with values; show which columns the file has, if it is a table."""
    answer = no_calculator(desk, intent.what)
    path = intent.file or _spoken_of(desk)
    if not path.lower().endswith((".csv", ".tsv")) or "read" not in desk.tools:
        return answer
    document = yield from open_file(desk, path, limit=HEAD_LINES)
    try:
        columns = parse_table(document.text, document.path).columns
    except ValueError:
        return answer
    if not columns:
        return answer
    name = code(document.path)
    return answer + desk.say(
        f"\n\n{name} has the columns {in_a_row(desk, columns)}. I can show its lines or find a "
        f"word in it: `Show the first 5 rows of {document.path}`.",
        f"\n\n{name} 的列：{in_a_row(desk, columns)}。"
        f"我可以显示或搜索其中的行：`显示 {document.path} 的前 5 行`。",
    )
