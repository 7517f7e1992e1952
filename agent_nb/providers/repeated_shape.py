"""Deltas that differ from the one before in nothing but their text need no parsing.

An answer is thousands of small events with the same bytes around each piece of text. Taking them
apart and parsing them would be a good part of what a delta costs.
"""

import re
from collections.abc import Sequence
from typing import cast

from agent_nb.core.events import ProviderEvent, TextDelta

_TEXT = re.compile(rb'"(?:content|text)":\s*"([^"\\]*)"')
_PLAIN = rb'([^"\\\x00-\x1f]+)'
_MOST_TRIES = 64


class RepeatedShape:
    """Remembers the bytes around the text in a network read that was one text delta.

    The text is a JSON string without escapes. Whatever stands there instead, without a quote, a
    backslash or a control character, is the same event with another text.
    """

    def __init__(self) -> None:
        self._shape: re.Pattern[bytes] | None = None
        self._index = 0
        self._tries = 0

    def delta(self, chunk: bytes) -> TextDelta | None:
        """Return the delta a read is, or None if it has another shape or must be parsed."""
        if self._shape is None or (found := self._shape.fullmatch(chunk)) is None:
            return None
        try:
            return TextDelta(self._index, found[1].decode())
        except UnicodeDecodeError:
            return None

    def learn(self, events: Sequence[ProviderEvent], chunk: bytes | None) -> None:
        """Take note of what was read; `chunk` is given where it was whole events and no more.

        A server that changes something in every event is given up after some tries.
        """
        if not all(type(event) is TextDelta for event in events):
            self._shape = None  # a block may have ended: the same bytes could mean another thing
        elif chunk and len(events) == 1 and self._tries < _MOST_TRIES:
            self._tries += 1
            self._try(chunk, cast("TextDelta", events[0]))

    def _try(self, chunk: bytes, delta: TextDelta) -> None:
        found = list(_TEXT.finditer(chunk))
        if len(found) == 1 and found[0][1] == delta.delta.encode("utf-8", "replace"):
            before, after = chunk[: found[0].start(1)], chunk[found[0].end(1) :]
            self._shape = re.compile(re.escape(before) + _PLAIN + re.escape(after))
            self._index = delta.content_index
