"""The event log: what happened, in order, without the single deltas."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from agent_nb.core.errors import ConfigError
from agent_nb.core.events import (
    BashExecutionUpdate,
    MessageUpdate,
    SessionEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolExecutionUpdate,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event and when it came, in seconds since the session was opened."""

    at_s: float
    event: SessionEvent

    @property
    def type(self) -> str:
        """The event's type, pi's spelling."""
        if isinstance(self.event, MessageUpdate):
            return self.event.assistant_message_event.type
        return self.event.type

    def __repr__(self) -> str:
        return f"<{self.at_s:.3f} s {self.type}{_detail(self.event)}>"


class EventLog(Sequence[TimedEvent]):
    """The events of a session. Deltas and partial results are counted, not kept."""

    def __init__(self, events: Sequence[TimedEvent] = (), started: float | None = None) -> None:
        self._events = list(events)
        self._started = time.monotonic() if started is None else started
        self.passed = 0

    def add(self, event: SessionEvent) -> None:
        """Append an event, unless it is one of the many."""
        self.passed += 1
        if isinstance(event, MessageUpdate):
            if isinstance(event.assistant_message_event, TextDelta | ThinkingDelta | ToolCallDelta):
                return
        elif isinstance(event, ToolExecutionUpdate | BashExecutionUpdate):
            return
        self._events.append(TimedEvent(time.monotonic() - self._started, event))

    def snapshot(self) -> "EventLog":
        """Return a copy that does not grow."""
        copy = EventLog(tuple(self._events), self._started)
        copy.passed = self.passed
        return copy

    @overload
    def __getitem__(self, index: int) -> TimedEvent: ...
    @overload
    def __getitem__(self, index: slice) -> "EventLog": ...
    def __getitem__(self, index: int | slice) -> "TimedEvent | EventLog":
        if isinstance(index, slice):
            return EventLog(self._events[index], self._started)
        return self._events[index]

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[TimedEvent]:
        return iter(tuple(self._events))

    def of_type(self, kind: str) -> "EventLog":
        """Return the events of one type."""
        return EventLog([event for event in self if event.type == kind], self._started)

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame: time, type, detail. Needs pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ConfigError(
                "to_frame needs pandas: pip install pandas, or the extra [data]."
            ) from error

        rows = [(e.at_s, e.type, _detail(e.event).strip()) for e in self]
        return pd.DataFrame(rows, columns=["at_s", "type", "detail"])

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for event in self:
            counts[event.type] = counts.get(event.type, 0) + 1
        kinds = ", ".join(f"{kind} x{count}" for kind, count in counts.items())
        return f"<EventLog of {len(self)} ({self.passed} with deltas): {kinds}>"


def _detail(event: Any) -> str:
    name = getattr(event, "tool_name", None)
    if name:
        return f" {name}"
    message = getattr(event, "message", None)
    return f" {message!r}" if message is not None else ""
