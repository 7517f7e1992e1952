"""Server-sent events: bytes in, events out. Source: html.spec.whatwg.org, section 9.2."""

from typing import Any

from agent_nb.core import json_text
from agent_nb.core.errors import ProviderError

Frame = tuple[bytes, bytes]
"""The name after `event:`, empty without one, and the data."""

MOST_EVENT_BYTES = 64 << 20
"""Longer events are no answer but a server gone wrong, which would take all memory."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SseFraming:
    """Cut bytes into events at LF only, whatever the chunks.

    A carriage return before the LF goes; one on its own is no line end, nor is U+2028 in a string.

    Attributes:
        is_between_events: The last event is complete and nothing of the next one is there.
    """

    def __init__(self) -> None:
        self._unfinished: list[bytes] = []
        self._pending_bytes = 0
        self._other_bytes = 0
        self._event = b""
        self._data: list[bytes] = []
        self._other: list[bytes] = []
        self._has_begun = False
        self.is_between_events = False

    @property
    def other(self) -> bytes:
        """The lines that belong to no event: a body that is no event stream is here whole."""
        return b"\n".join(self._other)

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the events that `chunk` completes.

        Raises:
            ProviderError: If an event does not end within 64 MB.
        """
        if self.is_between_events and (frame := _single(chunk)):
            return [frame]
        self._count(len(chunk))
        if b"\n" not in chunk:  # pieces of one long line are joined once, when it ends
            self.is_between_events = False
            self._unfinished.append(chunk)
            return []
        if self._unfinished:
            chunk = b"".join((*self._unfinished, chunk))
            self._unfinished.clear()
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")
        lines = chunk.split(b"\n")
        if rest := lines.pop():
            self._unfinished.append(rest)
        frames = self._frames(lines)
        if frames or self.is_between_events:
            self._pending_bytes = self._other_bytes + len(rest)
        return frames

    def _count(self, added_bytes: int) -> None:
        self._pending_bytes += added_bytes
        if self._pending_bytes > MOST_EVENT_BYTES:
            raise ProviderError(
                f"The server sent an event of more than {MOST_EVENT_BYTES >> 20} MB; is this a "
                "model server?"
            )

    def finish(self) -> list[Frame]:
        """Return the event that the end of the stream completes, if any."""
        rest = b"".join(self._unfinished).removesuffix(b"\r")
        self._unfinished.clear()
        return self._frames([rest, b""])

    def _frames(self, lines: list[bytes]) -> list[Frame]:
        if not self._has_begun:
            self._has_begun = True
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        frames = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
            elif not line:
                if self._data:
                    frames.append((self._event, b"\n".join(self._data)))
                    self._data = []
                self._event = b""
            elif line.startswith(b"event:"):
                self._event = line[6:].strip()
            elif not line.startswith((b":", b"id:", b"retry:")):
                self._other.append(line)
                self._other_bytes += len(line) + 1
        self.is_between_events = not (self._unfinished or self._data or self._event)
        return frames


def _single(chunk: bytes) -> Frame | None:
    """Return the one event that a chunk is, as servers mostly send them; None if it is not."""
    match chunk.split(b"\n"):
        case [data, b"", b""] if data.startswith(b"data: "):
            return b"", data[6:]
        case [event, data, b"", b""] if event.startswith(b"event: ") and data[:6] == b"data: ":
            return event[7:], data[6:]
    return None


def payload(data: bytes) -> Any:
    """Parse an event's data; bytes that are not UTF-8 become U+FFFD.

    Raises:
        ValueError: If it is not JSON.
    """
    try:
        return json_text.loads(data)
    except UnicodeDecodeError:
        return json_text.loads(data.decode("utf-8", "replace"))
