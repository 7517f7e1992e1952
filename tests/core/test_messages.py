import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.core import json_text
from agent_nb.core.content import ImageContent, TextContent, ToolCall, UnknownContent
from agent_nb.core.messages import (
    AssistantMessage,
    ToolResultMessage,
    UnknownMessage,
    Usage,
    UserMessage,
    message_from_wire,
    message_to_wire,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
unknown_fields = st.dictionaries(
    st.text(min_size=1).map(lambda name: f"x-{name}"), json_values, max_size=3
)


@given(extra=unknown_fields, block_extra=unknown_fields, text=st.text())
def test_unknown_fields_survive_a_round_trip(
    extra: dict[str, Any], block_extra: dict[str, Any], text: str
) -> None:
    data = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": text, **block_extra},
            {"type": "hologram", "depth": 3},
            {"type": "toolCall", "id": "1", "name": "read", "arguments": {"path": text}},
        ],
        "api": "a",
        "provider": "p",
        "model": "m",
        "usage": {
            "input": 1,
            "output": 2,
            "cacheRead": 0,
            "cacheWrite": 0,
            "totalTokens": 3,
            "cost": {
                "input": 0,
                "output": 0,
                "cacheRead": 0,
                "cacheWrite": 0,
                "total": 0,
                "totalFromProvider": False,
            },
            "cacheWrite1h": 7,
        },
        "stopReason": "stop",
        "timestamp": 5,
        **extra,
    }
    assert message_to_wire(message_from_wire(data)) == data


def test_a_role_we_do_not_know_comes_back_unchanged() -> None:
    data = {"role": "oracle", "content": None, "x": [1]}
    message = message_from_wire(data)
    assert isinstance(message, UnknownMessage)
    assert message_to_wire(message) == data


def test_a_message_of_a_known_role_and_an_odd_shape_comes_back_unchanged() -> None:
    for data in ({"role": "toolResult"}, {"role": "user"}, {"role": "assistant", "content": [3]}):
        assert message_to_wire(message_from_wire(data)) == data


def test_names_are_pis_on_the_wire() -> None:
    message = ToolResultMessage("c1", "read", (TextContent("x"),), is_error=True, duration_ms=3)
    wire = message_to_wire(message)
    assert wire["toolCallId"] == "c1"
    assert wire["isError"] is True
    assert wire["durationMs"] == 3


def test_a_string_stays_a_string() -> None:
    data = {"role": "user", "content": "plain", "timestamp": 1}
    message = message_from_wire(data)
    assert isinstance(message, UserMessage)
    assert message.text == "plain"
    assert message_to_wire(message) == data


def test_usage_adds_up() -> None:
    both = Usage(1, 2, 3, 4, 10) + Usage(10, 20, 30, 40, 100)
    assert (both.input, both.output, both.cache_read, both.total_tokens) == (11, 22, 33, 110)


def test_an_assistant_message_tells_its_text_and_calls() -> None:
    call = ToolCall("1", "read", {"path": "a"})
    message = AssistantMessage((TextContent("a"), call, TextContent("b")), stop_reason="toolUse")
    assert message.text == "ab"
    assert message.tool_calls == (call,)
    assert repr(message) == "AssistantMessage('ab', calls read, toolUse)"


def test_an_image_keeps_its_data_out_of_its_repr() -> None:
    assert "AAAA" not in repr(ImageContent("AAAA" * 100, "image/png"))


@given(st.text(st.characters(codec=None)))
def test_json_carries_lone_surrogates(text: str) -> None:
    assert json_text.loads(json_text.dumps({"t": text})) == {"t": text}


def test_halves_of_a_pair_that_come_apart_join() -> None:
    halves = json.loads('"\\ud83d"') + json.loads('"\\ude00"')
    assert json_text.join_surrogates(halves) == "😀"
    assert json_text.drop_surrogates("a" + halves + "\udc00b") == "a😀b"


@pytest.mark.parametrize(
    "data",
    [
        {"role": "user", "content": "x", "timestamp": "t"},
        {"role": "user", "content": 5},
        {"role": "user", "content": [1]},
        {"role": "user", "content": [{"type": []}]},
        {"role": "assistant", "content": [], "usage": {"input": "x"}},
        {"role": "assistant", "content": [], "usage": {"cost": 5}},
        {"role": "assistant", "content": [], "usage": {"cost": {"total": []}}},
        {"role": "assistant", "content": [], "model": ["m"]},
        {"role": "assistant", "content": [], "stopReason": 1},
        {"role": "toolResult", "toolCallId": 5, "toolName": "ls", "content": []},
        {"role": "bashExecution", "command": None},
        {"role": "bashExecution", "command": "x", "exitCode": "1"},
        {"role": "system", "content": "x", "sections": {"a": 5}},
        {"role": "system", "content": "x", "toolsAdded": [1]},
        {"role": "branchSummary", "summary": {}},
    ],
)
def test_a_known_field_of_a_wrong_type_makes_the_message_unknown(data: dict[str, object]) -> None:
    message = message_from_wire(data)
    assert isinstance(message, UnknownMessage)
    assert message_to_wire(message) == data


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": 5},
        {"type": "thinking", "thinking": []},
        {"type": "toolCall", "id": 1, "name": "ls", "arguments": {}},
        {"type": "toolCall", "id": "1", "name": "ls", "arguments": "x"},
        {"type": "image", "data": 1, "mimeType": "image/png"},
    ],
)
def test_a_block_with_a_wrong_type_is_kept_and_not_sent(block: dict[str, object]) -> None:
    message = message_from_wire({"role": "assistant", "content": [block]})
    assert isinstance(message, AssistantMessage)
    assert isinstance(message.content[0], UnknownContent)
    assert message.content[0].raw == block
