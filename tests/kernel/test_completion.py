"""Tab after `%agent`."""

from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter

from agent_nb.kernel.completion import completions
from agent_nb.kernel.options import OPTIONS

EVERY_OPTION = [option.names[0] for option in OPTIONS]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%agent --", EVERY_OPTION),
        ("%%agent --", EVERY_OPTION),
        ("r = %agent --m", ["--model", "--max-turns", "--max-cost"]),
        ("    d['x'] = %agent --th", []),
        ("    %agent --model demo/reader --quiet --ti", ["--timeout"]),
        ("%agent --thinking m", ["minimal", "medium"]),
        ("%agent -t ", ["off", "minimal", "low", "medium", "high", "xhigh"]),
        ("%agent /", ["/help", "/new", "/model"]),
        ("%agent /n", ["/new"]),
        ("%agent what does --mo", []),
        ("%agent ", []),
        ("%agents --m", []),
        ("x --m", []),
        ("# %agent --m", []),
        ("--m", []),
    ],
)
def test_what_is_offered(line: str, found: list[str]) -> None:
    assert completions(line)[1] == found


def offered(shell: Any, text: str) -> list[str]:
    with provisionalcompleter():
        return [found.text for found in shell.Completer.completions(text, len(text))]


def test_a_shell_offers_nothing_else(shell: Any) -> None:
    assert offered(shell, "x = 1\nr = %agent --max") == ["--max-cost", "--max-turns"]


def test_a_shell_completes_the_magic_itself(shell: Any) -> None:
    assert "%agent" in offered(shell, "%age")


def test_unloading_takes_the_matcher_out(shell: Any) -> None:
    before = len(shell.Completer.custom_matchers)
    shell.run_cell("%reload_ext agent_nb").raise_error()
    assert len(shell.Completer.custom_matchers) == before
    shell.run_cell("%unload_ext agent_nb").raise_error()
    assert len(shell.Completer.custom_matchers) == before - 1
