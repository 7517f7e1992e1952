import json
import os
from pathlib import Path

import pytest

from agent_nb.core.errors import SessionFileError
from agent_nb.core.messages import AssistantMessage, SystemMessage, UserMessage
from agent_nb.session.context import context_of
from agent_nb.session.sessions import session_directory
from agent_nb.session.store import SessionStore


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def test_nothing_is_written_before_a_user_or_assistant_message(tmp_path: Path) -> None:
    store = SessionStore.create(tmp_path, tmp_path / "sessions")
    store.append("model_change", provider="p", modelId="m")
    store.append_message(SystemMessage("prompt"))
    assert store.path is not None
    assert not store.path.exists()
    store.append_message(UserMessage.of("hi"))
    kinds = [line["type"] for line in lines_of(store.path)]
    assert kinds == ["session", "model_change", "message", "message"]


def test_each_entry_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    store = SessionStore.create(tmp_path, tmp_path)
    store.append_message(UserMessage.of("hi"))
    assert store.path is not None
    for number in range(3):
        entry = store.append_message(AssistantMessage((), model=str(number)))
        assert lines_of(store.path)[-1]["id"] == entry.id


def test_a_reopened_session_goes_on_at_its_last_entry(tmp_path: Path) -> None:
    store = SessionStore.create(tmp_path, tmp_path)
    store.append_message(UserMessage.of("hi"))
    last = store.append_message(AssistantMessage((), model="m"))
    store.close()
    assert store.path is not None
    again = SessionStore.open(store.path, tmp_path)
    assert again.leaf_id == last.id
    assert [entry.id for entry in again.branch()] == [entry.id for entry in store.branch()]


def test_unknown_fields_and_kinds_come_back_out_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    raw = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/", "new": 1},
        {"type": "future", "id": "00000001", "parentId": None, "timestamp": "t", "x": {"y": [1]}},
        {
            "type": "message",
            "id": "00000002",
            "parentId": "00000001",
            "timestamp": "t",
            "message": {
                "role": "user",
                "content": [{"type": "text", "text": "hi", "z": 1}, {"type": "video", "u": "v"}],
                "timestamp": 1,
                "mood": "good",
            },
        },
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in raw))
    store = SessionStore.open(path, tmp_path)
    assert store.header == raw[0]
    assert [entry.to_wire() for entry in store.branch()] == raw[1:]


@pytest.mark.parametrize(
    "damage",
    [b'{"type":"message","id":"0000', b"\x00\x00\x00", b"not json", b'{"a":1}', b"[1]"],
)
def test_a_damaged_line_stays_is_skipped_and_is_reported(tmp_path: Path, damage: bytes) -> None:
    store = SessionStore.create(tmp_path, tmp_path)
    first = store.append_message(UserMessage.of("hi"))
    assert store.path is not None
    store.close()
    with store.path.open("ab") as file:
        file.write(damage)
    again = SessionStore.open(store.path, tmp_path)
    assert again.leaf_id == first.id
    assert len(again.reports) == 1
    added = again.append_message(UserMessage.of("more"))
    assert damage + b"\n" in store.path.read_bytes()
    assert lines_of_valid(store.path)[-1]["id"] == added.id


def lines_of_valid(path: Path) -> list[dict[str, object]]:
    valid = []
    for line in path.read_bytes().split(b"\n"):
        try:
            valid.append(json.loads(line))
        except ValueError:
            continue
    return [line for line in valid if isinstance(line, dict)]


def test_a_cycle_and_a_missing_parent_end_the_branch(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    entries = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/"},
        {"type": "custom", "id": "a", "parentId": "b", "timestamp": "t"},
        {"type": "custom", "id": "b", "parentId": "a", "timestamp": "t"},
        {"type": "custom", "id": "c", "parentId": "gone", "timestamp": "t"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in entries))
    store = SessionStore.open(path, tmp_path)
    assert store.branch_ids() == ["c"]
    assert store.branch_ids("b") == ["a", "b"]
    assert any("gone" in report for report in store.reports)


def test_a_failed_write_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    store = SessionStore.create(tmp_path, tmp_path)
    first = store.append_message(UserMessage.of("hi"))
    descriptor = store._file
    assert descriptor is not None
    read_only = os.open(os.devnull, os.O_RDONLY)
    store._file = read_only
    with pytest.raises(SessionFileError, match="Cannot write the session file"):
        store.append_message(UserMessage.of("lost"))
    os.close(read_only)
    store._file = descriptor
    assert store.leaf_id == first.id
    after = store.append_message(UserMessage.of("kept"))
    assert after.parent_id == first.id
    assert store.path is not None
    assert "lost" not in store.path.read_text()
    store.close()


def test_a_file_that_is_no_session_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("hello\n")
    with pytest.raises(SessionFileError, match="no session header"):
        SessionStore.open(path, tmp_path)


