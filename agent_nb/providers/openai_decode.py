"""Answers of the chat-completions API, as events.

Servers differ more than the API's description says; what is tolerated here was seen on the wire.
"""

from collections.abc import Callable, Mapping, Sequence
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
    UsageReport,
)
from agent_nb.core.messages import StopReason, Usage
from agent_nb.providers.failures import error_text, readable
from agent_nb.providers.lenient import items, mapping, text, whole
from agent_nb.providers.openai_calls import CallFragments
from agent_nb.providers.openai_encode import REASONING_FIELDS
from agent_nb.providers.openai_reasoning import ReasoningDetails
from agent_nb.providers.replay import new_call_id
from agent_nb.providers.sse import Frame, payload
from agent_nb.providers.think_tags import ThinkTags

_STOP_REASONS: Mapping[str, StopReason] = {
    "stop": "stop",
    "end": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
}


class ChatDecoder:
    """Translates one answer; all text is one block, whatever comes between.

    Args:
        model_id: The model that was asked; a server may say that another one answered.
        wants_finish_reason: False for servers that never give one.
        new_id: Makes ids for calls without one.
    """

    def __init__(
        self,
        model_id: str,
        *,
        wants_finish_reason: bool = True,
        new_id: Callable[[], str] = new_call_id,
    ) -> None:
        self.is_whole = False
        self.has_ended = False
        self.failure: str | None = None
        self.ignored_count = 0
        self._model_id = model_id
        self._wants_finish_reason = wants_finish_reason
        self._calls = CallFragments(new_id)
        self._tags = ThinkTags()
        self._details = ReasoningDetails()
        self._block_count = 0
        self._text: int | None = None
        self._thinking: int | None = None
        self._finish_reason: str | None = None
        self._is_introduced = False
        self._chunk_count = 0

    def feed(self, frames: Sequence[Frame]) -> list[ProviderEvent]:
        """Return the events of some frames."""
        events: list[ProviderEvent] = []
        for name, data in frames:
            if self.has_ended or self.failure is not None:
                break
            if data == b"[DONE]":
                self._end(events)
                break
            try:
                chunk = payload(data)
            except ValueError:
                shown = data.decode("utf-8", "replace")
                self.failure = f"The stream was interrupted by what is not JSON: {shown}"
                break
            self._chunk(chunk, events, is_error=name == b"error")
        return events

    def finish(self, frames: Sequence[Frame], other: bytes) -> list[ProviderEvent]:
        """Return the last events; `other` is what the body held besides frames."""
        frames = [frame for frame in frames if _is_json(frame[1]) or frame[1] == b"[DONE]"]
        events = self.feed(frames)
        if self.has_ended or self.failure is not None:
            return events
        if not self._chunk_count and other.strip():
            self._body(other, events)
        if self.failure is None:
            self._end(events)
        return events

    def _body(self, body: bytes, events: list[ProviderEvent]) -> None:
        """Take an answer that came in one piece although a stream was asked for."""
        if _is_json(body):
            self._chunk(payload(body), events, is_error=False)
        else:
            page = readable(body.decode("utf-8", "replace"))
            self.failure = f"This is no model server's answer; is the base URL right? {page}"

    def _chunk(self, chunk: Any, events: list[ProviderEvent], *, is_error: bool) -> None:
        if not isinstance(chunk, dict):
            self.ignored_count += 1
            return
        choices = items(chunk.get("choices"))
        is_bare_error = "choices" not in chunk and isinstance(chunk.get("message"), str)
        if is_error or chunk.get("error") or is_bare_error:
            self.failure = error_text(chunk)
            return
        self._chunk_count += 1
        if not self._is_introduced:
            self._introduce(chunk, events)
        if choices:
            self._choice(mapping(choices[0]), events)
        if usage := mapping(chunk.get("usage")):
            events.append(UsageReport(_usage(usage)))

    def _choice(self, choice: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        if delta := mapping(choice.get("delta") or choice.get("message")):
            self._delta(delta, events)
        if reason := text(choice.get("finish_reason")):
            self._finish_reason = reason
            self.is_whole = True
        if usage := mapping(choice.get("usage")):
            events.append(UsageReport(_usage(usage)))

    def _introduce(self, chunk: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        response_id, model = text(chunk.get("id")), text(chunk.get("model"))
        other_model = model if model != self._model_id else ""
        if response_id or other_model:
            events.append(ResponseInfo(response_id or None, other_model or None))
            self._is_introduced = True

    def _delta(self, delta: Mapping[str, Any], events: list[ProviderEvent]) -> None:
        for field in REASONING_FIELDS:
            if thinking := delta.get(field):
                self._open_thinking(field, events)
                self._think(_text_of(thinking), events)
                break  # the same text may come in two fields
        if self._details.add(delta.get("reasoning_details")):
            self._open_thinking("", events)
        if content := delta.get("content") or delta.get("refusal"):
            if not isinstance(content, str):
                content = self._parts(content, events)
            self._content(content, events)
        for fragment in items(delta.get("tool_calls")):
            self._flush_tags(events)
            self._block_count += self._calls.feed(mapping(fragment), self._block_count, events)

    def _parts(self, parts: Any, events: list[ProviderEvent]) -> str:
        """Take content that comes as a list of blocks, thinking among them."""
        blocks = parts if isinstance(parts, list) else [parts]
        for block in blocks:
            self._think(_text_of(mapping(block).get("thinking")), events)
        return _text_of(blocks)

    def _content(self, content: str, events: list[ProviderEvent]) -> None:
        if not self._tags.is_past:
            thinking, content = self._tags.feed(content)
            self._think(thinking, events)
        self._say(content, events)

    def _flush_tags(self, events: list[ProviderEvent]) -> None:
        thinking, content = self._tags.flush()
        self._think(thinking, events)
        self._say(content, events)

    def _say(self, content: str, events: list[ProviderEvent]) -> None:
        if not content:
            return
        if self._text is None:
            self._text = self._start(events)
            events.append(TextStart(self._text))
        events.append(TextDelta(self._text, content))

    def _think(self, thinking: str, events: list[ProviderEvent]) -> None:
        if thinking:
            events.append(ThinkingDelta(self._open_thinking("", events), thinking))

    def _open_thinking(self, field: str, events: list[ProviderEvent]) -> int:
        """Return the thinking block; `field` is where it comes in, and goes back to."""
        if self._thinking is None:
            self._thinking = self._start(events)
            events.append(ThinkingStart(self._thinking))
            if field:
                events.append(Signature(self._thinking, field))
        return self._thinking

    def _start(self, events: list[ProviderEvent]) -> int:
        self._calls.flush(events)
        self._block_count += 1
        return self._block_count - 1

    def _end(self, events: list[ProviderEvent]) -> None:
        self._flush_tags(events)
        self._calls.flush(events)
        if self._thinking is not None and self._details.signature:
            events.append(Signature(self._thinking, self._details.signature))
        if self._finish_reason is None and not self._infer_reason():
            what = "finish_reason" if self._chunk_count else "a single event"
            self.failure = f"The stream ended without {what}"
            return
        self.has_ended = True
        events += [BlockEnd(index) for index in range(self._block_count)]
        events.append(self._finish())

    def _infer_reason(self) -> bool:
        """Find a reason to end where the server never gives one."""
        if self._wants_finish_reason or not self._chunk_count:
            return False
        self._finish_reason = "tool_calls" if self._calls.count else "stop"
        return True

    def _finish(self) -> Finish:
        reason = self._finish_reason or ""
        known = _STOP_REASONS.get(reason)
        if known:
            return Finish(known, reason)
        return Finish("error", reason, f"The server ended the answer: finish_reason {reason}")


def _is_json(data: bytes) -> bool:
    try:
        payload(data)
    except ValueError:
        return False
    return True


def _text_of(value: Any) -> str:
    """Return text that may come as a string or as blocks."""
    if isinstance(value, list):
        return "".join(_text_of(item) for item in value)
    return text(value) or text(mapping(value).get("text"))


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Read token counts; servers put what came from a cache in three places."""
    prompt = mapping(usage.get("prompt_tokens_details"))
    details = mapping(usage.get("completion_tokens_details"))
    read = _count(prompt, "cached_tokens") or _count(
        usage, "prompt_cache_hit_tokens", "cached_tokens"
    )
    written = _count(prompt, "cache_write_tokens")
    fresh = max(0, _count(usage, "prompt_tokens") - read - written)
    output = _count(usage, "completion_tokens")
    reasoning = _count(details, "reasoning_tokens") or _count(usage, "reasoning_tokens")
    total = fresh + output + read + written
    return Usage(fresh, output, read, written, total, reasoning or None)


def _count(counts: Mapping[str, Any], *names: str) -> int:
    """Return the first of these counts that is there."""
    return next((n for name in names if (n := whole(counts.get(name))) is not None), 0)
