"""Options of `%agent`: words with dashes before the text; the text itself is never touched."""

import difflib
import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_nb.core.model import THINKING_LEVELS
from agent_nb.kernel.failure import AgentUsageError


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What the options of one `%agent` say; None or empty where they say nothing.

    Attributes:
        model: `provider/id` or a part of it; stays the session's model.
        thinking: Thinking level; stays the session's level.
        tools: Names of the tools the model gets; they stay the session's tools.
        allow: Effects and tools that need no asking during this run.
        session: Name of a session of this notebook, made when it is first named.
        new: Begin a new conversation first.
        background: Return at once.
        output: Name of the variable that gets the result.
        quiet: Show nothing.
        raw: Show the static form, no widget.
        max_turns: Turns the run may take.
        max_cost_usd: US dollars the run may cost.
        timeout_s: Seconds the run may take.
    """

    model: str | None = None
    thinking: str | None = None
    tools: tuple[str, ...] | None = None
    allow: tuple[str, ...] = ()
    session: str | None = None
    new: bool = False
    background: bool = False
    output: str | None = None
    quiet: bool = False
    raw: bool = False
    max_turns: int | None = None
    max_cost_usd: float | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """One option: how it is written, what it sets, and how its value is read."""

    names: tuple[str, ...]
    field: str
    help: str
    value: str = ""
    read: Callable[[str], Any] | None = None

    @property
    def spelling(self) -> str:
        """How `/help` shows it."""
        return ", ".join(self.names) + (f" {self.value}" if self.value else "")


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name for name in re.split(r"[,\s]+", text) if name)
    if not names:
        raise ValueError("names with commas between them")
    return names


def _thinking(text: str) -> str:
    if text not in THINKING_LEVELS:
        raise ValueError(f"one of {', '.join(THINKING_LEVELS)}")
    return text


def _variable(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise ValueError("the name of a variable")
    return text


def _count(text: str) -> int:
    if not re.fullmatch(r"0*[1-9]\d*", text, re.ASCII):
        raise ValueError("a whole number from 1 on")
    return int(text)


def _amount(text: str) -> float:
    if not re.fullmatch(r"\d*\.?\d+", text, re.ASCII) or not float(text):
        raise ValueError("a number above 0")
    return float(text)


def _seconds(text: str) -> float:
    number, unit = (text[:-1], text[-1]) if text[-1:] in {"s", "m", "h"} else (text, "s")
    try:
        return _amount(number) * {"s": 1, "m": 60, "h": 3600}[unit]
    except ValueError:
        raise ValueError("seconds, or a number with s, m or h") from None


OPTIONS: tuple[Option, ...] = (
    Option(("--model", "-m"), "model", "answer with this model from now on", "MODEL", str),
    Option(("--thinking", "-t"), "thinking", "thinking level from now on", "LEVEL", _thinking),
    Option(("--tools",), "tools", "tools the model has from now on", "NAMES", _names),
    Option(
        ("--allow",),
        "allow",
        "let these tools or effects run in this run (write, execute, bash, …)",
        "NAMES",
        _names,
    ),
    Option(("--session", "-s"), "session", "use another session of this notebook", "NAME", str),
    Option(("--new",), "new", "begin a new conversation first"),
    Option(("--background", "-b"), "background", "do not wait for the end of the run"),
    Option(("--output", "-o"), "output", "bind the result to this variable", "NAME", _variable),
    Option(("--quiet",), "quiet", "show nothing"),
    Option(("--raw",), "raw", "show the static form, without buttons"),
    Option(("--max-turns",), "max_turns", "stop after so many turns", "N", _count),
    Option(("--max-cost",), "max_cost_usd", "stop after so many US dollars", "USD", _amount),
    Option(("--timeout",), "timeout_s", "stop after so long", "SECONDS", _seconds),
)

_BY_NAME: Mapping[str, Option] = {name: option for option in OPTIONS for name in option.names}
_WORD = re.compile(r"(?P<name>--[A-Za-z][\w-]*|-[A-Za-z])(?P<equals>=)?(?=\s|$|(?<==))")
_VALUE = re.compile(r"\"([^\"]*)\"|'([^']*)'|(\S+)")
_HINT = "Text that begins with a dash goes after ` -- `."


def parse_options(line: str) -> tuple[AgentOptions, str]:
    """Cut the options off the front of `line`; the rest is text, as it was written.

    Raises:
        AgentUsageError: If there is no such option, or its value is missing or cannot be meant.

    >>> parse_options("--quiet --timeout 2m why -- is it slow?")[1]
    'why -- is it slow?'
    """
    found: dict[str, Any] = {}
    rest = line.lstrip()
    while rest.startswith("-"):
        if re.match(r"--(?:\s|$)", rest):
            return AgentOptions(**found), rest[2:].lstrip()
        word = _WORD.match(rest)
        if word is None:
            break
        option = _option(word["name"])
        value, rest = _value(option, word, rest[word.end() :])
        if isinstance(value, tuple):
            value = (*found.get(option.field, ()), *value)
        found[option.field] = value
    return AgentOptions(**found), rest


def _option(name: str) -> Option:
    if option := _BY_NAME.get(name):
        return option
    near = difflib.get_close_matches(name, _BY_NAME, n=1)
    hint = f"; the nearest is {near[0]}" if near else ""
    raise AgentUsageError(f"There is no option {name}{hint}. {_HINT}")


def _value(option: Option, word: re.Match[str], after: str) -> tuple[Any, str]:
    name = word["name"]
    if option.read is None:
        if word["equals"]:
            raise AgentUsageError(f"{name} takes no value.")
        return True, after.lstrip()
    match = _VALUE.match(after if word["equals"] else after.lstrip())
    text = next((group for group in match.groups() if group is not None), "") if match else ""
    if match is None or not text or (text.startswith("-") and not word["equals"]):
        raise AgentUsageError(f"{name} needs a value: {name} {option.value}.")
    try:
        value = option.read(text)
    except ValueError as error:
        raise AgentUsageError(f"{name} {text}: expected {error}.") from None
    return value, match.string[match.end() :].lstrip()
