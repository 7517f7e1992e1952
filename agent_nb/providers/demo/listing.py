"""Scripts about many files: list them, find one by name, search in them."""

import re
from dataclasses import replace

from agent_nb.inspect.turns import CallRecord
from agent_nb.providers.demo.answers import code, counted, fenced, listed, refused
from agent_nb.providers.demo.files import known_or_named, list_folder
from agent_nb.providers.demo.intent import FindFile, ListFiles, Search
from agent_nb.providers.demo.results import Matches, Names, found_lines, is_missing, listed_names
from agent_nb.providers.demo.script import Call, CannotAnswerError, Desk, Script, Talk, use
from agent_nb.providers.demo.wording import Kind

MOST_MATCHES = 25
"""Lines shown of a search."""
COUNTED_MATCHES = 100_000
"""The limit of a search whose lines are only counted; its output has a limit of its own."""


def list_files(intent: ListFiles, desk: Desk) -> Script:
    """List or count files of a kind at any depth, or what is in one folder."""
    where = desk.say("here", "这里") if intent.folder is None else code(intent.folder)
    if intent.kind is None:
        text = desk.say("I will list what is there.", "我来列出文件。")
        names = yield from list_folder(desk, intent.folder or ".", text)
        if intent.only_folders:
            names = replace(names, names=names.folders)
        return _folder_answer(desk, intent, names, where)
    names = yield from files_of_kind(desk, intent.kind, intent.folder)
    found, kind = names.files, intent.kind
    number = counted(desk, len(found), f"{kind.name} file", f"个{_chinese(kind)}文件")
    if not found:
        return desk.say(
            f"There are no {kind.name} files {_at(where)}.",
            f"{_before(where)}没有{_chinese(kind)}文件。",
        )
    be = "is" if len(found) == 1 else "are"
    more = desk.say("at least ", "至少 ") if names.is_cut else desk.say("", " ")
    answer = desk.say(
        f"There {be} {more}{number} {_at(where)}: ", f"{_before(where)}有{more}{number}："
    )
    end = desk.say(".", "。") if len(found) <= 4 else ""
    return f"{answer}{listed(desk, found)}{end}{remark(desk, names.notice)}"


def _chinese(kind: Kind) -> str:
    return kind.chinese or f" {kind.name} "


def _at(where: str) -> str:
    return where if where == "here" else f"in {where}"


def remark(desk: Desk, notice: str) -> str:
    """Pass on what the tool says of its own result, for instance that it is cut."""
    return desk.say(f"\n\nThe tool adds: {notice}", f"\n\n工具说明：{notice}") if notice else ""


def _folder_answer(desk: Desk, intent: ListFiles, names: Names, where: str) -> str:
    if intent.only_folders:
        return _folders_answer(desk, intent, names, where)
    files = counted(desk, len(names.files), "file", "个文件")
    folders = counted(desk, len(names.folders), "folder", "个文件夹")
    answer = desk.say(
        f"There are {files} and {folders} {_at(where)}", f"{_before(where)}有 {files}、{folders}"
    )
    if len(names.names) == 1:
        answer = answer.replace("There are", "There is", 1)
    if intent.only_count or not names.names:
        end = (
            desk.say(", not counting what is inside the folders.", "，不含文件夹里面的内容。")
            if names.folders
            else desk.say(".", "。")
        )
        return answer + end + remark(desk, names.notice)
    return answer + desk.say(": ", "：") + listed(desk, names.names) + remark(desk, names.notice)


def _folders_answer(desk: Desk, intent: ListFiles, names: Names, where: str) -> str:
    number = counted(desk, len(names.names), "folder", "个文件夹")
    be = "is" if len(names.names) == 1 else "are"
    answer = desk.say(f"There {be} {number} {_at(where)}", f"{_before(where)}有 {number}")
    if intent.only_count or not names.names:
        return answer + desk.say(".", "。") + remark(desk, names.notice)
    return answer + desk.say(": ", "：") + listed(desk, names.names) + remark(desk, names.notice)


def _before(where: str) -> str:
    """Write a place before Chinese: a name in code is set off by a space."""
    return where if where == "这里" else f"{where} 里"


