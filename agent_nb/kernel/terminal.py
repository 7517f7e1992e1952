"""A run in a terminal's IPython: the text as it streams, a line for each tool.

Text is written word by word, without terminal codes and secrets: those must be whole to be known.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_nb.core.events import (
    AutoRetryStart,
    MessageEnd,
    MessageUpdate,
    SessionEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from agent_nb.inspect.runs import RunResult
from agent_nb.render.fit import masked_values
from agent_nb.render.inert import without_secrets
from agent_nb.render.words import words

_ARGUMENTS = 100
_MAX_HELD = 20_000
"""Characters held back at most while something is not whole."""

_KEY_END = re.compile(r"-----END [A-Z ]*KEY-----")
_LAST_GAP = re.compile(r"\s(?=\S*\Z)")


class TerminalView:
    """Writes a run as plain text; `write` takes pieces of it."""

    def __init__(self, write: Callable[[str], object], secrets: Sequence[str] = ()) -> None:
        self._write = write
        self._secrets = secrets
        self._at_start = True
        self._held = ""

    def push(self, event: SessionEvent) -> None:
        """Show what an event adds."""
        match event:
            case MessageUpdate(assistant_message_event=TextStart()):
                self._line("")
            case MessageUpdate(assistant_message_event=TextDelta(delta=delta)) if delta:
                self._held += delta
                self._release(_whole(self._held))
            case MessageUpdate(assistant_message_event=TextEnd()):
                self._release(len(self._held))
            case MessageEnd():
                self._line("")
            case ToolExecutionStart(tool_name=name, args=arguments):
                self._line(f"[{name}] {self._short(arguments)}")
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

    def abandon(self) -> None:
        """Write nothing more."""

    def _line(self, text: str) -> None:
        self._release(len(self._held))
        start = "" if self._at_start else "\n"
        text = self._safe(text)
        self._write(f"{start}{text}\n" if text else start)
        self._at_start = True

    def _release(self, size: int) -> None:
        """Write that much of the text that is held back."""
        text, self._held = self._held[:size], self._held[size:]
        if text:
            self._write(self._safe(text))
            self._at_start = text.endswith("\n")

    def _short(self, arguments: Mapping[str, Any]) -> str:
        safe = masked_values(arguments, self._secrets)  # before JSON escapes what is in a key
        text = json.dumps(safe, ensure_ascii=False, default=str)
        return text if len(text) <= _ARGUMENTS else text[: _ARGUMENTS - 1] + "…"

    def _safe(self, text: str) -> str:
        return without_secrets(text, self._secrets)


def _whole(text: str) -> int:
    """Return how much of a text may be written: no word, code or private key that goes on."""
    if len(text) > _MAX_HELD:
        return len(text)
    key = text.rfind("-----BEGIN")
    if key >= 0 and not _KEY_END.search(text, key):
        return key
    if "\x1b" in text:
        return text.rfind("\n") + 1
    gap = _LAST_GAP.search(text)
    return gap.end() if gap else 0
