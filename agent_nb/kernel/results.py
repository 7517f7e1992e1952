"""How results are shown as a cell's value: not again where their view stands already."""

from typing import Any

from agent_nb.kernel.output import Drawn

_TYPES = ("agent_nb.inspect.runs.RunResult", "agent_nb.kernel.handle.Handle")


def show_results_once(shell: Any, drawn: Drawn) -> None:
    """Have a kernel pass over a value whose view stands in the same cell; safe to repeat.

    The value still becomes `_` and `Out[n]`, and is shown as usual in any later cell. A terminal
    shows it, since its `Out[n]: ` would be there anyway.
    """
    if not hasattr(shell, "kernel"):
        return

    def pass_over(value: object) -> None:
        if not drawn.includes(shell.execution_count, value):
            raise NotImplementedError  # IPython's way to say: not here, go on to the next formatter

    for name in _TYPES:
        module, _, cls = name.rpartition(".")
        shell.display_formatter.ipython_display_formatter.for_type_by_name(module, cls, pass_over)


def show_results_always(shell: Any) -> None:
    """Take `show_results_once` back."""
    for name in _TYPES:
        while shell.display_formatter.ipython_display_formatter.pop(name, None):
            pass  # IPython keeps a type by name and, once it was met, by itself
