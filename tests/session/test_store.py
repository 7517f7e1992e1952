import json
import os
from pathlib import Path

import pytest

from agent_nb.core.errors import SessionFileError
from agent_nb.core.messages import AssistantMessage, SystemMessage, UserMessage
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
