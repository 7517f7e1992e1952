"""Scripts about several tables: which columns they share, and how large they are together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_nb.providers.demo.answers import code, counted, in_a_row, listed, refused
from agent_nb.providers.demo.documents import Document, document_of, is_garbled, name_of
from agent_nb.providers.demo.intent import Join, ManyTables
from agent_nb.providers.demo.listing import files_of_kind
from agent_nb.providers.demo.results import read_part
from agent_nb.providers.demo.script import Call, CannotAnswerError, Desk, Script, Talk, use
from agent_nb.providers.demo.tables import HEAD_LINES, parse_table
from agent_nb.providers.demo.wording import Kind

MOST_TABLES = 30
"""Tables looked at for one question."""
_KEY_ENDINGS = ("id", "key", "code", "sku", "isbn", "uuid", "email", "number", "编号", "代码", "号")
Columns = Mapping[str, tuple[str, ...]]


def join(intent: Join, desk: Desk) -> Script:
    """Compare the first lines of several tables and name the columns they share."""
    paths = intent.files
    if len(paths) < 2:
        paths = yield from _tables(desk, Kind("CSV", ("csv",)), None)
    if len(paths) < 2:
        number = counted(desk, len(paths), "CSV file", "个 CSV 文件")
        return desk.say(
            f"Joining takes two tables, and I found {number}.",
            f"连接需要两个表，我只找到{number}。",
        )
    heads = yield from _read_all(desk, paths[:MOST_TABLES], HEAD_LINES)
    columns = {path: _columns(document) for path, document in heads.items()}
    answer = desk.say("Their columns:", "它们的列：") + "\n\n" + _grouped(desk, columns)
    left = len(paths) - len(columns)
    if left:
        answer += desk.say(f"\n- … and {left} not looked at", f"\n- ……还有 {left} 个没有看")
    return f"{answer}\n\n{_shared(desk, columns)}"


def _tables(desk: Desk, kind: Kind, folder: str | None) -> Talk[tuple[str, ...]]:
    """Find tables: those at the top first, each level by name."""
    found = (yield from files_of_kind(desk, kind, folder)).files
    there = "" if folder is None else f"{folder.rstrip('/')}/"
    ordered = sorted(found, key=lambda path: (path.count("/"), path))
    return tuple(path if path.startswith(there) else there + path for path in ordered)


def _read_all(desk: Desk, paths: Sequence[str], limit: int | None) -> Talk[dict[str, Document]]:
    """Read many files in one go.

    Raises:
        CannotAnswerError: If one of them cannot be read.
    """
    number = counted(desk, len(paths), "table", "个表")
    text = desk.say(f"I will read {number}.", f"我来读 {number}。")
    if limit is not None:
        text = desk.say(f"I will read the first lines of {number}.", f"我来读 {number}的开头几行。")
    more = {} if limit is None else {"limit": limit}
    records = yield from use(desk, text, *(Call("read", {"path": path, **more}) for path in paths))
    documents = {}
    for path, record in zip(paths, records, strict=True):
        if record.is_error:
            raise CannotAnswerError(refused(desk, record))
        documents[path] = document_of(path, read_part(record))
    return documents


def _columns(document: Document) -> tuple[str, ...]:
    """Return the columns of a table as far as they can be read."""
    if is_garbled(document.text):
        return ()
    try:
        return parse_table(document.text, document.path).columns
    except ValueError:
        return ()


def _grouped(desk: Desk, columns: Columns) -> str:
    """Write each set of columns once, with the files that have it."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path, names in columns.items():
        groups.setdefault(names, []).append(path)
    lines = []
    for names, paths in groups.items():
        files = in_a_row(desk, paths)
        if not names:
            unread = desk.say("no columns I can read", "没有我能读的列名")
            lines.append(f"- {files}: {unread}")
            continue
        same = desk.say(" (all alike)", "（列都相同）") if len(paths) > 1 else ""
        lines.append(f"- {files}{same}: {in_a_row(desk, names)}")
    return "\n".join(lines)


def _is_key(name: str) -> bool:
    """Say whether a column of this name may tell rows apart.

    >>> _is_key("customer_id"), _is_key("revenue"), _is_key("id")
    (True, False, False)
    """
    low = name.lower()
    return low != "id" and low.endswith(_KEY_ENDINGS)


