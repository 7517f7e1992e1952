"""A coding agent that lives inside a Jupyter notebook.

Importing this package does no I/O and needs no ipywidgets: the names below load when first used.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import agent_nb.session as _session_package

if TYPE_CHECKING:
    from agent_nb.inspect.runs import RunResult as RunResult
    from agent_nb.kernel.notebook_session import NotebookSession as NotebookSession
    from agent_nb.kernel.notebook_session import session as session
    from agent_nb.session.create import SessionOptions as SessionOptions
    from agent_nb.session.create import create_session as create_session
    from agent_nb.session.run import Budget as Budget
    from agent_nb.session.session import AgentSession as AgentSession

_PLACES = {
    "AgentSession": "agent_nb.session.session",
    "Budget": "agent_nb.session.run",
    "NotebookSession": "agent_nb.kernel.notebook_session",
    "RunResult": "agent_nb.inspect.runs",
    "SessionOptions": "agent_nb.session.create",
    "create_session": "agent_nb.session.create",
}

__all__ = [
    "AgentSession",
    "Budget",
    "NotebookSession",
    "RunResult",
    "SessionOptions",
    "create_session",
    "load_ipython_extension",
    "session",
    "unload_ipython_extension",
]


class _SessionPackage(ModuleType):
    """The subpackage `agent_nb.session`, which is also the function of that name: both have it."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Return a session of this notebook; see `agent_nb.kernel.notebook_session.session`."""
        from agent_nb.kernel.notebook_session import session as open_session

        return open_session(*arguments, **options)


sys.modules[_session_package.__name__].__class__ = _SessionPackage


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """Make `%agent` known: what `%load_ext agent_nb` calls."""
    from agent_nb.kernel.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take `%agent` out again and stop every run: what `%unload_ext agent_nb` calls."""
    from agent_nb.kernel.extension import unload

    unload(shell)
