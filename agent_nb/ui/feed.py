"""Events in, messages to the page out: at once where it matters, else at most 20 times a second."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from agent_nb.core.events import (
    AutoRetryStart,
    MessageUpdate,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from agent_nb.ui.patch import ViewPatch, diff, snapshot
from agent_nb.ui.view import Clock, Notice, RunEnded, Stopping, ViewEvent, ViewState, reduce

MIN_GAP_S = 0.045
"""Between two messages, whatever happens: not more than 25 in a second, the last one included."""

MAX_GAP_S = 0.5
SHARE = 3
"""How many times as long as painting took the next paint waits, so that it never holds up a run."""

_URGENT = (ToolExecutionStart, ToolExecutionEnd, AutoRetryStart, RunEnded, Notice, Stopping)
_DELTAS = (TextDelta, ThinkingDelta, ToolCallDelta)


class ViewFeed:
    """Keeps a view's state on the loop that pushes to it, and sends what changed.

    Args:
        state: Where the view starts; its clock goes on from there.
        send: Takes a message for the page; must not wait.
        interval_s: Least time between two messages about text, in seconds.
    """

    def __init__(
        self,
        state: ViewState,
        send: Callable[[ViewPatch], None],
        *,
        interval_s: float = 0.05,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time() - state.clock_s
        self._state = state
        self._shown = state
        self._send = send
        self._interval_s = interval_s
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = self._loop.time() - MAX_GAP_S
        self._cost_s = 0.0

    @property
    def state(self) -> ViewState:
        """The view after every event so far."""
        return self._state

    def push(self, event: ViewEvent) -> None:
        """Take in an event; the page hears of it soon."""
        is_delta = isinstance(event, MessageUpdate) and isinstance(
            event.assistant_message_event, _DELTAS
        )
        if not is_delta:
            self._tick()
        before = self._state
        self._state = reduce(before, event)
        if self._state is not before:
            self._schedule(urgent=isinstance(event, _URGENT))

    def snapshot(self) -> ViewPatch:
        """Return everything there is to draw, for a view that joins or has missed something.

        What is still to be sent goes out first, so that views which missed nothing stay in step.
        """
        self._tick()
        self._flush()
        return snapshot(replace(self._shown, clock_s=self._state.clock_s))

    def close(self) -> None:
        """Send what is still to be sent; nothing more will come."""
        self._flush()

    def _tick(self) -> None:
        self._state = reduce(self._state, Clock(self._loop.time() - self._began))

    def _schedule(self, *, urgent: bool) -> None:
        gap_s = MIN_GAP_S if urgent else max(self._interval_s, MIN_GAP_S)
        due = self._sent_at + min(MAX_GAP_S, max(gap_s, SHARE * self._cost_s))
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(max(due, self._loop.time()), self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        started = self._loop.time()
        patch = diff(self._shown, self._state)
        if patch is None:
            return
        self._shown = self._state
        self._send(patch)
        self._sent_at = self._loop.time()
        self._cost_s = self._sent_at - started
