"""Tab completion after `%agent`: options, commands, and the values that are few."""

import re
from typing import Any

from IPython.core.completer import SimpleCompletion, context_matcher

from agent_nb.core.model import THINKING_LEVELS
from agent_nb.kernel.options import OPTIONS
from agent_nb.kernel.slash import COMMANDS

MATCHER = "agent_nb"

_LINE = re.compile(r"(?:[^#'\"]*=)?\s*%{1,2}agent\s+(?P<written>.*)")
_LEVEL = re.compile(r".*(?:^|\s)(?:--thinking|-t)(?:\s+|=)(?P<begun>\w*)")
_OPTION = re.compile(r"(?:.*\s)?(?P<begun>-[\w-]*)")
_ONLY_OPTIONS = re.compile(r"\s*(?:-\S*\s+(?:[^-\s]\S*\s+)?)*-[\w-]*")


def completions(line: str) -> tuple[str, list[str]]:
    """Return what is begun at the end of `line`, and what it can become.

    >>> completions("r = %agent --max")
    ('--max', ['--max-turns', '--max-cost'])
    >>> completions("%agent why --max")
    ('', [])
    """
    match = _LINE.fullmatch(line)
    written = match["written"] if match else ""
    if re.fullmatch(r"/\w*", written):
        return _matching(written, [spelling.split()[0] for spelling in COMMANDS])
    if level := _LEVEL.fullmatch(written):
        return _matching(level["begun"], THINKING_LEVELS)
    option = _OPTION.fullmatch(written)
    if option and _ONLY_OPTIONS.fullmatch(written):
        return _matching(option["begun"], [name for o in OPTIONS for name in o.names[:1]])
    return "", []


def _matching(begun: str, names: Any) -> tuple[str, list[str]]:
    return begun, [name for name in names if name.startswith(begun)]


@context_matcher(identifier=MATCHER, priority=60)  # type: ignore[untyped-decorator] # IPython's
def matcher(context: Any) -> Any:
    """Complete what is begun after `%agent`; then nothing else is offered."""
    begun, found = completions(context.text_until_cursor)
    return {
        "completions": [SimpleCompletion(name, type="option") for name in found],
        "matched_fragment": begun,
        "suppress": bool(found),
    }
