"""A server may send anything anywhere: it never makes a decoder raise, nor leaks into events."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.core.events import (
    BlockEnd,
    Finish,
    ProviderEvent,
    Signature,
    ToolCallStart,
    UsageReport,
)
from agent_nb.providers.anthropic_decode import AnthropicDecoder
from agent_nb.providers.exchange import Decoder
from agent_nb.providers.openai_decode import ChatDecoder
from agent_nb.providers.responses_decode import ResponsesDecoder
from agent_nb.providers.sse import payload

WIRE = sorted((Path(__file__).parent / "wire").glob("*/*.sse"))
DECODERS = {"chat": ChatDecoder, "anthropic": AnthropicDecoder, "responses": ResponsesDecoder}
JUNK = st.sampled_from(
    [None, True, 0, -1, 7.5, "", "x", [], {}, [None], ["x"], [[]], [{}], {"x": 1}, {"text": 3},
     {"error": 1}, {"message": "x"}, {"type": "text"}, 10**30]
)  # fmt: skip


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to everything inside a JSON value."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [here, *(place for key, item in inside for place in places(item, (*here, key)))]


def replaced(value: Any, place: tuple[Any, ...], junk: Any) -> Any:
    if not place:
        return junk
    copy = value.copy()
    copy[place[0]] = replaced(value[place[0]], place[1:], junk)
    return copy


def check(event: ProviderEvent) -> None:
    match event:
        case UsageReport(usage):
            assert all(isinstance(n, int) for n in (usage.input, usage.output, usage.total_tokens))
        case Finish(_, raw, error):
            assert isinstance(raw, str)
            assert error is None or isinstance(error, str)
        case ToolCallStart(_, call_id, name):
            assert isinstance(call_id, str)
            assert call_id
            assert isinstance(name, str)
        case Signature(_, signature):
            assert isinstance(signature, str)
        case BlockEnd(_, content):
            assert content is None or isinstance(content, str)
        case _:
            assert isinstance(getattr(event, "delta", ""), str)


@given(data=st.data())
@settings(max_examples=900, deadline=None, derandomize=True)
def test_junk_in_an_event_is_survived(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(WIRE))
    lines = path.read_bytes().split(b"\n")
    frames = [(b"", line[6:]) for line in lines if line.startswith(b"data: {")]
    decoder: Decoder = DECODERS[path.parent.name]("m")
    for number in data.draw(st.lists(st.integers(0, max(len(frames) - 1, 0)), max_size=2)):
        if number < len(frames) and frames[number][1].endswith(b"}"):
            event = payload(frames[number][1])
            place = data.draw(st.sampled_from(places(event)))
            junk = json.dumps(replaced(event, place, data.draw(JUNK)))
            frames[number] = (b"", junk.encode())
    events = [*decoder.feed(frames)]
    if not decoder.has_ended and decoder.failure is None:
        events += decoder.finish([], b"")
    assert decoder.has_ended or decoder.failure is not None
    for event in events:
        check(event)


@given(text=st.binary(max_size=200))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_body_is_survived(text: bytes) -> None:
    for decoder in (ChatDecoder("m"), AnthropicDecoder("m")):
        decoder.finish([(b"", text)], text)
        assert decoder.has_ended or decoder.failure is not None
