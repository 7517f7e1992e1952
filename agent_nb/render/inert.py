"""Make text harmless to look at: no terminal codes, no hidden characters, no endless length."""

import re
from collections.abc import Iterable

from agent_nb.core.json_text import is_encodable, join_surrogates
from agent_nb.core.secrets import MASK, mask

_TERMINAL_CODES = re.compile(
    r"""(?x)
    (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]                 # CSI: colours, cursor
  | \x1b[\]PX^_][^\x07\x1b\n]{0,2000}(?:\x1b\\|\x07)  # OSC, DCS and the like
  | \x1b[@-_]
    """
)
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]")

_LONE_HALVES = re.compile("[\ud800-\udfff]")
_INVISIBLE = re.compile(f"{_HIDDEN.pattern}|[\u00ad\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff]")


def inert(text: str) -> str:
    r"""Return `text` with control and direction characters made visible, terminal codes removed.

    >>> inert("a\x1b[31mb\u202ec\x00")
    'ab<U+202E>c<U+0000>'
    """
    if text.isascii() and text.isprintable():
        return text
    text = whole_characters(text)
    text = _TERMINAL_CODES.sub("", text).replace("\r\n", "\n")
    return _HIDDEN.sub(_shown, text)


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    r"""Return `text` inert and with its secrets masked, also where hidden characters split them.

    >>> without_secrets("hunter2\x1b[1mhunter2, hunter2\x00hunter2", ["hunter2hunter2"])
    '•••, •••'
    """
    shown = mask(inert(text), secrets)
    if text.isascii() and text.isprintable():
        return shown
    bare = mask(_INVISIBLE.sub("", _TERMINAL_CODES.sub("", whole_characters(text))), secrets)
    return bare if bare.count(MASK) > shown.count(MASK) else shown


def whole_characters(text: str) -> str:
    """Return `text` as valid Unicode: surrogate halves joined, or U+FFFD where one stands alone."""
    if is_encodable(text):
        return text
    return _LONE_HALVES.sub("\ufffd", join_surrogates(text))


def terminal_text(text: str) -> str:
    r"""Return a program's output as a terminal would show it: `\r` starts its line again.

    >>> terminal_text("10 %\r20 %\rdone\n")
    'done\n'
    """
    return inert(overwritten(text))


def overwritten(text: str) -> str:
    """Return what is left of a program's output where it started lines again."""
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    return "\n" if character == "\r" else f"<U+{ord(character):04X}>"


def clip(text: str, size: int) -> tuple[str, int, str]:
    r"""Cut the middle out of a text of more than `size` characters, at line ends where there are.

    Returns:
        The head, how many lines are left out (at least 1 where something is), and the tail.

    >>> clip("one\ntwo\nthree\nfour", 12)
    ('one\ntwo', 1, 'four')
    >>> clip("short", 12)
    ('short', 0, '')
    """
    if len(text) <= size:
        return text, 0, ""
    head, tail = text[: size * 2 // 3], text[-(size // 3) :] if size >= 3 else ""
    head = head[: head.rfind("\n")] if "\n" in head else head
    tail = tail[tail.find("\n") + 1 :] if "\n" in tail else tail
    left_out = text[len(head) : len(text) - len(tail)]
    return head, max(1, left_out.strip("\n").count("\n") + 1), tail


def tail_of(text: str, size: int) -> str:
    """Return the last lines of `text`, at most `size` characters."""
    if len(text) <= size:
        return text
    text = text[-size:]
    return text[text.find("\n") + 1 :] if "\n" in text[:-1] else text
