"""Answers of the responses API, as events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_nb.core import json_text
from agent_nb.core.events import (
    BlockEnd,
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
from agent_nb.providers.failures import error_text, readable
from agent_nb.providers.lenient import items, mapping, text, whole
from agent_nb.providers.replay import new_call_id
from agent_nb.providers.responses_encode import text_signature
from agent_nb.providers.responses_end import failure_of, finish_of, usage_of
from agent_nb.providers.sse import Frame, payload

PARAGRAPH = "\n\n"
"""Between the parts of a summary."""

_Delta = type[TextDelta] | type[ThinkingDelta] | type[ToolCallDelta]
_KINDS: Mapping[str, _Delta] = {
    "message": TextDelta,
    "reasoning": ThinkingDelta,
    "function_call": ToolCallDelta,
}
_DELTAS: Mapping[str, str] = {
    "response.output_text.delta": "message",
    "response.refusal.delta": "message",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "function_call",
}
_ENDS = frozenset({"response.completed", "response.incomplete", "response.done"})
_REPEATED = frozenset(
    {
        "response.queued",
        "response.in_progress",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_text.annotation.added",
        "response.output_text.done",
        "response.refusal.done",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.done",
        "response.reasoning_text.done",
        "response.function_call_arguments.done",
        "keepalive",
    }
)
"""Events that say nothing the others do not."""


@dataclass(slots=True)
class _Block:
    """A block being streamed: where the server puts it, and what came so far."""

    content_index: int
    kind: str
    output_index: int | None
    item_id: str
    pieces: list[str] = field(default_factory=list)

    def add(self, piece: str, events: list[ProviderEvent]) -> None:
        """Append a piece of text, or of a call's arguments."""
        if piece:
            self.pieces.append(piece)
            events.append(_KINDS[self.kind](self.content_index, piece))

    def end(self, final: str, events: list[ProviderEvent]) -> None:
        """End the block; `final` is its text as the server gives it at the end, if it does."""
        streamed = "".join(self.pieces)
        if final.startswith(streamed):
            self.add(final[len(streamed) :], events)
            streamed = final
        content = final if final and final != streamed else None
        events.append(BlockEnd(self.content_index, content))


