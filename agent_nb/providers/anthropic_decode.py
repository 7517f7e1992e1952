"""Answers of the Anthropic Messages API, as events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from agent_nb.core.messages import StopReason, Usage
from agent_nb.providers.failures import error_text, readable
from agent_nb.providers.lenient import items, mapping, text, whole
from agent_nb.providers.replay import encode, new_call_id
from agent_nb.providers.sse import Frame, payload

_STOP_REASONS: Mapping[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "tool_use": "toolUse",
}
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


@dataclass(slots=True)
class _Block:
    """A block being streamed; `given_input` are arguments that came with its start."""

    content_index: int
    kind: str
    given_input: Mapping[str, Any]
    signature: str = ""


class AnthropicDecoder:
    """Translates one answer.

    Args:
        model_id: The model that was asked; a server may say that another one answered.
        new_id: Makes ids for calls without one.
    """

    def __init__(self, model_id: str, *, new_id: Callable[[], str] = new_call_id) -> None:
        self.is_whole = False
        self.has_ended = False
        self.failure: str | None = None
        self.ignored_count = 0
        self._model_id = model_id
        self._new_id = new_id
        self._open: dict[int | None, _Block] = {}
        self._block_count = 0
        self._counts: dict[str, int] = {}
        self._finish: Finish | None = None
        self._event_count = 0

    def feed(self, frames: Sequence[Frame]) -> list[ProviderEvent]:
        """Return the events of some frames."""
        events: list[ProviderEvent] = []
        for name, data in frames:
            if self.has_ended or self.failure is not None:
                break
            try:
                event = payload(data)
            except ValueError:
                shown = data.decode("utf-8", "replace")
                self.failure = f"The stream was interrupted by what is not JSON: {shown}"
                break
            if name == b"error":
                self.failure = error_text(event)
            elif isinstance(event, dict):
                self._event(event, events)
        return events

    def finish(self, frames: Sequence[Frame], other: bytes) -> list[ProviderEvent]:
        """Return the last events; `other` is what the body held besides frames."""
        events = self.feed([frame for frame in frames if _parsed(frame[1]) is not None])
        if not self._event_count and self.failure is None and other.strip():
            self._body(other, events)
        if not self.has_ended and self.failure is None:
            self.failure = (
                "The stream ended without message_stop"
                if self._event_count
                else "The stream ended without a single event"
            )
        return events

    def _body(self, body: bytes, events: list[ProviderEvent]) -> None:
        """Take an answer that came in one piece although a stream was asked for."""
        message = _parsed(body)
        if not isinstance(message, dict):
            page = readable(body.decode("utf-8", "replace"))
            self.failure = f"This is no model server's answer; is the base URL right? {page}"
            return
        if message.get("type") != "message":
            self.failure = error_text(message)
            return
        self._event({"type": "message_start", "message": message}, events)
        for index, block in enumerate(items(message.get("content"))):
            start = {"type": "content_block_start", "index": index, "content_block": block}
            self._event(start, events)
            self._event({"type": "content_block_stop", "index": index}, events)
        self._event({"type": "message_delta", "delta": message}, events)
        self._event({"type": "message_stop"}, events)

    def _event(self, event: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        match event.get("type"):
            case "content_block_delta":
                self._delta(event, events)
            case "content_block_start":
                self._block_start(event, events)
            case "content_block_stop":
                self._block_stop(whole(event.get("index")), events)
            case "message_start":
                self._message_start(mapping(event.get("message")), events)
            case "message_delta":
                self._message_delta(event, events)
            case "message_stop":
                self._message_stop(events)
            case "error":
                self.failure = error_text(event)
            case None if event.get("error") or isinstance(event.get("message"), str):
                self.failure = error_text(event)
            case "ping":
                pass
            case _:
                self.ignored_count += 1
                return
        self._event_count += 1

    def _message_start(self, message: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        response_id, model = text(message.get("id")), text(message.get("model"))
        other_model = model if model != self._model_id else ""
        events.append(ResponseInfo(response_id or None, other_model or None))
        self._count(mapping(message.get("usage")), events)

    def _block_start(self, event: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        start, index = mapping(event.get("content_block")), self._block_count
        block = _Block(index, text(start.get("type")), mapping(start.get("input")))
        match block.kind:
            case "text":
                events.append(TextStart(index))
                self._add(block, "text", start, events)
            case "thinking":
                events.append(ThinkingStart(index))
                self._add(block, "thinking", start, events)
                self._sign(block, text(start.get("signature")), events)
            case "redacted_thinking":
                secret = text(start.get("data"))
                events.append(ThinkingStart(index, redacted=True, signature=secret))
            case "tool_use":
                call_id = text(start.get("id")) or self._new_id()
                events.append(ToolCallStart(index, call_id, text(start.get("name"))))
            case _:
                self.ignored_count += 1
                return
        self._open[whole(event.get("index"))] = block
        self._block_count += 1

    def _delta(self, event: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        block, delta = self._open.get(whole(event.get("index"))), mapping(event.get("delta"))
        match delta.get("type"), block:
            case "text_delta", _Block(kind="text"):
                self._add(block, "text", delta, events)
            case "input_json_delta", _Block(kind="tool_use"):
                if piece := text(delta.get("partial_json")):
                    block.given_input = {}
                events.append(ToolCallDelta(block.content_index, piece))
            case "thinking_delta", _Block(kind="thinking"):
                self._add(block, "thinking", delta, events)
            case "signature_delta", _Block(kind="thinking"):
                self._sign(block, text(delta.get("signature")), events)
            case _:
                self.ignored_count += 1

    def _add(
        self, block: _Block, key: str, source: Mapping[str, Any], events: list[ProviderEvent]
    ) -> None:
        if piece := text(source.get(key)):
            kind = TextDelta if key == "text" else ThinkingDelta
            events.append(kind(block.content_index, piece))

    def _sign(self, block: _Block, piece: str, events: list[ProviderEvent]) -> None:
        if piece:
            block.signature += piece
            events.append(Signature(block.content_index, block.signature))

    def _block_stop(self, index: int | None, events: list[ProviderEvent]) -> None:
        block = self._open.pop(index, None)
        if block is None:
            return
        if block.given_input:  # the arguments came whole, with the start of the block
            arguments = encode(block.given_input).decode()
            events.append(ToolCallDelta(block.content_index, arguments))
        events.append(BlockEnd(block.content_index))

    def _message_delta(self, event: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        delta = mapping(event.get("delta"))
        if reason := text(delta.get("stop_reason")):
            self._finish = _finish(reason, mapping(delta.get("stop_details")))
        self._count(mapping(event.get("usage")), events)

    def _message_stop(self, events: list[ProviderEvent]) -> None:
        for index in list(self._open):
            self._block_stop(index, events)
        if self._finish is None:
            self.failure = "The stream ended without a stop reason"
            return
        events.append(self._finish)
        self.has_ended = True

    def _count(self, usage: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        """Take in counts; what is not repeated stays as it was."""
        if not usage:
            return
        details = mapping(usage.get("output_tokens_details"))
        for name, value in (*usage.items(), *details.items()):
            if (count := whole(value)) is not None:
                self._counts[name] = count
        fresh, output, read, written = (self._counts.get(name, 0) for name in _COUNTS)
        total = fresh + output + read + written
        reasoning = self._counts.get("thinking_tokens")
        events.append(UsageReport(Usage(fresh, output, read, written, total, reasoning)))


def _finish(reason: str, details: Mapping[str, Any]) -> Finish:
    known = _STOP_REASONS.get(reason)
    if known:
        return Finish(known, reason)
    why = text(details.get("explanation"))
    if reason == "refusal":
        return Finish("error", reason, why or "The model refused to answer")
    return Finish("error", reason, f"The server ended the answer: stop_reason {reason}")


def _parsed(data: bytes) -> Any:
    try:
        return payload(data)
    except ValueError:
        return None
