"""A run in a terminal's IPython: the text as it streams, a line for each tool."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from agent_nb.core.events import (
    AutoRetryStart,
    MessageEnd,
    MessageUpdate,
    SessionEvent,
    TextDelta,
    TextStart,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from agent_nb.inspect.runs import RunResult
from agent_nb.render.words import words

_ARGUMENTS = 100


class TerminalView:
    """Writes a run as plain text; `write` takes pieces of it."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._at_start = True

    def push(self, event: SessionEvent) -> None:
        """Show what an event adds."""
        match event:
            case MessageUpdate(assistant_message_event=TextStart()):
                self._line("")
            case MessageUpdate(assistant_message_event=TextDelta(delta=delta)) if delta:
                self._write(delta)
                self._at_start = delta.endswith("\n")
            case MessageEnd():
                self._line("")
            case ToolExecutionStart(tool_name=name, args=arguments):
                self._line(f"[{name}] {_short(arguments)}")
            case ToolExecutionEnd(tool_name=name, result=result, is_error=True):
                self._line(f"[{name}] error: {result.text.partition(chr(10))[0]}")
            case AutoRetryStart(delay_ms=delay_ms, error_message=error):
                self._line(f"[retry in {delay_ms / 1000:g} s] {error}")
            case _:
                pass

    def note(self, text: str) -> None:
        """Write a sentence that neither the user nor the model said."""
        self._line(f"[{text}]")

    def stopping(self) -> None:
        """Say that the run is about to stop."""
        self._line("[stopping]")

    def end(self, result: RunResult) -> None:
        """Close with what the run took."""
        say = words("en")
        parts = (
            result.model,
            say.count("turns", len(result.turns)),
            say.count("tools", len(result.tool_calls)),
            say.tokens(result.usage.total_tokens),
            say.seconds(result.duration_s),
        )
        self._line(f"[{' · '.join(parts)}]")

    def _line(self, text: str) -> None:
        start = "" if self._at_start else "\n"
        self._write(f"{start}{text}\n" if text else start)
        self._at_start = True


def _short(arguments: Mapping[str, Any]) -> str:
    text = json.dumps(dict(arguments), ensure_ascii=False, default=str)
    return text if len(text) <= _ARGUMENTS else text[: _ARGUMENTS - 1] + "…"