def files_of_kind(desk: Desk, kind: Kind, folder: str | None = None) -> Talk[Names]:
    """Find the files of a kind at any depth; without `find`, those at the top."""
    place = {} if folder is None else {"path": folder}
    text = desk.say(f"I will look for {kind.name} files.", f"我来找{_chinese(kind)}文件。")
    if "find" not in desk.tools and "ls" in desk.tools:
        names = yield from list_folder(desk, folder or ".", text)
        return Names(tuple(name for name in names.files if kind.takes(name)), names.notice)
    (record,) = yield from use(desk, text, Call("find", {"pattern": kind.pattern, **place}))
    if record.is_error:
        raise CannotAnswerError(refused(desk, record))
    return _without_checkpoints(listed_names(record))


def _without_checkpoints(names: Names) -> Names:
    """Leave out the copies that notebook servers keep of files."""
    kept = (name for name in names.names if ".ipynb_checkpoints/" not in name)
    return Names(tuple(kept), names.notice)


def find_file(intent: FindFile, desk: Desk) -> Script:
    """Say where files of a name are."""
    text = desk.say(f"I will look for {code(intent.name)}.", f"我来找 {code(intent.name)}。")
    # In small letters a pattern matches capitals too.
    pattern = intent.name.lower() + ("" if re.search(r"[.*]", intent.name) else "*")
    (record,) = yield from use(desk, text, Call("find", {"pattern": pattern}))
    if record.is_error:
        return refused(desk, record)
    names = listed_names(record)
    if not names.names:
        return desk.say(
            f"There is no file {code(intent.name)} here.",
            f"这里没有 {code(intent.name)} 这个文件。",
        )
    found = counted(desk, len(names.names), "file", "个文件")
    answer = desk.say(f"I found {found}: ", f"找到 {found}：") + listed(desk, names.names)
    return answer + remark(desk, names.notice)


def search(intent: Search, desk: Desk) -> Script:
    """Search files and answer with counts and lines."""
    if intent.in_known:
        intent = replace(intent, file=known_or_named(desk, intent.file))
    record = yield from _grep(desk, intent.phrase, intent)
    phrase, folder = intent.phrase, intent.folder
    if is_missing(record) and intent.guessed:
        phrase, folder = intent.guessed, None
        record = yield from _grep(desk, phrase, Search(phrase))
    if record.is_error:
        return refused(desk, record)
    found = found_lines(record)
    kept = found if intent.file or intent.glob else found.without_notebooks()
    if kept.is_cut and len(kept.lines) < len(found.lines):  # notebooks took the place of others
        others = replace(intent, phrase=phrase, folder=folder, glob="!*.ipynb", guessed=None)
        record = yield from _grep(desk, phrase, others)
        kept = found_lines(record).without_notebooks() if not record.is_error else kept
    left_out = len(found.lines) - len(found.without_notebooks().lines) if kept != found else 0
    intent = replace(intent, phrase=phrase, folder=folder)
    answer = _search_answer(desk, intent, kept, but_notebooks=left_out > 0)
    again = f"/{phrase}/" if intent.is_regex else f'"{phrase}"'
    return answer + _left_out(desk, again, left_out, is_least=found.is_cut)


def _left_out(desk: Desk, phrase: str, number: int, *, is_least: bool) -> str:
    """Say how many lines of notebooks are not shown, and how to see them."""
    if not number:
        return ""
    lines = counted(desk, number, "line", "行")
    least = desk.say("at least ", "至少 ") if is_least else ""
    return desk.say(
        f"\n\nLeft out: {least}{lines} in notebooks and their checkpoints. To see them: "
        f"`Find {phrase} in the notebooks`.",
        f"\n\n没有列出笔记本及其检查点中的{least or ' '}{lines}。"
        f"要看的话：`在笔记本文件中查找 {phrase}`。",
    )


def _search_answer(desk: Desk, intent: Search, found: Matches, *, but_notebooks: bool) -> str:
    phrase, folder = intent.phrase, intent.folder
    name = shown_phrase(desk, phrase, is_regex=intent.is_regex)
    place = intent.file or folder or intent.glob
    where = "" if place is None else desk.say(f" in {code(place)}", f"在 {code(place)} 中")
    if not found.lines:
        outside = desk.say(" outside notebooks", "笔记本以外") if but_notebooks else ""
        return desk.say(
            f"I looked for {name}{where} (upper and lower case alike) and found nothing{outside}.",
            f"{where}{outside}没有找到 {name}（不分大小写）。",
        ) + remark(desk, found.notice)
    if intent.only_count:
        return _count_answer(desk, intent, found)
    return _matches_answer(desk, phrase, found, is_regex=intent.is_regex)


