from pathlib import Path

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.core.messages import UserMessage
from agent_nb.session.entries import Entry
from agent_nb.session.entry_views import entries_since, session_name, tree_of
from agent_nb.session.fork import branch_off, fork_point, forkable_prompts
from agent_nb.session.store import SessionStore


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore.create(tmp_path, tmp_path / "sessions")


def test_the_last_name_counts_and_an_empty_one_takes_it_away(store: SessionStore) -> None:
    assert session_name(store) is None
    store.append("session_info", name="One")
    store.append("session_info", name=" Two ")
    assert session_name(store) == "Two"
    store.append("session_info", name="")
    assert session_name(store) is None


def test_a_tree_has_labels_and_orphans_are_roots(store: SessionStore) -> None:
    root = store.append_message(UserMessage("Hi"))
    store.append("label", targetId=root.id, label="start")
    store.copy([Entry("message", "orphan", "missing", "2000-01-01", {}, UserMessage("Lost"))])
    orphan, tree = tree_of(store)
    assert orphan["entry"]["id"] == "orphan"
    assert (tree["label"], len(tree["children"])) == ("start", 1)
    assert tree["labelTimestamp"] == tree["children"][0]["entry"]["timestamp"]


def test_a_label_can_be_taken_away(store: SessionStore) -> None:
    root = store.append_message(UserMessage("Hi"))
    store.append("label", targetId=root.id, label="start")
    store.append("label", targetId=root.id)
    [tree] = tree_of(store)
    assert "label" not in tree


def test_the_entries_after_one_are_those_below_it_in_the_file(store: SessionStore) -> None:
    first, second = (store.append("custom", customType=name) for name in "ab")
    assert entries_since(store) == [first, second]
    assert entries_since(store, first.id) == [second]
    with pytest.raises(ConfigError, match="no entry 'c'"):
        entries_since(store, "c")


def test_a_copied_branch_is_written_at_once_if_it_holds_a_prompt(
    store: SessionStore, tmp_path: Path
) -> None:
    store.append("custom", customType="a")
    prompt = store.append_message(UserMessage("Hi"))
    store.append("custom", customType="b")
    copy = branch_off(store, tmp_path, prompt.id)
    assert copy.path is not None
    stored = SessionStore.open(copy.path, tmp_path)
    assert list(stored.entries()) == list(store.entries())[:2]
    assert stored.header["parentSession"] == str(store.path)
    assert fork_point(copy, prompt.id) == (prompt.parent_id, "Hi")


def test_a_copy_without_a_prompt_has_no_file_and_an_unsaved_session_no_copy(
    store: SessionStore, tmp_path: Path
) -> None:
    first = store.append("custom", customType="a")
    with pytest.raises(ConfigError, match="not been saved"):
        branch_off(store, tmp_path, first.id)
    store.append_message(UserMessage("Hi"))
    copy = branch_off(store, tmp_path, first.id)
    assert not copy.is_saved
    assert forkable_prompts(copy) == []
    assert branch_off(store, tmp_path, None).leaf_id is None


def test_a_session_in_memory_is_copied_in_memory(tmp_path: Path) -> None:
    store = SessionStore.in_memory(tmp_path)
    prompt = store.append_message(UserMessage("Hi"))
    copy = branch_off(store, tmp_path, prompt.id)
    assert (copy.path, list(copy.entries())) == (None, [prompt])
    assert copy.id != store.id
