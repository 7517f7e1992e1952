"""How results are shown as a cell's value: as a picture, and once."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agent_nb.core.secrets import secret_values
from agent_nb.inspect.runs import RunResult
from agent_nb.kernel.output import Drawn
from agent_nb.providers.demo_model import DEMO_MODEL
from agent_nb.render.words import words

_RESULT = ("agent_nb.inspect.runs", "RunResult")
_HANDLE = ("agent_nb.kernel.handle", "Handle")


def picture_of(result: RunResult, secrets: Iterable[str] = ()) -> dict[str, str]:
    """Return a run as a MIME bundle that needs no kernel, as its view leaves it in a notebook.

    Keys of the environment and `secrets` are masked in it.
    """
    from agent_nb.render.bundle import static_bundle
    from agent_nb.render.history import transcript_of

    transcript = transcript_of(
        result.messages,
        outcome=result.outcome,
        duration_s=result.duration_s,
        model=result.model,
        model_note=model_note(result.model),
        language=language_of(os.environ),
        error=result.error or "",
    )
    return static_bundle(transcript, secrets=secret_values(os.environ, secrets))


def model_note(key: str) -> str:
    """Return what must be said of a model wherever it is named: that the demo is none."""
    return words(language_of(os.environ))("model.demo") if key == DEMO_MODEL.key else ""


def language_of(environment: Mapping[str, str]) -> str:
    """Return the user's language as the environment has it; `AGENT_NB_LANGUAGE` comes first.

    >>> language_of({"LANG": "zh_CN.UTF-8"})
    'zh_CN'
    """
    for name in ("AGENT_NB_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return environment[name].partition(".")[0]
    return "en"


def show_results_well(shell: Any, drawn: Drawn, secrets: Callable[[], Iterable[str]]) -> None:
    """Have a kernel show results as pictures, but not where their view stands already.

    `secrets` gives what must not be shown, each time one is.
    Such a value still becomes `_` and `Out[n]`, and is shown in any later cell. A terminal shows
    it at once, since its `Out[n]: ` would be there anyway. Safe to repeat.
    """
    if not hasattr(shell, "kernel"):
        return

    def pass_over(value: object) -> None:
        if not drawn.includes(shell.execution_count, value):
            raise NotImplementedError  # IPython's way to say: not here, go on to the next formatter

    def picture(result: RunResult, **_options: object) -> dict[str, str]:
        """Draw a result; its `text/plain` stays the repr, which is short."""
        return {**picture_of(result, secrets()), "text/plain": repr(result)}

    formatter = shell.display_formatter
    formatter.ipython_display_formatter.for_type_by_name(*_RESULT, pass_over)
    formatter.ipython_display_formatter.for_type_by_name(*_HANDLE, pass_over)
    formatter.mimebundle_formatter.for_type_by_name(*_RESULT, picture)


def show_results_plainly(shell: Any) -> None:
    """Take `show_results_well` back."""
    formatters = shell.display_formatter
    for formatter in (formatters.ipython_display_formatter, formatters.mimebundle_formatter):
        for name in (_RESULT, _HANDLE):
            while formatter.pop(".".join(name), None):
                pass  # IPython keeps a type by name and, once it was met, by itself
