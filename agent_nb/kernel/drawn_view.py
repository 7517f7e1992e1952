"""A run drawn in a cell's output: live in a page that answers, otherwise as static snapshots.

While a run goes on the output is a widget, with the static form beside it for whoever cannot show
one. When the run has ended the output is replaced by the static form, which needs no kernel. The
widget stays open a little longer: a page that was reloaded in mid-run does not know the output any
more that was replaced, and shows the end in the widget instead.
"""

import asyncio
import os
from dataclasses import dataclass, replace
from typing import Any

from agent_nb.core.events import SessionEvent
from agent_nb.core.secrets import secret_values
from agent_nb.inspect.runs import RunResult
from agent_nb.kernel import subshell
from agent_nb.kernel.attach import Scene
from agent_nb.kernel.output import CellOutput
from agent_nb.kernel.results import language_of
from agent_nb.kernel.runtime import Runtime
from agent_nb.render.blocks import NoticeBlock, ShownTurn
from agent_nb.render.bundle import static_bundle
from agent_nb.render.words import words
from agent_nb.ui.commands import Command, Hello, Stop
from agent_nb.ui.feed import ViewFeed
from agent_nb.ui.patch import ViewPatch
from agent_nb.ui.view import Notice, RunEnded, Stopping, start_view
from agent_nb.ui.widget import AgentView

WIDGET = "application/vnd.jupyter.widget-view+json"
ANSWER_WITHIN_S = 3.0
SNAPSHOT_S = 0.5

_NO_PAGE = (
    "The live view does not show here. For buttons and streaming text install `ipywidgets` and "
    "`anywidget` where Jupyter itself runs, then reload the page. "
    "Interrupting the kernel stops a run meanwhile."
)
_OLD_KERNEL = (
    "This kernel cannot hear buttons while a cell waits: that needs ipykernel 7.4 or later. "
    "Interrupting the kernel stops a run."
)


@dataclass(frozen=True, slots=True)
class Hearing:
    """How the page is heard while a cell keeps the kernel busy.

    Attributes:
        is_live: Whether it is heard at all then.
        subshell_id: Where its messages are handled; None leaves it to the kernel.
    """

    is_live: bool
    subshell_id: str | None = None


async def hearing(cell: CellOutput, runtime: Runtime) -> Hearing:
    """Find out how a page is heard, and make a subshell for it if there can be one."""
    if not subshell.has_subshells(cell.kernel):
        return Hearing(is_live=False)
    if not subshell.can_route():
        return Hearing(is_live=cell.page_has_subshell)
    if not runtime.has_asked_for_subshell:
        runtime.has_asked_for_subshell = True
        runtime.subshell_id = await asyncio.to_thread(subshell.create_subshell)
    return Hearing(is_live=runtime.subshell_id is not None, subshell_id=runtime.subshell_id)


class DrawnView:
    """A run in a cell's output; lives on the agent thread.

    Args:
        hearing: How the page is heard; None draws static snapshots only.
    """

    def __init__(
        self, scene: Scene, cell: CellOutput, hearing: Hearing | None, runtime: Runtime
    ) -> None:
        self._scene = scene
        self._cell = cell
        self._runtime = runtime
        self._secrets = secret_values(os.environ, scene.secrets)
        self._widget: AgentView | None = None
        self._has_ended = False
        self._was_met = False
        self._timer: asyncio.TimerHandle | None = None
        state = start_view(
            scene.question,
            model=scene.model,
            model_note=scene.model_note,
            language=language_of(os.environ),
            secrets=self._secrets,
        )
        if hearing is None:
            self._feed = ViewFeed(state, self._snapshot, interval_s=SNAPSHOT_S)
            cell.show(self._bundle())
        else:
            self._feed = ViewFeed(state, self._send)
            self._open(hearing)

    # --- what happens in the run

    def push(self, event: SessionEvent) -> None:
        """Show what an event changes."""
        self._feed.push(event)

    def note(self, text: str) -> None:
        """Show a sentence that neither the user nor the model said."""
        self._feed.push(Notice(text))

    def stopping(self) -> None:
        """Show that the run was asked to stop."""
        self._feed.push(Stopping())

    def end(self, result: RunResult) -> None:
        """Show how the run ended, in the form that is kept."""
        # that the user stopped it is what the outcome says already
        why = "" if result.outcome == "stopped" else result.error or ""
        self._feed.push(RunEnded(result.outcome, result.duration_s, why))
        self._has_ended = True
        self._stop_waiting()
        self._feed.close()
        if self._widget is not None:
            self._cell.update(self._bundle())
            self._runtime.keep_open(self)
        if self._cell.audience == "page" and not (self._was_met or self._cell.is_in_notebook):
            self._cell.show(self._bundle())  # a console has not changed what it showed first

    def abandon(self) -> None:
        """Show nothing more: drawing failed."""
        self._has_ended = True
        self._stop_waiting()
        self._let_go()

    def close(self) -> None:
        """Let go of the widget; a page that still shows it says so."""
        self._feed.close()
        self._let_go()

    def _let_go(self) -> None:
        if self._widget is not None:
            widget, self._widget = self._widget, None
            for part in (widget.layout, widget):
                self._cell.context.run(part.close)

    # --- the live form

    def _open(self, hearing: Hearing) -> None:
        widget = self._widget = self._cell.context.run(AgentView, self._heard)
        if hearing.subshell_id is not None:
            subshell.route(widget.comm, hearing.subshell_id)
        model = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        self._cell.show({**self._unfinished(), WIDGET: model})
        if hearing.is_live:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(ANSWER_WITHIN_S, self._go_static)
        elif self._runtime.say_once("old kernel"):
            self.note(_OLD_KERNEL)

    def _heard(self, command: Command) -> None:
        """Take what the page says, on whichever thread; only the agent thread acts on it."""
        self._runtime.thread.post(self._obey, command)

    def _obey(self, command: Command) -> None:
        match command:
            case Hello():
                self._was_met = True
                self._stop_waiting()
                self._send(self._feed.snapshot())
            case Stop() if not self._has_ended:
                self._scene.stop()
            case _:
                pass

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send(self, patch: ViewPatch) -> None:
        if self._widget is not None:
            self._cell.context.run(self._widget.show, patch)

    # --- the static form

    def _go_static(self) -> None:
        """Give up on the page: nobody there can show the widget."""
        state = self._feed.state
        self.close()
        self._feed = ViewFeed(state, self._snapshot, interval_s=SNAPSHOT_S)
        if self._cell.is_in_notebook and self._runtime.say_once("no page"):
            self.note(_NO_PAGE)
        else:
            self._cell.update(self._bundle())

    def _snapshot(self, _patch: ViewPatch) -> None:
        self._cell.update(self._bundle())

    def _unfinished(self) -> dict[str, Any]:
        """Return what the file holds if it is saved in mid-run and the page is then reloaded."""
        shown = self._feed.state.transcript
        note = NoticeBlock(words(shown.language)("notice.unsaved"))
        turn = ShownTurn(len(shown.turns) + 1, (note,))
        return static_bundle(replace(shown, turns=(*shown.turns, turn)), secrets=self._secrets)

    def _bundle(self) -> dict[str, Any]:
        return static_bundle(self._feed.state.transcript, secrets=self._secrets)
