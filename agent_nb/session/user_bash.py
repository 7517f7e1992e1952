"""Commands the user runs beside the model: stored as `bashExecution`, told to it next time.

Source: pi 1.6.0, `agent-session` (`executeBash`). Here the pieces of output that listeners get keep
their terminal codes; what is stored has none, in pi neither has.
"""

import asyncio
import codecs
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.events import BashExecutionUpdate, SessionEvent
from agent_nb.core.messages import BashExecutionMessage
from agent_nb.core.tool import ToolContext
from agent_nb.render.inert import terminal_text
from agent_nb.session.history import History
from agent_nb.tools import Toolbox


@dataclass(frozen=True, slots=True)
class UserCommand:
    """A command as the user gave it.

    Attributes:
        id: Repeated in each `BashExecutionUpdate`.
        exclude: Keep the command and its output from the model; None if nothing was said.
    """

    command: str
    id: str | None = None
    exclude: bool | None = None


class UserBash:
    """Runs commands in the same environment, and with the same care, as the bash tool.

    Args:
        toolbox: Its process groups are used, so that they end together with the tool's.
        context: Directory and environment.
        history: Where results are kept.
        emit: Told of output.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        context: ToolContext,
        *,
        history: History,
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._toolbox = toolbox
        self._context = context
        self._history = history
        self._emit = emit
        self._running: dict[AbortSignal, asyncio.Event] = {}
        self._waiting: list[BashExecutionMessage] = []

    def run(
        self, wanted: UserCommand, is_session_running: Callable[[], bool]
    ) -> Coroutine[Any, Any, BashExecutionMessage]:
        """Run a command to its end; it is stored at once, or by `store_waiting` during a run.

        It can be cancelled from the moment this returns, awaited or not.

        Raises:
            ToolError: If it cannot be started.
            SessionFileError: If it cannot be stored.
        """
        signal = AbortSignal()
        self._running[signal] = asyncio.Event()
        return self._run(wanted, signal, is_session_running)

    async def _run(
        self, wanted: UserCommand, signal: AbortSignal, is_session_running: Callable[[], bool]
    ) -> BashExecutionMessage:
        try:
            message = await self._message(wanted, signal)
            if is_session_running():
                self._waiting.append(message)  # results must follow their calls
            else:
                self._history.add(message)
        finally:
            self._running.pop(signal).set()
        return message

    async def _message(self, wanted: UserCommand, signal: AbortSignal) -> BashExecutionMessage:
        from agent_nb.tools.bash import run_command

        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def hear(data: bytes) -> None:
            text = decoder.decode(data, final=not data)
            if text:
                self._emit(BashExecutionUpdate(text, wanted.id))

        message = BashExecutionMessage(wanted.command, exclude_from_context=wanted.exclude)
        try:
            outcome = await run_command(
                self._toolbox.groups,
                wanted.command,
                replace(self._context, signal=signal),
                hear=hear,
            )
        except Aborted:
            return replace(message, cancelled=True)
        truncation = outcome.output.truncation
        return replace(
            message,
            output=terminal_text(truncation.content),
            exit_code=outcome.exit_code,
            cancelled=outcome.ended == "aborted",
            truncated=truncation.truncated,
            full_output_path=outcome.output.full_output_path,
        )

    def abort(self) -> None:
        """Cancel every running command."""
        for signal in tuple(self._running):
            signal.abort()

    def store_waiting(self) -> None:
        """Store what ended during a run, now that the run has."""
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            self._history.add(message)

    async def close(self) -> None:
        """Cancel every running command; return when all have ended and are stored."""
        self.abort()
        for ended in tuple(self._running.values()):
            await ended.wait()
