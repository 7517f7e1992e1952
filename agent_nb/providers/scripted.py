"""A provider that plays prepared answers, for tests and lessons."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_nb.core.abort import AbortSignal
from agent_nb.core.errors import AgentError, ProviderError
from agent_nb.core.events import (
    BlockEnd,
    Finish,
    ProviderEvent,
    TextDelta,
    TextStart,
    ThinkingDelta,
    ThinkingStart,
    ToolCallDelta,
    ToolCallStart,
    UsageReport,
)
from agent_nb.core.messages import StopReason, Usage
from agent_nb.core.model import Model, Prices
from agent_nb.core.provider import Request

SCRIPTED_MODEL = Model(
    id="script",
    provider="scripted",
    api="scripted",
    name="Scripted answers",
    inputs=("text", "image"),
    prices=Prices(),
)


@dataclass(frozen=True, slots=True)
class Said:
    """A block of an answer: `text` is its text, or the JSON of a call's arguments."""

    text: str
    kind: str = "text"
    tool_name: str = ""
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """One prepared answer; `+` puts the blocks of two into one.

    Attributes:
        blocks: Text, thinking and tool calls, in order.
        chunk: Characters per delta; None gives each block in one.
        delay_s: Seconds to wait before each delta.
        usage: What is reported; None reports nothing.
        stop_reason: None means "toolUse" with calls and "stop" without.
        error: Raised once the blocks are out, before the answer is whole.
    """

    blocks: tuple[Said, ...] = ()
    chunk: int | None = None
    delay_s: float = 0
    usage: Usage | None = None
    stop_reason: StopReason | None = None
    error: ProviderError | None = None

    def __add__(self, other: "ScriptedAnswer") -> "ScriptedAnswer":
        return ScriptedAnswer(
            self.blocks + other.blocks,
            self.chunk or other.chunk,
            self.delay_s or other.delay_s,
            other.usage or self.usage,
            other.stop_reason or self.stop_reason,
            other.error or self.error,
        )


def says(
    text: str,
    *,
    thinking: str | None = None,
    chunk: int | None = None,
    delay_s: float = 0,
    usage: Usage | None = None,
    stop_reason: StopReason | None = None,
) -> ScriptedAnswer:
    """Answer with `text`, after `thinking`; see `ScriptedAnswer` for the rest."""
    thoughts = () if thinking is None else (Said(thinking, "thinking"),)
    return ScriptedAnswer((*thoughts, Said(text)), chunk, delay_s, usage, stop_reason)


def calls(
    name: str,
    arguments: str | Mapping[str, Any] = "{}",
    *,
    id: str | None = None,  # noqa: A002 - the wire's word for it
    text: str | None = None,
    chunk: int | None = None,
    delay_s: float = 0,
    usage: Usage | None = None,
) -> ScriptedAnswer:
    """Answer with a tool call, after `text`; a string of arguments is sent as it is.

    Several calls in one answer: `calls("ls") + calls("read", {"path": "a.txt"})`.
    """
    written = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
    words = () if text is None else (Said(text),)
    call = Said(written, "toolCall", name, id)
    return ScriptedAnswer((*words, call), chunk, delay_s, usage)


def fails(message: str, status: int | None = None) -> ScriptedAnswer:
    """Refuse the request with a `ProviderError` before anything is said."""
    return ScriptedAnswer(error=ProviderError(message, status=status))


def breaks_off(
    after: str = "", *, message: str = "Connection closed (terminated)", chunk: int | None = None
) -> ScriptedAnswer:
    """Say the text `after`, then raise a `ProviderError`: the answer is never whole."""
    blocks = (Said(after),) if after else ()
    return ScriptedAnswer(blocks, chunk, error=ProviderError(message))


class ScriptedProvider:
    """Plays `answers` one by one; `requests` holds what was asked, oldest first."""

    def __init__(self, *answers: ScriptedAnswer) -> None:
        self._answers = answers
        self._call_count = 0
        self.requests: list[Request] = []

    async def stream(
        self, request: Request, signal: AbortSignal
    ) -> AsyncIterator[Sequence[ProviderEvent]]:
        """Yield one batch for each delta of the next answer.

        Raises:
            AgentError: If there is no answer left.
            ProviderError: If the answer is meant to fail.
            Aborted: If the signal is set.
        """
        # The loop goes on appending to its list of messages: keep what it was.
        self.requests.append(replace(request, messages=tuple(request.messages)))
        number = len(self.requests)
        if number > len(self._answers):
            raise AgentError(
                f"The script has {len(self._answers)} answers, and this is request {number}"
            )
        answer = self._answers[number - 1]
        for index, block in enumerate(answer.blocks):
            async for batch in self._block(index, block, answer=answer, signal=signal):
                yield batch
        signal.check()
        if answer.error:
            raise answer.error
        yield self._end(answer)

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    async def _block(
        self, index: int, block: Said, *, answer: ScriptedAnswer, signal: AbortSignal
    ) -> AsyncIterator[Sequence[ProviderEvent]]:
        before: list[ProviderEvent] = [self._start(index, block)]
        for piece in _pieces(block.text, answer.chunk):
            if answer.delay_s:
                await signal.sleep(answer.delay_s)
            signal.check()
            yield [*before, _delta(index, block, piece)]
            before = []
        if not answer.error:
            yield [*before, BlockEnd(index)]
        elif before:
            yield before

    def _start(self, index: int, block: Said) -> ProviderEvent:
        if block.kind == "toolCall":
            self._call_count += 1
            call_id = block.call_id or f"call_{self._call_count}"
            return ToolCallStart(index, call_id, block.tool_name)
        return ThinkingStart(index) if block.kind == "thinking" else TextStart(index)

    @staticmethod
    def _end(answer: ScriptedAnswer) -> Sequence[ProviderEvent]:
        usage = [UsageReport(answer.usage)] if answer.usage else []
        has_calls = any(block.kind == "toolCall" for block in answer.blocks)
        return [*usage, Finish(answer.stop_reason or ("toolUse" if has_calls else "stop"))]


def _pieces(text: str, size: int | None) -> Sequence[str]:
    if size is None:
        return [text] if text else []
    return [text[start : start + size] for start in range(0, len(text), size)]


def _delta(index: int, block: Said, piece: str) -> ProviderEvent:
    if block.kind == "toolCall":
        return ToolCallDelta(index, piece)
    return ThinkingDelta(index, piece) if block.kind == "thinking" else TextDelta(index, piece)
