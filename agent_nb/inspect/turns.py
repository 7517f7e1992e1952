"""Turns: the history as questions, answers and what tools did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from agent_nb.core.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agent_nb.core.secrets import mask


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One tool call and what came of it; `result` is None if the call never got an answer."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    result: ToolResultMessage | None = None

    @property
    def text(self) -> str:
        """The result's text."""
        return self.result.text if self.result else ""

    @property
    def is_error(self) -> bool:
        """Whether the call failed, or has no result."""
        return self.result is None or self.result.is_error

    @property
    def duration_ms(self) -> int | None:
        """How long the tool ran, in milliseconds; None if it did not run."""
        return self.result.duration_ms if self.result else None

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={_clip(repr(v))}" for k, v in self.arguments.items())
        took = f", {self.duration_ms} ms" if self.duration_ms is not None else ""
        return f"<{self.name}({arguments}): {'error' if self.is_error else 'ok'}{took}>"


@dataclass(frozen=True, slots=True)
class Turn:
    """Queued messages, one answer, and its tools. `number` counts from 1 within the session."""

    number: int
    messages: tuple[Message, ...]
    answer: AssistantMessage
    tool_calls: tuple[CallRecord, ...] = ()

    @property
    def text(self) -> str:
        """The answer's text."""
        return self.answer.text

    @property
    def usage(self) -> Usage:
        """Tokens of the answer."""
        return self.answer.usage

    def __repr__(self) -> str:
        calls = ", ".join(call.name for call in self.tool_calls) or "no tools"
        return f"<Turn {self.number}: {calls}; {_clip(self.text)!r}>"


def turns_of(messages: Sequence[Message], *, first: int = 1) -> tuple[Turn, ...]:
    """Cut messages into turns; every assistant message is one, failed ones included."""
    turns: list[Turn] = []
    before: list[Message] = []
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            results = _results_after(messages, index)
            calls = tuple(
                CallRecord(call.id, call.name, call.arguments, results.get(call.id))
                for call in message.tool_calls
            )
            turns.append(Turn(first + len(turns), tuple(before), message, calls))
            before = []
        elif not isinstance(message, ToolResultMessage | SystemMessage):
            before.append(message)
    return tuple(turns)


def _results_after(messages: Sequence[Message], index: int) -> dict[str, ToolResultMessage]:
    results = {}
    for message in islice(messages, index + 1, None):
        if not isinstance(message, ToolResultMessage):
            break
        results[message.tool_call_id] = message
    return results


def question_of(messages: Sequence[Message]) -> str:
    """Return the first thing the user said in `messages`."""
    return next((m.text for m in messages if isinstance(m, UserMessage)), "")


def _clip(text: str, size: int = 60) -> str:
    shown = mask(text[: 2 * size + 400])
    return shown if len(shown) <= size else shown[: size - 1] + "…"