def _count_answer(desk: Desk, intent: Search, found: Matches) -> str:
    lines = counted(desk, len(found.lines), "line", "行")
    least = desk.say("at least ", "至少 ") if found.is_cut else ""
    phrase = shown_phrase(desk, intent.phrase, is_regex=intent.is_regex)
    if len(found.paths) == 1:
        place = desk.say(f" of {code(found.paths[0])}", f"{code(found.paths[0])} 中")
    else:
        files = counted(desk, len(found.paths), "file", "个文件")
        place = desk.say(f" in {files}", f"{files}中")
    often, why = _times(desk, intent.phrase, found) if not intent.is_regex else "", ""
    if found.is_cut:
        why = desk.say(
            " There are more than the tool can list at once, and I do not know how many.",
            "匹配的行太多，工具一次列不完，总数不知道。",
        )
    elif found.notice:
        why = remark(desk, found.notice)
    return desk.say(
        f"{phrase} is on {least}{lines}{place}{often} (upper and lower case alike).{why}",
        f"{place}有{least or ' '}{lines}包含 {phrase}{often}（不分大小写）。{why}",
    )


def _times(desk: Desk, phrase: str, found: Matches) -> str:
    """Say how often the phrase occurs, if that is more often than there are lines."""
    times = sum(match.text.lower().count(phrase.lower()) for match in found.lines)
    if times <= len(found.lines):
        return ""
    number = counted(desk, times, "time", "次")
    if found.is_cut or "Lines are cut" in found.notice:
        return desk.say(f", at least {number} in all", f"，一共至少 {number}")
    return desk.say(f", {number} in all", f"，一共 {number}")


def shown_phrase(desk: Desk, phrase: str, *, is_regex: bool) -> str:
    """Write what was looked for; of a list of words, each for itself."""
    escaped = phrase.split("|") if is_regex else []
    words = [word.replace("\\", "") for word in escaped]
    if len(words) > 1 and [re.escape(word) for word in words] == escaped:
        return desk.say(" or ", " 或 ").join(map(code, words))
    return code(phrase)


def _grep(desk: Desk, phrase: str, intent: Search) -> Talk[CallRecord]:
    arguments: dict[str, object] = {"pattern": phrase, "ignoreCase": True}
    if not intent.is_regex:
        arguments["literal"] = True
    if intent.file or (intent.folder and phrase != intent.guessed):
        arguments["path"] = intent.file or intent.folder
    if intent.glob:
        arguments["glob"] = intent.glob
    if intent.only_count:
        arguments["limit"] = COUNTED_MATCHES
    text = desk.say(f"I will search for {code(phrase)}.", f"我来搜索 {code(phrase)}。")
    (record,) = yield from use(desk, text, Call("grep", arguments))
    return record


def _matches_answer(desk: Desk, phrase: str, found: Matches, *, is_regex: bool) -> str:
    lines = counted(desk, len(found.lines), "line", "行")
    files = counted(desk, len(found.paths), "file", "个文件")
    least = desk.say("at least ", "至少 ") if found.is_cut else ""
    name = shown_phrase(desk, phrase, is_regex=is_regex)
    often = "" if is_regex else _times(desk, phrase, found)
    heading = desk.say(
        f"{name} is on {least}{lines} in {files}{often}:",
        f"{name} 出现在 {files}的{least or ' '}{lines}{often}：",
    )
    shown = found.lines[:MOST_MATCHES]
    body = fenced("\n".join(f"{m.path}:{m.line}: {m.text}" for m in shown))
    left = len(found.lines) - len(shown)
    more = ""
    if left:
        others = counted(desk, left, "more line", "行")
        more = desk.say(f"\n\n… and {others}.", f"\n\n……还有 {others}。")
    return f"{heading}\n\n{body}{more}{remark(desk, found.notice)}"
