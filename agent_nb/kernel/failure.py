"""Failures a cell shows as one clear line instead of a stack of frames."""

from typing import TypeVar

from agent_nb.core.errors import AgentError
from agent_nb.inspect.runs import RunResult

E = TypeVar("E", bound=BaseException)


class CellError(AgentError):
    """An error whose traceback in IPython is its text: the frames would all be ours."""

    def _render_traceback_(self) -> list[str]:
        return one_line(type(self).__name__, str(self))


class AgentUsageError(CellError):
    """What was written after `%agent` cannot be meant; the text says what can be."""


class AgentRunError(CellError):
    """A run could not start, failed, or was stopped; `result` is what there is of it."""

    def __init__(self, message: str, *, result: RunResult | None = None) -> None:
        super().__init__(message)
        self.result = result


def one_line(name: str, text: str) -> list[str]:
    """Return a traceback for IPython that only says `text`."""
    return [f"{name}: {text}"]


def shown_as_line(error: E) -> E:
    """Return `error` itself, which IPython now shows as its name and text."""
    return _shown(error, one_line(type(error).__name__, str(error)))


def shown_as_interrupt(error: E, text: str) -> E:
    """Return `error` itself, which IPython now shows as the one line of an interrupt.

    A `CancelledError` has to stay the object it is: `asyncio.timeout` and task groups know it by
    its type, and a KeyboardInterrupt out of a bare task would end the kernel.
    """
    error.args = (text,)
    return _shown(error, one_line("KeyboardInterrupt", text))


def _shown(error: E, lines: list[str]) -> E:
    vars(error)["_render_traceback_"] = lambda: lines
    return error
