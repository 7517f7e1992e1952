"""Opening files: by name, by a name that is not exact, and on to their ends."""

import difflib
import re
from collections.abc import Sequence

from agent_nb.inspect.turns import CallRecord
from agent_nb.providers.demo.answers import code, listed, not_utf8, refused
from agent_nb.providers.demo.documents import Document, document_of, name_of
from agent_nb.providers.demo.results import (
    Names,
    is_directory,
    is_image,
    is_missing,
    lines_before_end,
    listed_names,
    read_part,
)
from agent_nb.providers.demo.script import Call, CannotAnswerError, Desk, Talk, use
from agent_nb.providers.demo.wording import Language

MOST_READS = 3
"""Calls of `read` for one file, at most: every one is sent again with each that follows."""


def open_file(
    desk: Desk, named: str | None, *, first: int = 1, limit: int | None = None
) -> Talk[Document]:
    """Read a file, or what stands under nearly that name; without a name, the README.

    Raises:
        CannotAnswerError: If there is none, or it is no text.
    """
    if given := desk.given(named):
        return given
    path = named or ""
    if "." not in name_of(path) and "/" not in path:
        path = yield from _look_up(desk, named)
    record = yield from _read(desk, path, first, limit)
    if is_missing(record):
        path = yield from _nearly(desk, path)
        record = yield from _read(desk, path, first, limit)
    if is_directory(record):
        yield from _refuse_directory(desk, path)
    if (end := lines_before_end(record)) is not None:
        raise CannotAnswerError(
            desk.say(
                f"{code(path)} has no line {first:,}: `read` counts {end:,} lines.",
                f"{code(path)} 没有第 {first:,} 行：`read` 数到 {end:,} 行。",
            )
        )
    if record.is_error:
        raise CannotAnswerError(refused(desk, record))
    if is_image(record):
        raise CannotAnswerError(
            desk.say(
                f"{code(path)} is an image, and I can only read text.",
                f"{code(path)} 是图片，我只能读文本。",
            )
        )
    part = read_part(record)
    if part.too_long:
        raise CannotAnswerError(refused(desk, record))
    if any("\0" in line for line in part.lines):
        raise CannotAnswerError(not_utf8(desk, path, part.encoding))
    return document_of(path, part)


def _read(desk: Desk, path: str, first: int, limit: int | None) -> Talk[CallRecord]:
    arguments: dict[str, object] = {"path": path}
    if first > 1:
        arguments["offset"] = first
    if limit is not None:
        arguments["limit"] = limit
    text = desk.say(f"I will read {code(path)}.", f"我来读 {code(path)}。")
    (record,) = yield from use(desk, text, Call("read", arguments))
    return record


def read_on(desk: Desk, document: Document, *, most: int = MOST_READS - 1) -> Talk[Document]:
    """Read the rest of a file that was cut, with `most` calls at most."""
    while document.next_offset is not None and most > 0:
        most -= 1
        at = document.next_offset
        text = desk.say(
            f"{code(document.path)} goes on; I will read from line {at:,}.",
            f"{code(document.path)} 还没完，我从第 {at:,} 行接着读。",
        )
        call = Call("read", {"path": document.path, "offset": at})
        (record,) = yield from use(desk, text, call)
        part = read_part(record)
        if record.is_error or part.too_long:
            break
        document = document.extended(part)
    return document


def read_end(desk: Desk, document: Document, count: int) -> Talk[Document]:
    """Read the last `count` lines of a file whose beginning is known; those between if need be."""
    if document.next_offset is None or document.total is None:
        return (yield from read_on(desk, document))
    at = max(1, document.total - count)  # one more: an empty one after the final newline counts
    text = desk.say(
        f"{code(document.path)} is long; I will read its end.",
        f"{code(document.path)} 很长，我来读它的末尾。",
    )
    call = Call("read", {"path": document.path, "offset": at})
    (record,) = yield from use(desk, text, call)
    if record.is_error:
        raise CannotAnswerError(refused(desk, record))
    end = document_of(document.path, read_part(record))
    return (yield from read_on(desk, end))


def list_folder(desk: Desk, path: str, text: str) -> Talk[Names]:
    """List a folder.

    Raises:
        CannotAnswerError: If that fails.
    """
    (record,) = yield from use(desk, text, Call("ls", {"path": path}))
    if record.is_error:
        raise CannotAnswerError(refused(desk, record))
    return listed_names(record)