class ResponsesDecoder:
    """Translates one answer; each output item is a block.

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
        self._open: list[_Block] = []
        self._unsealed: dict[str, int] = {}
        self._is_introduced = False
        self._block_count = 0
        self._call_count = 0
        self._event_count = 0

    def feed(self, frames: Sequence[Frame]) -> list[ProviderEvent]:
        """Return the events of some frames."""
        events: list[ProviderEvent] = []
        for name, data in frames:
            if self.has_ended or self.failure is not None:
                break
            if data == b"[DONE]":
                continue
            try:
                event = payload(data)
            except ValueError:
                shown = data.decode("utf-8", "replace")
                self.failure = f"The stream was interrupted by what is not JSON: {shown}"
                break
            if isinstance(event, dict):
                kind = text(event.get("type")) or name.decode("utf-8", "replace")
                self._event(kind, event, events)
        return events

    def finish(self, frames: Sequence[Frame], other: bytes) -> list[ProviderEvent]:
        """Return the last events; `other` is what the body held besides frames."""
        events = self.feed([frame for frame in frames if _parsed(frame[1]) is not None])
        if not self._event_count and self.failure is None and other.strip():
            self._body(other, events)
        if not self.has_ended and self.failure is None:
            what = "response.completed" if self._event_count else "a single event"
            self.failure = f"The stream ended without {what}"
        return events

    def _body(self, body: bytes, events: list[ProviderEvent]) -> None:
        """Take an answer that came in one piece although a stream was asked for."""
        response = _parsed(body)
        if not isinstance(response, dict):
            page = readable(body.decode("utf-8", "replace"))
            self.failure = f"This is no model server's answer; is the base URL right? {page}"
            return
        if response.get("object") != "response":
            self.failure = error_text(response)
            return
        for index, item in enumerate(items(response.get("output"))):
            done = {"output_index": index, "item": item}
            self._event("response.output_item.done", done, events)
        ended = "response.failed" if response.get("error") else "response.completed"
        self._event(ended, {"response": response}, events)

    def _event(self, name: str, event: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        self._event_count += 1
        if name in _DELTAS:
            self._delta(_DELTAS[name], event, text(event.get("delta")), events)
        elif name in _ENDS:
            self._ended(mapping(event.get("response")), events)
        elif name not in _REPEATED:
            self._rare_event(name, event, events)

    def _delta(
        self, kind: str, event: Mapping[str, Any], piece: str, events: list[ProviderEvent]
    ) -> None:
        block = self._find(event, text(event.get("item_id")))
        if block is not None and block.kind == kind:
            block.add(piece, events)
        else:
            self.ignored_count += 1

    def _rare_event(self, name: str, event: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        match name:
            case "response.output_item.added":
                self._item(event, events)
            case "response.output_item.done":
                self._item_done(event, events)
            case "response.reasoning_summary_part.done":
                self._delta("reasoning", event, PARAGRAPH, events)
            case "response.created":
                self._introduce(mapping(event.get("response")), events)
            case "response.failed":
                response = mapping(event.get("response"))
                self._report(response, events)
                self.failure = failure_of(response)
            case "error":
                self.failure = error_text({**event, "type": None})
            case "" if event.get("error") or isinstance(event.get("message"), str):
                self.failure = error_text(event)
            case _:
                self.ignored_count += 1

    def _introduce(self, response: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        response_id, model = text(response.get("id")), text(response.get("model"))
        other_model = model if model != self._model_id else ""
        if response_id or other_model:
            events.append(ResponseInfo(response_id or None, other_model or None))
            self._is_introduced = True

    def _find(self, event: Mapping[str, Any], item_id: str) -> _Block | None:
        """Return the open block an event is about: by its place, or by its id where none is given.

        The place comes first: gateways give one item other ids in every event.
        """
        index = whole(event.get("output_index"))
        for block in reversed(self._open):
            by_id = index is None or block.output_index is None
            if block.item_id == item_id if by_id else block.output_index == index:
                return block
        return None

    def _item(self, event: Mapping[str, Any], events: list[ProviderEvent]) -> _Block | None:
        """Begin the block of an output item; kinds that were not asked for have none."""
        item = mapping(event.get("item"))
        kind, index = text(item.get("type")), self._block_count
        block = _Block(index, kind, whole(event.get("output_index")), _item_id(item))
        match kind:
            case "message":
                events.append(TextStart(index))
            case "reasoning":
                events.append(ThinkingStart(index))
            case "function_call":
                self._call_count += 1
                events.append(ToolCallStart(index, self._call_id(item), text(item.get("name"))))
                block.add(text(item.get("arguments")), events)
            case _:
                self.ignored_count += 1
                return None
        self._open.append(block)
        self._block_count += 1
        return block

    def _call_id(self, item: Mapping[str, Any]) -> str:
        """Return both ids of a call as pi keeps them: the call's, which results name, and its own.

        Source: BEHAVIOUR of pi 1.6.0, `call_1|fc_1`.
        """
        call_id, item_id = text(item.get("call_id")) or self._new_id(), text(item.get("id"))
        return f"{call_id}|{item_id}" if item_id else call_id

    def _item_done(self, event: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        item = mapping(event.get("item"))
        block = self._find(event, _item_id(item))
        if block is None or block.kind != item.get("type"):
            block = self._item(event, events)
        if block is None:
            return
        self._open.remove(block)
        if block.kind == "function_call":
            block.end(text(item.get("arguments")), events)
        elif block.kind == "message":
            if signature := text_signature(item):
                events.append(Signature(block.content_index, signature))
            block.end("".join(map(_text_of, items(item.get("content")))), events)
        else:
            self._reasoning_done(block, item, events)

    def _reasoning_done(
        self, block: _Block, item: Mapping[str, Any], events: list[ProviderEvent]
    ) -> None:
        """The whole item goes back to the model with the next request, so it is the signature."""
        events.append(Signature(block.content_index, json_text.dumps(item).decode()))
        if not item.get("encrypted_content"):
            self._unsealed[_item_id(item)] = block.content_index
        parts = items(item.get("summary")) or items(item.get("content"))
        block.end(PARAGRAPH.join(map(_text_of, parts)), events)

    def _seal(self, response: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        """Sign reasoning whose encrypted form comes only with the end, as on Azure."""
        for item in map(mapping, items(response.get("output"))):
            index = self._unsealed.get(_item_id(item))
            is_sealed = item.get("type") == "reasoning" and item.get("encrypted_content")
            if index is not None and is_sealed:
                events.append(Signature(index, json_text.dumps(item).decode()))

    def _ended(self, response: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        self._seal(response, events)
        self._report(response, events)
        finish = finish_of(response, has_calls=self._call_count > 0)
        if finish is None:
            self.failure = failure_of(response)
            return
        unfinished = [block for block in self._open if block.kind == "function_call"]
        if unfinished and finish.stop_reason == "toolUse":
            # Its arguments may be cut off, or mixed up with another call's.
            self.failure = "A tool call was not whole when the answer ended"
            return
        for block in self._open:
            block.end("", events)
        self._open.clear()
        events.append(finish)
        self.is_whole = self.has_ended = True

    def _report(self, response: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        if not self._is_introduced:
            self._introduce(response, events)
        if usage := mapping(response.get("usage")):
            events.append(UsageReport(usage_of(usage)))


def _item_id(item: Mapping[str, Any]) -> str:
    """Return what deltas name an item by; llama.cpp's calls have only the call's id."""
    return text(item.get("id")) or text(item.get("call_id"))


def _text_of(part: Any) -> str:
    return text(mapping(part).get("text")) or text(mapping(part).get("refusal"))


def _parsed(data: bytes) -> Any:
    try:
        return payload(data)
    except ValueError:
        return None
