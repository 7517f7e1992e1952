"""The history as sent, kept between requests: each message is encoded once.

A request's body is `head + b",".join(fragments) + tail`. The list of fragments only ever grows
while requests continue one another, so every `SentRequest` can share it; a request with another
past gets a list of its own.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import takewhile
from operator import is_
from typing import NamedTuple

from agent_nb.core.messages import Message
from agent_nb.core.model import Model
from agent_nb.providers.replay import Unit, units

EncodeUnit = Callable[[Unit, bytes], list[bytes]]
"""Encodes a unit, given the fragment that comes before it."""
Mark = Callable[[bytes], bytes]
"""Returns a last fragment as it reads at the end of a request."""


class Messages(NamedTuple):
    """The messages of one request: `length` shared fragments, then `rest`, comma included."""

    fragments: Sequence[bytes]
    length: int
    rest: bytes


class _Boundary(NamedTuple):
    """The end of a unit: how many messages and fragments there are up to it."""

    messages: int
    fragments: int


class History:
    """The encoded units of the last request; the next one continues them as far as it can."""

    def __init__(self) -> None:
        self._model: Model | None = None
        self._messages: list[Message] = []
        self._boundaries: list[_Boundary] = [_Boundary(0, 0)]
        self._fragments: list[bytes] = []
        self._head = b""

    def shared(self, head: bytes) -> bytes:
        """Return the last request's head if this one is the same, so that it is kept once."""
        if head != self._head:
            self._head = head
        return self._head

    def messages(
        self,
        model: Model,
        messages: Sequence[Message],
        encode: EncodeUnit,
        mark: Mark | None = None,
    ) -> Messages:
        """Encode what is new in `messages`; with `mark` the last fragment is a request's own.

        The same message objects as in the last request are taken as they were encoded then.
        """
        last = self._go_back(self._common(model, messages))
        self._model = model
        open_fragments: list[bytes] = []
        for unit in units(messages, last.messages):
            before = self._fragments[-1] if self._fragments else b""
            encoded = encode(unit, before) if unit.head else []
            if unit.is_open:
                open_fragments = encoded
                break
            self._fragments += encoded
            last = _Boundary(unit.end, len(self._fragments))
            self._boundaries.append(last)
        self._messages += messages[len(self._messages) : last.messages]
        length = len(self._fragments)
        if mark and open_fragments:
            open_fragments[-1] = mark(open_fragments[-1])
        elif mark and self._fragments:
            length -= 1
            open_fragments = [mark(self._fragments[-1])]
        rest = b",".join(open_fragments)
        return Messages(self._fragments, length, b"," + rest if length and rest else rest)

    def _common(self, model: Model, messages: Sequence[Message]) -> int:
        if model != self._model:
            return 0
        if len(messages) >= len(self._messages) and all(map(is_, self._messages, messages)):
            return len(self._messages)
        return sum(1 for _ in takewhile(bool, map(is_, self._messages, messages)))

    def _go_back(self, common: int) -> _Boundary:
        """Forget what comes after the last unit that ends within `common` messages."""
        count = bisect_right(self._boundaries, common, key=lambda boundary: boundary.messages)
        last = self._boundaries[count - 1]
        del self._boundaries[count:]
        del self._messages[last.messages :]
        if last.fragments < len(self._fragments):  # earlier requests keep the list they share
            self._fragments = self._fragments[: last.fragments]
        return last
