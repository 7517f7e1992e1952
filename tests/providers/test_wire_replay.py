"""What real servers send, byte for byte, and what it means: each file of `wire/` is one kind.

Every file is read whole, byte by byte, cut in two at every byte, and in random pieces.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.core.events import (
    BlockEnd,
    Finish,
    ProviderEvent,
    ResponseInfo,
    Signature,
    TextDelta,
    TextStart,
    ThinkingDelta,
    ThinkingStart,
    ToolCallDelta,
    ToolCallStart,
    UsageReport,
)
from agent_nb.providers.anthropic_decode import AnthropicDecoder
from agent_nb.providers.exchange import Decoder
from agent_nb.providers.openai_decode import ChatDecoder
from agent_nb.providers.responses_decode import ResponsesDecoder
from agent_nb.providers.sse import SseFraming

WIRE = Path(__file__).parent / "wire"
FILES = {f"{path.parent.name}/{path.stem}": path for path in sorted(WIRE.glob("*/*.sse"))}


@dataclass(frozen=True)
class Answer:
    """An answer as a person would tell it.

    Attributes:
        blocks: `("text", text)`, `("text", text, signature)`, `("thinking", text, signature)`,
            `("redacted", signature)` or `("call", id, name, arguments)`.
        stop: The stop reason; None if the answer is not whole.
        counts: Fresh, output, cache read and cache write tokens.
        fails: Part of the failure's text.
        error: Part of the text of a `Finish` that is an error.
    """

    blocks: tuple[tuple[str, ...], ...] = ()
    stop: str | None = None
    counts: tuple[int, int, int, int] | None = None
    reasoning: int | None = None
    id: str | None = None
    model: str | None = None
    fails: str | None = None
    error: str | None = None


HI = (("text", "Hi"),)
READ_A = ("call", "c1", "read", '{"path":"a"}')
TWO_CALLS = (READ_A, ("call", "c2", "ls", '{"path":"b"}'))
UNICODE = (
    ("text", "Hé你😀\u2028\u2029\u0085."),
    ("call", "c1", "write", '{"text":"你😀\u2028"}'),
)
ID = "chatcmpl-1"
COUNTS = (12, 5, 0, 0)


def chat(
    *blocks: tuple[str, ...],
    stop: str | None = None,
    counts: tuple[int, int, int, int] | None = None,
    reasoning: int | None = None,
    id: str | None = ID,  # noqa: A002 - the wire's word for it
    model: str | None = None,
    fails: str | None = None,
    error: str | None = None,
) -> Answer:
    return Answer(blocks, stop, counts, reasoning, id, model, fails, error)


def hmm(signature: str, text: str = "Hmm") -> tuple[str, ...]:
    return ("thinking", text, signature)


NO_END = "ended without finish_reason"
NOTHING = "ended without a single event"
CHAT = {
    "llama_cpp_call": chat(
        ("call", "A0PKKKBhQyQbV4rEGPrA9bFrYzzXcKQd", "read", '{"path":"a.txt"}'),
        stop="toolUse",
        counts=(1, 17, 174, 0),
        id="chatcmpl-x",
    ),
    "llama_cpp_error_in_stream": chat(
        ("text", "Let me"), id="chatcmpl-x", fails="expected peg-native format (server_error, 500)"
    ),
    "llama_cpp_cut_in_call": chat(("call", "b", "read", "{"), stop="length", id="chatcmpl-x"),
    "content_and_call": chat(("text", "```json\n"), ("call", "c1", "read", "{}"), stop="toolUse"),
    "llama_cpp_python_call": chat(
        ("call", "call__0_read_cmpl-1", "read", '{"path": "a.txt"}'),
        stop="toolUse",
        id="chatcmpl-p",
    ),
    "empty_stream": chat(id=None, fails=NOTHING),
    "done_only": chat(id=None, fails=NOTHING),
    "comments_only": chat(id=None, fails=NOTHING),
    # which call a fragment belongs to
    "no_index": chat(*TWO_CALLS, stop="toolUse"),
    "all_index_0": chat(READ_A, ("call", "c2", "read", '{"path":"b"}'), stop="toolUse"),
    "all_index_0_interleaved": chat(*TWO_CALLS, stop="toolUse"),
    "id_repeated": chat(*TWO_CALLS, stop="toolUse"),
    "id_null_after_first": chat(READ_A, ("call", "new_1", "ls", '{"path":"b"}'), stop="toolUse"),
    "no_index_no_ids": chat(
        ("call", "new_1", "read", '{"path":"a"}'),
        ("call", "new_2", "ls", '{"path":"b"}'),
        stop="toolUse",
    ),
    "same_id_for_all": chat(
        ("call", "call", "read", '{"path":"a"}'),
        ("call", "new_1", "ls", '{"path":"b"}'),
        stop="toolUse",
    ),
    "name_repeated": chat(*TWO_CALLS, stop="toolUse"),
    "name_split": chat(READ_A, stop="toolUse"),
    "id_late": chat(READ_A, stop="toolUse"),
    "calls_at_once": chat(*TWO_CALLS, stop="toolUse"),
    "arguments_as_object": chat(READ_A, stop="toolUse"),
    "call_without_arguments": chat(
        ("call", "c1", "ls", ""), ("call", "c2", "ls", ""), stop="toolUse"
    ),
    "interleaved_calls": chat(*TWO_CALLS, stop="toolUse"),
    "blank_text_before_call": chat(("text", "\n\n"), READ_A, stop="toolUse"),
    "null_deltas": chat(*HI, stop="stop"),
    "stop_with_calls": chat(("text", "I read."), READ_A, stop="stop"),
    "tool_calls_without_calls": chat(("text", "Nothing to call."), stop="toolUse"),
    "text_after_call": chat(("text", "First. Then."), READ_A, stop="toolUse"),
    "cut_in_arguments_that_parse": chat(
        ("call", "c1", "bash", '{"command":"rm -r build"}'), fails=NO_END
    ),
    "finish_then_more_data": chat(*HI, stop="stop"),
    # ends and usage
    "no_done": chat(*HI, stop="stop"),
    "no_last_line_end": chat(*HI, stop="stop"),
    "finish_with_content": chat(*HI, stop="stop"),
    "no_finish_reason": chat(*HI, fails=NO_END),
    "no_finish_reason_no_done": chat(*HI, fails=NO_END),
    "finish_reason_unknown": chat(*HI, stop="error", error="network_error"),
    "content_filter": chat(*HI, stop="error", error="content_filter"),
    "length": chat(*HI, stop="length"),
    "usage_in_empty_choices": chat(*HI, stop="stop", counts=COUNTS),
    "usage_in_finish_chunk": chat(*HI, stop="stop", counts=COUNTS),
    "usage_in_empty_delta": chat(*HI, stop="stop", counts=COUNTS),
    "usage_growing": chat(*HI, stop="stop", counts=(12, 3, 0, 0)),
    "usage_in_choice": chat(*HI, stop="stop", counts=COUNTS),
    "usage_details": chat(*HI, stop="stop", counts=(30, 40, 60, 10), reasoning=30),
    "usage_deepseek": chat(*HI, stop="stop", counts=(36, 4, 64, 0)),
    "other_model": chat(*HI, stop="stop", model="m-2026-11-01"),
    "no_id_no_model": chat(*HI, stop="stop", id=None),
    # thinking
    "reasoning_content": chat(hmm("reasoning_content", "Hmm, yes."), *HI, stop="stop"),
    "reasoning": chat(hmm("reasoning", "Hmm, yes."), *HI, stop="stop"),
    "reasoning_text": chat(hmm("reasoning_text", "Hmm, yes."), *HI, stop="stop"),
    "reasoning_in_two_fields": chat(hmm("reasoning_content"), *HI, stop="stop"),
    "reasoning_with_content": chat(hmm("reasoning_content"), *HI, stop="stop"),
    "think_tags": chat(hmm(""), *HI, stop="stop"),
    "think_tags_split": chat(hmm("", "a<b</thin "), ("text", "Hi </think>"), stop="stop"),
    "think_tags_in_one": chat(hmm(""), *HI, stop="stop"),
    "think_tags_then_call": chat(hmm(""), ("call", "c1", "ls", "{}"), stop="toolUse"),
    "think_tag_never_closed": chat(hmm("", "Hmm, </th"), stop="length"),
    "think_tag_empty": chat(*HI, stop="stop"),
    "think_tag_in_the_middle": chat(("text", "Use <think> tags </think>"), stop="stop"),
    "think_tag_begun_only": chat(("text", " <thi"), stop="stop"),
    "reasoning_details": chat(
        hmm('[{"type":"reasoning.text","text":"Hmm","format":"f","index":0,"signature":"sig"}]'),
        *HI,
        stop="stop",
    ),
    "reasoning_encrypted_only": chat(
        hmm('[{"type":"reasoning.encrypted","data":"abc","id":"r1"}]', ""),
        ("call", "c1", "ls", "{}"),
        stop="toolUse",
    ),
    "content_as_blocks": chat(hmm(""), *HI, stop="stop"),
    "refusal": chat(("text", "I will not."), stop="stop"),
    # failures
    "error_string": chat(*HI, fails="overloaded"),
    "error_code_string": chat(id=None, fails="Rate limit reached (requests, rate_limit_exceeded)"),
    "error_beside_choices": chat(*HI, fails="Provider returned error (502)\nupstream: busy"),
    "error_event": chat(id=None, fails="Overloaded (server_busy)"),
    "error_bare": chat(id=None, fails="maximum context length is 4096 tokens"),
    "error_context": chat(id=None, fails="exceeds the available context size"),
    "html": chat(id=None, fails="is the base URL right? Sign in Sign in to the network"),
    "json_answer": chat(
        hmm("reasoning_content"),
        *HI,
        ("call", "c1", "ls", '{"path":"a"}'),
        stop="toolUse",
        counts=COUNTS,
    ),
    "json_error": chat(id=None, fails="The model is overloaded (server_error)"),
    "not_json": chat(*HI, id=None, fails='stream was interrupted by what is not JSON: {"choices"'),
    # framing
    "unicode": chat(*UNICODE, stop="toolUse"),
    "crlf": chat(*UNICODE, stop="toolUse"),
    "no_space": chat(*UNICODE, stop="toolUse"),
    "byte_order_mark": chat(*UNICODE, stop="toolUse"),
    "comments_and_fields": chat(*UNICODE, stop="toolUse"),
    "several_data_lines": chat(*HI, stop="stop", id=None),
    "event_before_data": chat(*HI, stop="stop"),
    "event_after_data": chat(*HI, stop="stop"),
    "unknown_chunks": chat(*HI, stop="stop"),
    "surrogate_halves": chat(("text", "a\ud83d\ude00b\ud800"), stop="stop", id=None),
    "invalid_utf8": chat(("text", "a\ufffd\ufffdb"), stop="stop", id=None),
}


def anthropic(
    *blocks: tuple[str, ...],
    stop: str | None = None,
    counts: tuple[int, int, int, int] | None = (10, 7, 100, 5),
    reasoning: int | None = None,
    id: str | None = "msg_1",  # noqa: A002 - the wire's word for it
    model: str | None = None,
    fails: str | None = None,
    error: str | None = None,
) -> Answer:
    return Answer(blocks, stop, counts, reasoning, id, model, fails, error)


H = (("text", "H"),)
START = (10, 1, 100, 5)
TOOL = ("call", "toolu_1", "read", '{"path":"a"}')
ANTHROPIC = {
    "text": anthropic(*HI, stop="stop"),
    "thinking_text_calls": anthropic(
        hmm("sig="),
        ("redacted", "secret"),
        *HI,
        TOOL,
        ("call", "toolu_2", "read", '{"path":"b"}'),
        stop="toolUse",
        reasoning=3,
    ),
    "text_after_call": anthropic(
        *HI, ("call", "toolu_1", "read", "{}"), ("text", "Then."), stop="toolUse"
    ),
    "llama_cpp_call": anthropic(
        ("call", "k9Xk", "read", '{"path":"a"}'),
        stop="toolUse",
        counts=(1, 7, 183, 0),
        id="chatcmpl-7",
    ),
    "llama_cpp_error_in_stream": anthropic(
        *H, counts=(1, 0, 183, 0), id="chatcmpl-7", fails="does not match (server_error, 500)"
    ),
    "error_event": anthropic(*H, counts=START, fails="Overloaded (overloaded_error)"),
    "error_without_event_name": anthropic(
        counts=None, id=None, fails="Connection closed. (api_error)"
    ),
    "bare_error_without_name": anthropic(counts=None, id=None, fails="no (server_error)"),
    "call_input_at_start": anthropic(TOOL, stop="toolUse"),
    "call_without_arguments": anthropic(("call", "toolu_1", "read", ""), stop="toolUse"),
    "call_without_id": anthropic(("call", "new_1", "read", '{"path":"a"}'), stop="toolUse"),
    "text_at_start": anthropic(*HI, stop="stop"),
    "block_never_stopped": anthropic(*HI, stop="stop"),
    "interleaved_blocks": anthropic(*HI, TOOL, stop="toolUse"),
    "unknown_events": anthropic(*HI, stop="stop"),
    "no_message_stop": anthropic(*HI, fails="ended without message_stop"),
    "no_stop_reason": anthropic(*HI, counts=START, fails="ended without a stop reason"),
    "cut_in_arguments_that_parse": anthropic(
        TOOL, counts=START, fails="ended without message_stop"
    ),
    "empty_stream": anthropic(counts=None, id=None, fails=NOTHING),
    "refusal": anthropic(*HI, stop="error", counts=(10, 2, 100, 5), error="Not this."),
    "refusal_unexplained": anthropic(stop="error", error="refused"),
    "max_tokens": anthropic(*HI, stop="length"),
    "pause_turn": anthropic(*HI, stop="stop"),
    "window_exceeded": anthropic(*HI, stop="error", error="model_context_window_exceeded"),
    "usage_in_delta": anthropic(*HI, stop="stop", counts=COUNTS),
    "usage_missing": anthropic(*HI, stop="stop", counts=None, model="m-other"),
    "data_after_stop": anthropic(*HI, stop="stop"),
    "json_answer": anthropic(hmm("sig="), *HI, TOOL, stop="toolUse", counts=(3, 4, 0, 0)),
    "json_error": anthropic(counts=None, id=None, fails="Overloaded (overloaded_error)"),
    "html": anthropic(counts=None, id=None, fails="is the base URL right? Maintenance"),
    "not_json": anthropic(counts=START, fails="stream was interrupted by what is not JSON"),
    "crlf_and_unicode": anthropic(
        ("text", "Hé你😀\u2028."),
        ("call", "toolu_1", "read", '{"text":"你😀\u2028"}'),
        stop="toolUse",
    ),
    "event_after_data": anthropic(*HI, stop="stop"),
    "no_event_names": anthropic(*HI, stop="stop"),
}


def responses(
    *blocks: tuple[str, ...],
    stop: str | None = None,
    counts: tuple[int, int, int, int] | None = (10, 7, 100, 5),
    reasoning: int | None = 3,
    id: str | None = "resp_1",  # noqa: A002 - the wire's word for it
    model: str | None = None,
    fails: str | None = None,
    error: str | None = None,
) -> Answer:
    return Answer(blocks, stop, counts, reasoning if counts else None, id, model, fails, error)


def broken(*blocks: tuple[str, ...], fails: str, id: str | None = "resp_1") -> Answer:  # noqa: A002
    return responses(*blocks, counts=None, id=id, fails=fails)


def item(kind: str, **fields: Any) -> str:
    return json.dumps({"id": f"{kind}_1", **fields}, separators=(",", ":"))


def summary(*texts: str) -> str:
    parts = [{"type": "summary_text", "text": text} for text in texts]
    return item("rs", type="reasoning", summary=parts, encrypted_content="gAAA=")


MESSAGE = '{"v":1,"id":"msg_1"}'
SAID = (("text", "Hi", MESSAGE),)
FC_A = ("call", "call_1|fc_1", "read", '{"path":"a"}')
FC_B = ("call", "call_2|fc_2", "ls", '{"path":"b"}')
NOT_COMPLETED = "ended without response.completed"
RESPONSES = {
    "text": responses(*SAID, stop="stop"),
    "reasoning_text_calls": responses(
        ("thinking", "Hmm\n\nYes", summary("Hmm", "Yes")),
        ("text", "Hi", '{"v":1,"id":"msg_1","phase":"commentary"}'),
        FC_A,
        FC_B,
        stop="toolUse",
    ),
    "reasoning_without_summary": responses(("thinking", "", summary()), *SAID, stop="stop"),
    "reasoning_text": responses(
        hmm(
            item(
                "rs",
                type="reasoning",
                summary=[],
                content=[{"type": "reasoning_text", "text": "Hmm"}],
            )
        ),
        *SAID,
        stop="stop",
    ),
    "encrypted_at_the_end": responses(
        hmm(item("rs", type="reasoning", summary=[], encrypted_content="late=")),
        *SAID,
        stop="stop",
    ),
    "interleaved_calls": responses(FC_A, FC_B, stop="toolUse"),
    "other_id_in_every_event": responses(FC_A, stop="toolUse"),
    "call_without_arguments": responses(("call", "call_1|fc_1", "read", ""), stop="toolUse"),
    "call_whole_at_once": responses(FC_A, stop="toolUse"),
    "call_given_at_start": responses(FC_A, stop="toolUse"),
    "call_corrected_at_end": responses(FC_A, stop="toolUse"),
    "call_without_ids": responses(("call", "new_1", "read", '{"path":"a"}'), stop="toolUse"),
    "call_not_whole": responses(
        ("call", "call_1|fc_1", "read", "{}"), fails="A tool call was not whole"
    ),
    "cut_in_arguments_that_parse": broken(
        ("call", "call_1|fc_1", "read", "{}"), fails=NOT_COMPLETED
    ),
    "max_output_tokens": responses(*HI, stop="length"),
    "max_output_tokens_in_call": responses(("call", "call_1|fc_1", "read", '{"pa'), stop="length"),
    "content_filter": responses(*SAID, stop="error", error="incomplete: content_filter"),
    "incomplete_unexplained": responses(stop="error", error="gave no reason"),
    "refusal": responses(*SAID, stop="stop"),
    "failed": responses(*SAID, fails="The model had a problem. (server_error)"),
    "failed_unexplained": broken(fails="ended the answer: failed, without a reason"),
    "cancelled": broken(fails="ended the answer: cancelled"),
    "error_event": broken(("text", "H"), fails="Too many requests (rate_limit_exceeded)"),
    "error_nested": broken(id=None, fails="exceeds the context window of this model"),
    "error_bare": broken(id=None, fails="No slot (server_error, 500)"),
    "text_corrected_at_end": responses(*SAID, stop="stop"),
    "llama_cpp_call": responses(("call", "fc_k9", "read", '{"path":"a"}'), stop="toolUse"),
    "unknown_events": responses(*SAID, stop="stop"),
    "no_event_names": responses(*SAID, stop="stop"),
    "no_event_types": responses(*SAID, stop="stop"),
    "data_after_end": responses(*SAID, stop="stop"),
    "no_end": broken(*SAID, fails=NOT_COMPLETED),
    "done_without_end": broken(*SAID, fails=NOT_COMPLETED),
    "empty_stream": broken(id=None, fails=NOTHING),
    "not_json": broken(fails="stream was interrupted by what is not JSON"),
    "html": broken(id=None, fails="is the base URL right? 502 Bad Gateway"),
    "json_answer": responses(hmm(summary("Hmm")), *SAID, FC_A, stop="toolUse"),
    "json_failed": responses(fails="Broken (server_error)"),
    "json_error": broken(id=None, fails="The model is overloaded (server_error)"),
    "usage_missing": responses(*SAID, stop="stop", counts=None, model="m-2026"),
    "crlf_and_unicode": responses(
        ("text", "Hé你😀\u2028.", MESSAGE),
        ("call", "call_1|fc_1", "write", '{"text":"你😀\u2028"}'),
        stop="toolUse",
    ),
}
ANSWERS: Mapping[str, Answer] = {
    **{f"chat/{name}": answer for name, answer in CHAT.items()},
    **{f"anthropic/{name}": answer for name, answer in ANTHROPIC.items()},
    **{f"responses/{name}": answer for name, answer in RESPONSES.items()},
}
DECODERS: Mapping[str, Callable[..., Decoder]] = {
    "chat": ChatDecoder,
    "anthropic": AnthropicDecoder,
    "responses": ResponsesDecoder,
}
all_files = pytest.mark.parametrize("name", FILES)


def decoder_for(name: str) -> Decoder:
    numbers = itertools.count(1)
    return DECODERS[name.partition("/")[0]]("m", new_id=lambda: f"new_{next(numbers)}")


def decode(name: str, pieces: Iterable[bytes]) -> tuple[list[ProviderEvent], str | None]:
    """Return the events and the failure, reading as the exchange does."""
    decoder, framing = decoder_for(name), SseFraming()
    events: list[ProviderEvent] = []
    for piece in (*pieces, b""):
        if decoder.has_ended or decoder.failure is not None:
            break
        if piece:
            events += decoder.feed(framing.feed(piece))
        else:
            events += decoder.finish(framing.finish(), framing.other)
    return events, decoder.failure


class Story:
    """Puts events into an `Answer`, and checks their order on the way."""

    def __init__(self) -> None:
        self.blocks: list[list[str]] = []
        self.open: set[int] = set()
        self.facts: dict[str, Any] = {}

    def take(self, event: ProviderEvent) -> None:
        match event:
            case TextStart(index):
                self.begin(index, "text", "")
            case ThinkingStart(index, redacted=True, signature=signature):
                self.begin(index, "redacted", signature or "")
            case ThinkingStart(index):
                self.begin(index, "thinking", "", "")
            case ToolCallStart(index, call_id, tool_name):
                self.begin(index, "call", call_id, tool_name, "")
            case BlockEnd(index, content):
                self.open.remove(index)
                if content is not None:
                    self.blocks[index][-1 if self.blocks[index][0] == "call" else 1] = content
            case TextDelta() | ThinkingDelta() | ToolCallDelta() | Signature():
                self.add(event)
            case _:
                self.note(event)

    def begin(self, index: int, *block: str) -> None:
        assert index == len(self.blocks), "blocks begin in order"
        self.blocks.append(list(block))
        self.open.add(index)

    def add(self, event: TextDelta | ThinkingDelta | ToolCallDelta | Signature) -> None:
        assert event.content_index in self.open or isinstance(event, Signature)
        block = self.blocks[event.content_index]
        match event:
            case ToolCallDelta(delta=delta):
                block[3] += delta
            case Signature(signature=signature):
                block[2:] = [signature]
            case _:
                block[1] += event.delta

    def note(self, event: ProviderEvent) -> None:
        match event:
            case UsageReport(usage):
                counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
                assert usage.total_tokens == sum(counts)
                self.facts |= {"counts": counts, "reasoning": usage.reasoning}
            case ResponseInfo(response_id, response_model):
                self.facts |= {"id": response_id, "model": response_model}
            case Finish(stop_reason, _, error):
                assert not self.open
                assert "stop" not in self.facts
                self.facts |= {"stop": stop_reason, "error": error}


def told(events: Sequence[ProviderEvent], failure: str | None) -> Answer:
    story = Story()
    for event in events:
        story.take(event)
    if failure is None:
        assert isinstance(events[-1], Finish)
    else:
        assert "stop" not in story.facts
    return Answer(tuple(tuple(block) for block in story.blocks), **story.facts, fails=failure)


def test_every_file_has_its_answer() -> None:
    assert set(FILES) == set(ANSWERS)


@all_files
def test_a_stream_means_what_was_said(name: str) -> None:
    answer, expected = told(*decode(name, [FILES[name].read_bytes()])), ANSWERS[name]
    assert (expected.fails or "") in (answer.fails or "")
    assert (answer.fails is None) == (expected.fails is None)
    assert (expected.error or "") in (answer.error or "")
    assert (answer.error is None) == (expected.error is None)
    assert answer == Answer(
        expected.blocks,
        expected.stop,
        expected.counts,
        expected.reasoning,
        expected.id,
        expected.model,
        answer.fails,
        answer.error,
    )


@all_files
def test_a_stream_may_be_cut_at_every_byte(name: str) -> None:
    data = FILES[name].read_bytes()
    whole = decode(name, [data])
    assert decode(name, [bytes([byte]) for byte in data]) == whole
    for at in range(1, len(data)):
        assert decode(name, [data[:at], data[at:]]) == whole, at


@given(data=st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_stream_may_come_in_any_pieces(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(FILES)))
    stream = FILES[name].read_bytes()
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=12).map(sorted))
    pieces = [stream[a:b] for a, b in itertools.pairwise([0, *cuts, len(stream)]) if a < b]
    assert decode(name, pieces) == decode(name, [stream])


@pytest.mark.parametrize("name", [n for n, answer in ANSWERS.items() if answer.stop is not None])
def test_a_stream_that_breaks_off_is_never_a_shorter_answer(name: str) -> None:
    data = FILES[name].read_bytes()
    whole = told(*decode(name, [data]))
    for at in range(len(data)):
        events, failure = decode(name, [data[:at]])
        if failure is None:  # only what comes after the answer is missing
            cut = told(events, None)
            assert (cut.blocks, cut.stop) == (whole.blocks, whole.stop), at


@pytest.mark.parametrize("size", [100, 5_000_000])
def test_a_long_line_is_one_event(size: int) -> None:
    text = "x" * size
    line = b'data: {"choices":[{"delta":{"content":"%b"},"finish_reason":"stop"}]}\n\n'
    stream = line % text.encode()
    pieces = [stream[at : at + 16_384] for at in range(0, len(stream), 16_384)]
    assert told(*decode("chat/long", pieces)).blocks == (("text", text),)


def test_thousands_of_events_in_one_read_are_one_batch() -> None:
    line = b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
    end = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    assert told(*decode("chat/many", [line * 5000 + end])).blocks == (("text", "x" * 5000),)


UNKNOWN = (
    ("chat/unknown_chunks", 2),
    ("anthropic/unknown_events", 5),
    ("responses/unknown_events", 5),
)


def test_events_of_no_known_kind_are_counted() -> None:
    for name, count in UNKNOWN:
        decoder = decoder_for(name)
        decoder.feed(SseFraming().feed(FILES[name].read_bytes()))
        assert decoder.ignored_count == count


def test_a_server_that_never_gives_a_finish_reason_may_end_without() -> None:
    frames = SseFraming().feed(FILES["chat/cut_in_arguments_that_parse"].read_bytes())
    decoder = ChatDecoder("m", wants_finish_reason=False)
    events = [*decoder.feed(frames), *decoder.finish([], b"")]
    assert events[-1] == Finish("toolUse", "tool_calls")
