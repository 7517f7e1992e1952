"""Attach a view to a run: the live one where there may be a page, else a static or a plain one.

A view is drawn with the run's first event, so that what never starts draws nothing.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from importlib import import_module
from traceback import format_exception
from typing import Literal, Protocol

from agent_nb.core.events import MessageStart, SessionEvent
from agent_nb.core.messages import UserMessage
from agent_nb.core.secrets import mask, secret_values
from agent_nb.inspect.runs import RunResult
from agent_nb.kernel.output import CellOutput
from agent_nb.kernel.results import language_of
from agent_nb.kernel.runtime import Runtime
from agent_nb.kernel.slash import unknown_word
from agent_nb.kernel.terminal import TerminalView
from agent_nb.render.inert import without_secrets
from agent_nb.render.words import words

Shown = Literal["view", "static", "nothing"]

_log = logging.getLogger(__name__)


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

    def abandon(self) -> None:
        """Show nothing more: the view failed, and something else stands in its place."""
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
        return AttachedView(scene, cell, UnseenView)
    secrets = secret_values(os.environ, scene.secrets)
    if cell.audience == "terminal":
        return AttachedView(scene, cell, lambda: TerminalView(sys.stdout.write, secrets))
    # what draws takes a while to import, and a run must not wait in its middle
    drawn = await asyncio.to_thread(import_module, "agent_nb.kernel.drawn_view")
    is_live = cell.audience == "page" and shown == "view"
    hearing = await drawn.hearing(cell, runtime) if is_live else None
    return AttachedView(scene, cell, lambda: drawn.DrawnView(scene, cell, hearing, runtime))


class AttachedView:
    """A view that is drawn with the first event, with the notes that belong to it.

    Where drawing fails, a plain form takes its place, so that no output is left as it stood.
    """

    def __init__(self, scene: Scene, cell: CellOutput, draw: Callable[[], RunView]) -> None:
        self._cell = cell
        self._secrets = scene.secrets
        self._question = scene.question
        self._notes = scene.notes
        self._draw = draw
        self._view: RunView | None = None

    def push(self, event: SessionEvent) -> None:
        """Show what an event changes."""
        with self._failing_plainly():
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
        with self._failing_plainly():
            if self._view is not None:
                self._view.stopping()

    def end(self, result: RunResult) -> None:
        """Show how the run ended; nothing if it never began."""
        view = self._view
        with self._failing_plainly():
            if view is not None:
                view.end(result)
        if self._view is not view and self._view is not None:  # that one failed just now
            self._view.end(result)

    @contextmanager
    def _failing_plainly(self) -> Iterator[None]:
        """Put a plain form in the place of a view that fails; the run goes on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - a view is a subscriber
            secrets = secret_values(os.environ, self._secrets)
            trace = mask("".join(format_exception(error)), secrets)
            _log.error("The view of a run failed: %s", trace)
            failed = self._view
            plain = PlainView(self._cell, type(error).__name__, secrets, anew=failed is None)
            self._view = plain
            if failed is not None:
                failed.abandon()

    def _note_unknown_word(self) -> None:
        """A template or skill would have changed the text: it was sent as it stands."""
        word, self._question = unknown_word(self._question), ""
        if word and self._view is not None:
            self._view.note(
                f"There is no command {word}; it was sent as text. %agent /help lists them."
            )


class PlainView:
    """Stands in for a view that failed: says so, and at the end what was answered."""

    def __init__(
        self, cell: CellOutput, problem: str, secrets: tuple[str, ...], *, anew: bool
    ) -> None:
        self._cell = cell
        self._secrets = secrets
        self._sentence = words(language_of(os.environ))("view.failed", error=problem)
        self._show(self._sentence, anew=anew)

    def push(self, event: SessionEvent) -> None:
        """Show nothing of what goes on."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def stopping(self) -> None:
        """Show nothing."""

    def abandon(self) -> None:
        """Leave what is shown."""

    def end(self, result: RunResult) -> None:
        """Show the answer, or why there is none."""
        parts = self._sentence, result.error or "", result.text
        self._show("\n\n".join(part for part in parts if part), anew=False)

    def _show(self, text: str, *, anew: bool) -> None:
        text = without_secrets(text, self._secrets)
        if self._cell.audience == "terminal":
            sys.stdout.write(f"\n{text}\n")
            return
        show = self._cell.show if anew else self._cell.update
        html = f'<pre style="white-space:pre-wrap">{escape(text)}</pre>'
        show({"text/html": html, "text/plain": text})


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

    def abandon(self) -> None:
        """Show nothing."""
