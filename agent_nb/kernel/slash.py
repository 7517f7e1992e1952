"""Slash commands, and the texts that say where things stand and how to ask."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent_nb.kernel.options import OPTIONS

COMMANDS: Mapping[str, str] = {
    "/help": "show this",
    "/new": "begin a new conversation",
    "/model [NAME]": "say which model answers, or use another from now on",
}

_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w-]*)(?:[ \t]+(?P<argument>\S.*?))?\s*")
_SLASH_WORD = re.compile(r"/[A-Za-z][\w:-]*(?=\s|$)")
_NAMES = frozenset(spelling[1:].split()[0] for spelling in COMMANDS)


@dataclass(frozen=True, slots=True)
class Slash:
    """A command as it was written."""

    name: str
    argument: str = ""


def slash_in(text: str) -> Slash | None:
    """Return the command that `text` is; None if it is a prompt.

    >>> slash_in("/model demo/reader")
    Slash(name='model', argument='demo/reader')
    >>> slash_in("/tmp is full, why?") is None
    True
    """
    match = _COMMAND.fullmatch(text)
    if match is None or match["name"] not in _NAMES:
        return None
    return Slash(match["name"], match["argument"] or "")


def unknown_word(text: str) -> str:
    """Return the `/word` a prompt begins with, which may be no command; empty if it has none.

    >>> unknown_word("/undo that"), unknown_word("/etc/hosts has what?")
    ('/undo', '')
    """
    match = _SLASH_WORD.match(text)
    return match[0] if match else ""


def help_text() -> str:
    """Return how to use `%agent`, in Markdown."""
    options = "\n".join(f"- `{option.spelling}`: {option.help}" for option in OPTIONS)
    commands = "\n".join(f"- `{spelling}`: {what}" for spelling, what in COMMANDS.items())
    return f"""\
**Ask** with `%agent your question`, or with `%%agent` and the text below it, as long as you like.
The text goes to the model as it is written: `{{name}}` is not filled in, `await agent.prompt(f"…")`
does that. `r = %agent …` keeps the result.

**Options** come before the text; ` -- ` ends them:

{options}

**Commands** stand alone, as in `%agent /help`:

{commands}

**From Python**: `agent = agent_nb.session()`, then `await agent.prompt("…")`, `agent.messages`,
`agent.turns`, `agent.runs`, `agent.events`, `agent.requests`."""
