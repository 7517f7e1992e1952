"""The widget that carries a view to the page and the user's commands back."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget

from agent_nb.ui.commands import Command, UnknownCommand, parse_command
from agent_nb.ui.patch import ViewPatch

STATIC = Path(__file__).parent / "static"

_log = logging.getLogger(__name__)


class AgentView(anywidget.AnyWidget):
    """Shows what `show` is given and reports what the user does.

    Holds no session and keeps no text in its traits: a page that joins late asks for a snapshot.
    """

    _esm = STATIC / "view.js"
    _css = STATIC / "view.css"

    def __init__(self, on_command: Callable[[Command], None]) -> None:
        """Make a view; `on_command` may be called in any thread and must return at once."""
        super().__init__()
        self._on_command = on_command
        self.on_msg(self._received)

    def show(self, patch: ViewPatch) -> None:
        """Send what changed; `patch.seq` lets the page notice a gap and ask for a snapshot."""
        self.send(patch.to_page())

    def _received(self, _widget: Any, data: Any, _buffers: Any) -> None:
        command = parse_command(data)
        if isinstance(command, UnknownCommand):
            _log.warning("The view sent a command that is not known: %s", command.problem)
        self._on_command(command)
