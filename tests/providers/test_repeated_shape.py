"""Deltas that are recognised by their shape mean what they mean when they are parsed."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.core.abort import AbortSignal
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import ProviderEvent, TextDelta, ToolCallStart
from agent_nb.core.messages import UserMessage
from agent_nb.core.model import Model
from agent_nb.core.provider import Request
from agent_nb.providers.anthropic_messages import AnthropicMessages
from agent_nb.providers.openai_completions import OpenAICompletions
from agent_nb.providers.repeated_shape import RepeatedShape

WIRE = sorted((Path(__file__).parent / "wire").glob("*/*.sse"))
EVENT = b'data: {"delta":{"content":"%b"},"model":"m"}\n\n'


class Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


async def received(
    pieces: Sequence[bytes], *, anthropic: bool = False
) -> tuple[list[ProviderEvent], str]:
    """Return the events and the failure of a stream that comes in these reads."""
    transport = httpx.MockTransport(lambda _request: httpx.Response(200, stream=Pieces(pieces)))
    provider = (AnthropicMessages if anthropic else OpenAICompletions)(transport=transport)
    asked = Request(Model("m", "p", "a", "http://server.test"), "", [UserMessage.of("Hi")])
    events: list[ProviderEvent] = []
    try:
        async for batch in provider.stream(asked, AbortSignal()):
            events += batch
    except ProviderError as error:
        return events, str(error)
    return events, ""


def named(events: Sequence[ProviderEvent]) -> list[ProviderEvent]:
    """Leave out ids that are made up anew each time."""
    return [
        ToolCallStart(event.content_index, "", event.tool_name)
        if isinstance(event, ToolCallStart) and re.fullmatch("call_[0-9a-f]{24}", event.id)
        else event
        for event in events
    ]


@pytest.mark.parametrize("path", WIRE, ids=lambda path: f"{path.parent.name}-{path.stem}")
async def test_one_read_for_each_event_gives_the_same_as_one_for_all(path: Path) -> None:
    stream = path.read_bytes()
    anthropic = path.parent.name == "anthropic"
    whole, failure = await received([stream], anthropic=anthropic)
    reads = re.findall(rb".*?(?:\r?\n\r?\n|\Z)", stream, re.DOTALL)
    events, same_failure = await received([read for read in reads if read], anthropic=anthropic)
    assert named(events) == named(whole)
    assert same_failure == failure


def chat_event(text: str, number: int, *, ascii_only: bool) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    data = {"id": "c", "created": number, "choices": [choice]}
    written = json.dumps(data, ensure_ascii=ascii_only, separators=(",", ":"))
    return f"data: {written}\n\n".encode()


@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=30),
    ascii_only=st.booleans(),
    number=st.sampled_from([[0], [0, 1], range(30)]),
)
@settings(max_examples=100, deadline=None, derandomize=True)
async def test_any_text_comes_through(
    texts: list[str], ascii_only: bool, number: Sequence[int]
) -> None:
    reads = [
        chat_event(text, number[n % len(number)], ascii_only=ascii_only)
        for n, text in enumerate(["Hi", *texts])
    ]
    end = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    events, failure = await received([*reads, end])
    said = "".join(event.delta for event in events if isinstance(event, TextDelta))
    assert (said, failure) == ("Hi" + "".join(texts), "")


def learned(text: bytes = b"abc", *, index: int = 0) -> RepeatedShape:
    shape = RepeatedShape()
    shape.learn([TextDelta(index, text.decode())], EVENT % text)
    return shape


def test_a_shape_is_known_again_with_another_text() -> None:
    assert learned(index=3).delta(EVENT % "é你".encode()) == TextDelta(3, "é你")


@pytest.mark.parametrize(
    "text", [b"", b'"', b"\\n", b'","x":"', b"\n", b"\x00", b"\xff", b"a\n\ndata: b"]
)
def test_what_needs_parsing_is_parsed(text: bytes) -> None:
    assert learned().delta(EVENT % text) is None


def test_an_event_cut_short_is_no_event() -> None:
    assert learned().delta(EVENT.replace(b"%b", b"")[:-10]) is None


def test_a_text_that_stands_twice_is_not_learned() -> None:
    shape = RepeatedShape()
    twice = b'data: {"content":"a","delta":{"content":"a"}}\n\n'
    shape.learn([TextDelta(0, "a")], twice)
    assert shape.delta(twice) is None


def test_another_kind_of_event_makes_the_shape_unknown() -> None:
    shape = learned()
    shape.learn([ToolCallStart(1, "c1", "read")], b"")
    assert shape.delta(EVENT % b"abc") is None


def test_a_cut_read_leaves_the_shape_known() -> None:
    shape = learned()
    shape.learn([], None)
    shape.learn([TextDelta(0, "x")], None)
    assert shape.delta(EVENT % b"abc") == TextDelta(0, "abc")
