"""Attach a view to a run: the live one where there may be a page, else a static or a plain one.

A view is drawn with the run's first event, so that what never starts draws nothing.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, Protocol

from agent_nb.core.events import MessageStart, SessionEvent
from agent_nb.core.messages import UserMessage
from agent_nb.inspect.runs import RunResult
from agent_nb.kernel.output import CellOutput
from agent_nb.kernel.runtime import Runtime
from agent_nb.kernel.slash import unknown_word
from agent_nb.kernel.terminal import TerminalView

Shown = Literal["view", "static", "nothing"]


class RunView(Protocol):
    """Shows a run; called on the agent thread."""

    def push(self, event: SessionEvent) -> None:
        """Show what an event changes."""
        ...

    def note(self, text: str) -> None:
        """Show a sentence that neither the user nor the model said."""
        ...

    def stopping(self) -> None:
        """Show that the run was asked to stop."""
        ...

    def end(self, result: RunResult) -> None:
        """Show how the run ended, in the form that is kept."""
        ...


@dataclass(frozen=True, slots=True)
class Scene:
    """What a view is told of the run before it begins.

    Attributes:
        question: As the user wrote it.
        model: `provider/id`.
        model_note: What must be said of the model each time.
        notes: Sentences to be shown above the run; on first use which model answers and why.
        stop: Stops the run; called on the agent thread.
        secrets: What must be masked.
    """

    question: str
    model: str
    model_note: str
    notes: tuple[str, ...]
    stop: Callable[[], None]
    secrets: tuple[str, ...] = ()


async def attach(scene: Scene, cell: CellOutput, shown: Shown, runtime: Runtime) -> "AttachedView":
    """Return a view of the run for whoever may look at the cell's output."""
    if shown == "nothing":
        return AttachedView(scene, UnseenView)
    if cell.audience == "terminal":
        return AttachedView(scene, lambda: TerminalView(sys.stdout.write))
    # what draws takes a while to import, and a run must not wait in its middle
    drawn = await asyncio.to_thread(import_module, "agent_nb.kernel.drawn_view")
    is_live = cell.audience == "page" and shown == "view"
    hearing = await drawn.hearing(cell, runtime) if is_live else None
    return AttachedView(scene, lambda: drawn.DrawnView(scene, cell, hearing, runtime))


class AttachedView:
    """A view that is drawn with the first event, with the notes that belong to it."""

    def __init__(self, scene: Scene, draw: Callable[[], RunView]) -> None:
        self._question = scene.question
        self._notes = scene.notes
        self._draw = draw
        self._view: RunView | None = None

    def push(self, event: SessionEvent) -> None:
        """Show what an event changes."""
        if self._view is None:
            self._view = self._draw()
            for note in self._notes:
                self._view.note(note)
        self._view.push(event)
        match event:
            case MessageStart(message=UserMessage(text=text)) if text == self._question:
                self._note_unknown_word()
            case _:
                pass

    def stopping(self) -> None:
        """Show that the run was asked to stop."""
        if self._view is not None:
            self._view.stopping()

    def end(self, result: RunResult) -> None:
        """Show how the run ended; nothing if it never began."""
        if self._view is not None:
            self._view.end(result)

    def _note_unknown_word(self) -> None:
        """A template or skill would have changed the text: it was sent as it stands."""
        word, self._question = unknown_word(self._question), ""
        if word and self._view is not None:
            self._view.note(
                f"There is no command {word}; it was sent as text. %agent /help lists them."
            )


class UnseenView:
    """A view for nobody."""

    def push(self, event: SessionEvent) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def stopping(self) -> None:
        """Show nothing."""

    def end(self, result: RunResult) -> None:
        """Show nothing."""