def test_version_1_becomes_a_tree_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    old = [
        {"type": "session", "id": "s", "timestamp": "t", "cwd": "/"},
        {"type": "message", "timestamp": "t", "message": {"role": "user", "content": "q"}},
        {
            "type": "message",
            "timestamp": "t",
            "message": {"role": "hookMessage", "customType": "x", "content": "c"},
        },
        {"type": "compaction", "timestamp": "t", "summary": "s", "firstKeptEntryIndex": 2},
    ]
    text = "".join(json.dumps(line) + "\n" for line in old) + "torn"
    path.write_text(text)
    store = SessionStore.open(path, tmp_path)
    entries = list(store.branch())
    assert [entry.type for entry in entries] == ["message", "message", "compaction"]
    assert entries[1].message is not None
    assert entries[1].message.role == "custom"
    assert entries[2].data["firstKeptEntryId"] == entries[1].id
    assert (tmp_path / "old.jsonl.v1.bak").read_text() == text
    assert store.reports == ["Line 5 is damaged and was skipped; it stays in the file."]
    assert SessionStore.open(path, tmp_path).branch_ids() == store.branch_ids()


def damaged(tmp_path: Path, *lines: bytes) -> SessionStore:
    """Open a file that holds a prompt, `lines`, and an answer to the prompt."""
    path = tmp_path / "s.jsonl"
    store = SessionStore.open(path, tmp_path)
    store.append_message(UserMessage.of("hi"))
    store.close()
    with path.open("ab") as file:
        file.write(b"\n".join((*lines, b"")))
    return SessionStore.open(path, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"message","id":"a\xff","parentId":null,"timestamp":"t"}',
        b'{"type":"message","id":"a","parentId":{},"timestamp":"t"}',
        b'{"type":"message","id":["a"],"parentId":null,"timestamp":"t"}',
        b'{"type":5,"id":"a","parentId":null,"timestamp":"t"}',
        b"[" * 100_000,
        b'{"type":"x","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"[1]",
        b"null",
    ],
)
def test_a_bad_line_is_skipped_and_reported(tmp_path: Path, line: bytes) -> None:
    store = damaged(tmp_path, line)
    assert len(list(store.branch())) == 1
    assert "Line 3" in store.reports[0]
    assert len(store.reports) == 1


def test_a_bad_line_with_a_good_head_is_reported_when_it_is_reached(tmp_path: Path) -> None:
    head = b'{"type":"custom","id":"a","parentId":null,"x":'
    store = damaged(tmp_path, head + b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert [entry.type for entry in store.branch()] == ["damaged"]
    assert "damaged" in store.reports[0]


def test_entries_with_odd_fields_put_nothing_odd_into_the_context(tmp_path: Path) -> None:
    store = SessionStore.in_memory(tmp_path)
    prompt = store.append_message(UserMessage.of("hi"))
    store.append("compaction", summary="s", firstKeptEntryId=prompt.id, tokensBefore="x")
    store.append("custom_message", customType="x", content=[1])
    store.append("custom_message", customType="x", content=5)
    store.append("branch_summary", summary="b", fromId=[])
    store.append("context_edit", targetId=prompt.id, replacement=5)
    store.append("context_edit", targetId=prompt.id, replacement={"content": [None]})
    kinds = [type(placed.message).__name__ for placed in context_of(store)]
    assert kinds == ["CompactionSummaryMessage", "UserMessage", "BranchSummaryMessage"]


def test_a_first_write_that_did_not_fit_leaves_nothing_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SessionStore.create(tmp_path, tmp_path)
    store.append("model_change", provider="p", modelId="m")
    write = os.write

    written: list[int] = []

    def fill_up(file: int, data: memoryview) -> int:
        if len(written) % 2:
            written.append(0)
            raise OSError(28, "No space left on device")
        written.append(write(file, data[:50]))
        return written[-1]

    with monkeypatch.context() as full:
        full.setattr(os, "write", fill_up)
        with pytest.raises(SessionFileError, match="No space left"):
            store.append_message(UserMessage.of("first"))
    assert store.path is not None
    assert not store.path.exists()
    store.append_message(UserMessage.of("second"))
    size = store.path.stat().st_size
    with monkeypatch.context() as full:
        full.setattr(os, "write", fill_up)
        with pytest.raises(SessionFileError):
            store.append_message(UserMessage.of("third " * 100))
    assert (store.path.stat().st_size, written) == (size, [50, 0, 50, 0])
    store.append_message(AssistantMessage((), model="m"))
    kinds = [line["type"] for line in lines_of(store.path)]
    assert kinds == ["session", "model_change", "message", "message"]


@pytest.mark.parametrize("is_open", [True, False])
def test_a_file_that_was_deleted_is_written_anew(tmp_path: Path, is_open: bool) -> None:
    store = SessionStore.create(tmp_path, tmp_path / "sessions")
    store.append_message(UserMessage.of("one"))
    store.append_message(AssistantMessage((), model="m"))
    assert store.path is not None
    if not is_open:
        store.close()
        store = SessionStore.open(store.path, tmp_path)
    before = store.path.read_bytes()
    store.path.unlink()
    store.append_message(UserMessage.of("two"))
    assert store.path.read_bytes().startswith(before)
    assert len(lines_of(store.path)) == 4
    store.append_message(UserMessage.of("three"))
    assert len(lines_of(store.path)) == 5
    assert len(store.reports) == 1
    assert "deleted" in store.reports[0]


def test_a_deep_directory_has_a_name_that_fits_and_is_its_own() -> None:
    deep = Path("/", *["文档资料夹"] * 30)
    names = {
        session_directory(path, Path("/a")).name for path in (deep, Path("/other", *deep.parts[1:]))
    }
    assert len(names) == 2
    assert all(len(name.encode()) < 220 for name in names)
    assert all(name.endswith("文档资料夹--") for name in names)
