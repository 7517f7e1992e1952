"""The IPython extension: what loading puts in and unloading takes out again.

Loading writes no file, opens nothing and starts no thread. All of it is safe to repeat.
"""

from typing import Any

from agent_nb.kernel.completion import MATCHER, matcher
from agent_nb.kernel.magics import AgentMagics
from agent_nb.kernel.results import show_results_plainly, show_results_well
from agent_nb.kernel.runtime import RUNTIME
from agent_nb.kernel.syntax import AWAITED_MAGIC, MAGIC, rewrite


class AgentSyntax:
    """Rewrites the cells of a shell, as an input transformer."""

    has_side_effects = True
    """Not true, but how IPython is told not to call it while it asks whether input is complete."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the lines of a cell with `%agent` rewritten to calls."""
        return rewrite(lines, can_await=self._can_await())

    def _can_await(self) -> bool:
        """Say whether the cell may await: in a kernel, unless a running cell runs this one."""
        shell = self._shell
        inside_a_cell = shell.display_trap.is_active
        return hasattr(shell, "kernel") and shell.autoawait and not inside_a_cell


def load(shell: Any) -> None:
    """Put the magics, the syntax and the display of results into a shell."""
    _take_out(shell)
    # first, so that text is seen before IPython strips prompts from it
    shell.input_transformers_cleanup.insert(0, AgentSyntax(shell))
    shell.register_magics(AgentMagics(shell))
    shell.Completer.custom_matchers.append(matcher)
    show_results_well(shell, RUNTIME.drawn, RUNTIME.secrets)


def unload(shell: Any) -> None:
    """Take out what `load` put in, and stop every run; the sessions stay for a later load."""
    _take_out(shell)
    RUNTIME.stop_runs()


def _take_out(shell: Any) -> None:
    transformers = shell.input_transformers_cleanup
    # by name: after a reload of this module the class is another one
    transformers[:] = [t for t in transformers if type(t).__name__ != AgentSyntax.__name__]
    matchers = shell.Completer.custom_matchers
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", "") != MATCHER]
    for kind in shell.magics_manager.magics.values():
        for name in (MAGIC, AWAITED_MAGIC):
            kind.pop(name, None)
    shell.magics_manager.registry.pop(AgentMagics.__name__, None)
    show_results_plainly(shell)