def _look_up(desk: Desk, named: str | None) -> Talk[str]:
    """Find the file meant by a bare word such as `readme`."""
    word = named or "README"
    text = desk.say("I will see which files are here.", "我先看看这里有哪些文件。")
    names = yield from list_folder(desk, ".", text)
    found = _called(names.files, word)
    if found:
        return _preferred(found, desk.language)
    if named and f"{named}/" in names.folders:
        return named
    raise CannotAnswerError(
        desk.say(f"There is no file {code(word)} here.", f"这里没有 {code(word)} 文件。")
        + _offer(desk, names.files)
    )


def _called(names: Sequence[str], word: str) -> list[str]:
    """Return the names that are `word`, whatever their case and ending."""
    word = name_of(word).lower()
    exact = [name for name in names if name_of(name).lower() == word]
    stems = re.compile(rf"{re.escape(word)}(?:[._-][\w-]+)*")
    return exact or [name for name in names if stems.fullmatch(name_of(name).lower())]


def _preferred(names: Sequence[str], language: Language) -> str:
    """Prefer a file in the language of the question, then Markdown, then the shortest name."""

    def rank(name: str) -> tuple[bool, bool, int, str]:
        chinese = re.search(r"[._-](?:zh|cn|chs|chinese)\b", name, re.IGNORECASE) is not None
        wrong = chinese != (language is Language.CHINESE)
        return wrong, not name.lower().endswith(".md"), len(name), name

    return min(names, key=rank)


def _nearly(desk: Desk, path: str) -> Talk[str]:
    """Find the file meant by a path that does not exist."""
    folder, name = path[: -len(name_of(path))].rstrip("/") or ".", name_of(path)
    missing = desk.say(f"There is no file {code(path)} here.", f"这里没有 {code(path)} 这个文件。")
    search = desk.say(f"{missing} I will look for similar names.", f"{missing}我找找相近的名字。")
    if "find" in desk.tools:
        stem = re.sub(r"[^\w.-]", "?", name.rsplit(".", 1)[0]) or "?"
        calls = [Call("find", {"pattern": f"*{stem}*", "limit": 50})]
    else:
        calls = []
    if "ls" in desk.tools:
        calls.append(Call("ls", {"path": "."}))
    if not calls:
        raise CannotAnswerError(missing)
    records = yield from use(desk, search, *calls)
    names = [n for r in records if not r.is_error for n in listed_names(r).files]
    names = list(dict.fromkeys(names))
    asked = desk.asked.lower()  # a name with spaces was taken for its last word
    found = [near for near in names if " " in near and name_of(near).lower() in asked]
    found = found or [near for near in names if name_of(near).lower() == name.lower()]
    found = found or _called(names, name.rsplit(".", 1)[0])
    if len(found) == 1 or (found and folder == "."):
        return _preferred(found, desk.language)
    near = difflib.get_close_matches(name.lower(), [name_of(n).lower() for n in names], n=5)
    similar = found or [n for n in names if name_of(n).lower() in near]
    raise CannotAnswerError(missing + _offer(desk, similar, similar=True))


def _offer(desk: Desk, names: Sequence[str], *, similar: bool = False) -> str:
    if not names:
        return ""
    listing = listed(desk, names)
    if similar:
        return desk.say(f" Similar names: {listing}", f"相近的名字：{listing}")
    return desk.say(f" Files here: {listing}", f"这里的文件：{listing}")


def _refuse_directory(desk: Desk, path: str) -> Talk[None]:
    text = desk.say(
        f"{code(path)} is a folder; I will list it.", f"{code(path)} 是文件夹，我列出它。"
    )
    names = yield from list_folder(desk, path, text)
    raise CannotAnswerError(
        desk.say(f"{code(path)} is a folder. In it: ", f"{code(path)} 是文件夹，里面有：")
        + (listed(desk, names.names) or desk.say("nothing.", "什么也没有。"))
    )


def known_or_named(desk: Desk, named: str | None) -> str:
    """Return the name of the file that is meant: the one named, or the one read last.

    Raises:
        CannotAnswerError: If there is neither.
    """
    if named:
        return named
    known = desk.known(None)
    if known is None:
        raise CannotAnswerError(
            desk.say("Which file do you mean? Please name it.", "请问是哪个文件？请写出文件名。")
        )
    return known.path


def unread(desk: Desk, document: Document) -> str:
    """Say that only a part of a very long file was read."""
    if document.next_offset is None:
        return ""
    return desk.say(
        f" This is only up to line {document.last:,}: the file goes on, and I stop after "
        f"{MOST_READS} calls or at a line too long to be shown.",
        f"这只到第 {document.last:,} 行为止：文件还没完，"
        f"但我最多读 {MOST_READS} 次，遇到过长的行也会停下。",
    )
