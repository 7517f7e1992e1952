from pathlib import Path

from agent_nb.core.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CompactionSummaryMessage,
    UserMessage,
)
from agent_nb.session.context import branch_state, context_of, for_model
from agent_nb.session.store import SessionStore


def texts(store: SessionStore) -> list[str]:
    return [getattr(placed.message, "text", "") for placed in context_of(store)]


def test_a_compaction_replaces_what_came_before_the_first_kept_entry(tmp_path: Path) -> None:
    store = SessionStore.in_memory(tmp_path)
    store.append_message(UserMessage.of("old"))
    kept = store.append_message(UserMessage.of("kept"))
    store.append("compaction", summary="sum", firstKeptEntryId=kept.id, tokensBefore=9)
    store.append_message(UserMessage.of("new"))
    placed = context_of(store)
    assert isinstance(placed[0].message, CompactionSummaryMessage)
    assert [m.message.text for m in placed if isinstance(m.message, UserMessage)] == ["kept", "new"]


def test_context_edits_hide_or_replace_for_the_model_only(tmp_path: Path) -> None:
    store = SessionStore.in_memory(tmp_path)
    hidden = store.append_message(UserMessage.of("hidden"))
    replaced = store.append_message(UserMessage.of("before"))
    store.append("context_edit", targetId=hidden.id, replacement=None)
    store.append("context_edit", targetId=replaced.id, replacement={"content": "after"})
    assert texts(store) == ["after"]
    assert [entry.message.text for entry in store.branch() if entry.message] == ["hidden", "before"]


def test_branch_state_is_the_last_word_on_the_branch(tmp_path: Path) -> None:
    store = SessionStore.in_memory(tmp_path)
    assert branch_state(store).model is None
    store.append("model_change", provider="a", modelId="one")
    store.append("thinking_level_change", thinkingLevel="high")
    assert branch_state(store).model == ("a", "one")
    store.append_message(AssistantMessage((), provider="b", model="two"))
    state = branch_state(store)
    assert (state.model, state.thinking_level) == (("b", "two"), "high")


def test_commands_the_user_ran_reach_the_model_unless_excluded() -> None:
    sent = for_model(BashExecutionMessage("ls", "a.txt", exit_code=2))
    assert isinstance(sent, UserMessage)
    assert "a.txt" in sent.text
    assert "exit code 2" in sent.text
    assert for_model(BashExecutionMessage("ls", exclude_from_context=True)) is None