def _shared(desk: Desk, columns: Columns) -> str:
    """Say which names occur in tables that differ, and which of them look like keys."""
    kinds = {tuple(map(str.lower, names)): names for names in columns.values() if names}
    every = sorted({name for names in kinds for name in names if name})
    shared = [name for name in every if sum(name in names for names in kinds) > 1]
    keys = [name for name in shared if _is_key(name)]
    answers = [_where(desk, columns, name) for name in keys] + _references(desk, columns)
    others = [name for name in shared if name not in keys]
    note = ""
    if others:
        lines = "\n".join(_where(desk, columns, name) for name in others)
        note = (
            desk.say(
                "They also share these columns, whose names do not say that they are keys:"
                if answers
                else "They share these columns; none has a name that says that it is a key:",
                "还有这些同名的列，但从名字看不出是键："
                if answers
                else "有这些同名的列，但从名字看不出是键：",
            )
            + f"\n\n{lines}"
        )
    if not answers:
        return note or desk.say(
            "No column has the same name in two tables that differ, so names alone do not say "
            "how they join.",
            "不同的表之间没有同名的列，只看列名看不出怎么连接。",
        )
    heading = desk.say("By their names they join on:", "按列名看，可以这样连接：")
    return f"{heading}\n\n" + "\n".join(answers) + (f"\n\n{note}" if note else "")


def _where(desk: Desk, columns: Columns, name: str) -> str:
    """Say in which tables a column is; of tables that are alike the first stands for all."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for path, names in columns.items():
        if name in map(str.lower, names):
            alike.setdefault(names, []).append(path)
    written = next(n for names in alike for n in names if n.lower() == name)
    places = []
    for first, *others in alike.values():
        more = desk.say(f" (and {len(others)} alike)", f"（和同样的另外 {len(others)} 个）")
        places.append(code(first) + (more if others else ""))
    files = desk.say(", ", "、").join(places)
    return desk.say(f"- {code(written)} is in {files}.", f"- {code(written)} 在 {files} 中都有。")


def _references(desk: Desk, columns: Columns) -> list[str]:
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


@dataclass(frozen=True, slots=True)
class _Size:
    """How many rows a table has, at least."""

    rows: int
    columns: tuple[str, ...]
    is_cut: bool


def many_tables(intent: ManyTables, desk: Desk) -> Script:
    """Say of each table how many rows it has and which columns, and how many rows in all."""
    kind = intent.kind
    if not intent.files and not set(kind.endings) <= {"csv", "tsv"}:
        names = (yield from files_of_kind(desk, kind, intent.folder)).files
        one = desk.say(
            "I introduce one file at a time: please name one.",
            "我一次只介绍一个文件，请写出文件名。",
        )
        return f"{one} {listed(desk, names)}" if names else one
    paths = intent.files or (yield from _tables(desk, kind, intent.folder))
    if not paths:
        return desk.say(f"There are no {kind.name} files.", f"没有 {kind.name} 文件。")
    limit = HEAD_LINES if intent.wants == "columns" else None
    documents = yield from _read_all(desk, paths[:MOST_TABLES], limit)
    left = len(paths) - len(documents)
    note = (
        desk.say(f"\n- … and {left} not looked at", f"\n- ……还有 {left} 个没有看") if left else ""
    )
    if intent.wants == "columns":
        columns = {path: _columns(document) for path, document in documents.items()}
        return _grouped(desk, columns) + note
    sizes = {path: _size(document) for path, document in documents.items()}
    lines = "\n".join(_size_line(desk, path, size) for path, size in sizes.items())
    return f"{lines}{note}\n\n{_in_all(desk, sizes, is_cut=left > 0)}"


def _size(document: Document) -> _Size | None:
    if "\0" in document.text:
        return None
    try:
        table = parse_table(document.text, document.path)
    except ValueError:
        return None
    columns = () if is_garbled(document.text) else table.columns
    return _Size(table.row_count, columns, document.next_offset is not None)


def _size_line(desk: Desk, path: str, size: _Size | None) -> str:
    if size is None:
        return f"- {code(path)}: " + desk.say("cannot be read as a table", "不能当作表格读取")
    rows = counted(desk, size.rows, "row", "行")
    if size.is_cut:
        rows = desk.say(f"at least {rows}, the file goes on", f"至少 {rows}，文件还没完")
    columns = desk.say("; ", "；") + in_a_row(desk, size.columns) if size.columns else ""
    return f"- {code(path)}: {rows}{columns}"


def _in_all(desk: Desk, sizes: Mapping[str, _Size | None], *, is_cut: bool) -> str:
    known = [size for size in sizes.values() if size is not None]
    is_least = is_cut or len(known) < len(sizes) or any(size.is_cut for size in known)
    rows = counted(desk, sum(size.rows for size in known), "row", "行")
    least = desk.say("at least ", "至少 ") if is_least else ""
    files = counted(desk, len(known), "table", "个表")
    return desk.say(
        f"Together {files} have {least}{rows}, not counting the first line of each.",
        f"{files}一共有{least or ' '}{rows}（每个表的第一行不计在内）。",
    )
