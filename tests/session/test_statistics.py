from pathlib import Path

import pytest

from agent_nb.core.content import ImageContent, TextContent, ToolCall
from agent_nb.core.messages import (
    AssistantMessage,
    Cost,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agent_nb.core.model import Model
from agent_nb.providers.catalog import Catalog
from agent_nb.providers.demo_model import DEMO_MODEL
from agent_nb.session.available import available_models
from agent_nb.session.statistics import context_tokens, estimated_tokens, statistics_of
from agent_nb.session.store import SessionStore

USED = Usage(70, 20, 10, 0, 100, cost=Cost(total=0.25))


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore.in_memory(tmp_path)


def answer(text: str, **fields: object) -> AssistantMessage:
    return AssistantMessage((TextContent(text),), **{"usage": USED, **fields})  # type: ignore[arg-type]


def test_tools_and_summaries_count_too(store: SessionStore) -> None:
    store.append_message(UserMessage("Hi"))
    store.append_message(answer("Hello"))
    store.append_message(ToolResultMessage("1", "t", usage=USED))
    wire = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}
    store.append("compaction", summary="s", usage=wire)
    store.append("branch_summary", summary="s", usage=None)
    numbers = statistics_of(store)
    assert (numbers.usage.input, numbers.usage.output) == (141, 42)
    assert numbers.usage.cost.total == 1.0
    assert (numbers.total_messages, numbers.tool_results, numbers.tool_calls) == (3, 1, 0)


def test_the_context_is_what_was_reported_and_an_estimate_of_the_rest(store: SessionStore) -> None:
    assert context_tokens(store) == 0
    store.append_message(UserMessage("x" * 40))
    assert context_tokens(store) == 10
    store.append_message(answer("Hello"))
    store.append_message(answer("broken", stop_reason="error"))
    store.append_message(UserMessage("x" * 41))
    assert context_tokens(store) == 100 + 2 + 11


def test_after_a_compaction_the_context_is_unknown_until_the_next_answer(
    store: SessionStore,
) -> None:
    store.append_message(UserMessage("Hi"))
    kept = store.append_message(answer("Hello"))
    store.append("compaction", summary="s", firstKeptEntryId=kept.id, tokensBefore=5)
    assert context_tokens(store) is None
    store.append_message(answer("failed", stop_reason="error"))
    assert context_tokens(store) is None
    store.append_message(answer("Again"))
    assert context_tokens(store) == 100


def test_images_and_calls_are_estimated() -> None:
    image = UserMessage((ImageContent("aaaa", "image/png"),))
    assert estimated_tokens(image) == 1_200
    call = AssistantMessage((ToolCall("1", "read", {"path": "a"}),))
    assert estimated_tokens(call) == 4


def test_models_with_a_key_are_available_and_the_demo_stands_in() -> None:
    config = {"providers": {"own": {"api": "a", "baseUrl": "b", "models": [{"id": "m"}]}}}
    other = Model("m", "own", "a")
    none = Catalog({}, {}, [DEMO_MODEL])
    assert available_models(none, other) == [DEMO_MODEL]
    own = Catalog(config, {}, [DEMO_MODEL])
    assert [model.key for model in available_models(own, other)] == ["own/m"]
    assert [model.key for model in available_models(own, DEMO_MODEL)] == ["demo/reader", "own/m"]
    hosted = Catalog(config, {"ANTHROPIC_API_KEY": "k"}, [DEMO_MODEL])
    assert {model.provider for model in available_models(hosted, other)} == {"own", "anthropic"}
