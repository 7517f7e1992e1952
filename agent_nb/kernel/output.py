"""The output of one cell, and who is there to look at it."""

import contextvars
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from IPython.display import display

Audience = Literal["page", "nobody", "terminal"]
"""A page that may have buttons; a file that is written (nbclient, papermill); a terminal."""


@dataclass(frozen=True)
class CellOutput:
    """Where a run is shown: the output of the cell that asked, from whichever thread, however late.

    ipykernel keeps the cell a message belongs to in a context variable, so everything is shown in
    a copy of the context the cell had.

    Attributes:
        audience: Who may be looking.
        cell: The cell's number in this kernel.
        kernel: None in a terminal.
        page_has_subshell: Whether the front end has a subshell for what its widgets say.
        is_in_notebook: Whether the front end named the cell, as those do that have cells; a
            console may not know how to change what it has shown.
    """

    audience: Audience
    cell: int = 0
    kernel: Any = None
    page_has_subshell: bool = False
    is_in_notebook: bool = True
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    display_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def show(self, bundle: Mapping[str, Any]) -> None:
        """Add an output, a MIME bundle, to the cell."""
        self._display(bundle, update=False)

    def update(self, bundle: Mapping[str, Any]) -> None:
        """Put another MIME bundle in the place of what was shown."""
        self._display(bundle, update=True)

    def _display(self, bundle: Mapping[str, Any], *, update: bool) -> None:
        self.context.run(display, dict(bundle), raw=True, display_id=self.display_id, update=update)


def output_of_this_cell(shell: Any) -> CellOutput:
    """Return the output of the cell that is being run; called on the thread that runs it."""
    number = getattr(shell, "execution_count", 0)
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return CellOutput("terminal", number)
    parent = kernel.get_parent()
    can_answer = parent.get("content", {}).get("allow_stdin", False)
    return CellOutput(
        "page" if can_answer else "nobody",
        number,
        kernel,
        page_has_subshell="subshell_id" in parent.get("header", {}),
        is_in_notebook="cellId" in parent.get("metadata", {}),
    )


def show_text(markdown: str) -> None:
    """Show Markdown in the cell that is being run; a terminal shows it as it is."""
    bundle = {"text/markdown": markdown, "text/plain": markdown}
    display(bundle, raw=True)  # type: ignore[no-untyped-call]


class Drawn:
    """The values whose view stands in the cell that is being run, not to be shown twice."""

    def __init__(self) -> None:
        self._cell = -1
        self._values: list[object] = []

    def note(self, cell: int, value: object) -> None:
        """Note that `value` has its view in a cell's output."""
        if cell != self._cell:
            self._cell, self._values = cell, []
        self._values.append(value)

    def includes(self, cell: int, value: object) -> bool:
        """Say whether `value` has its view in the output of this cell."""
        return cell == self._cell and any(value is drawn for drawn in self._values)
