"""The two pipes of RPC mode: lines in, records out, each with a thread of its own.

The event loop reads and writes neither itself: a client that is silent, or does not read, holds up
nothing.
"""

import asyncio
import contextlib
import logging
import os
import queue
import threading
from collections.abc import Callable, Sequence

_READ_BYTES = 1 << 16
_LAST_RECORDS_S = 2.0
_BEHIND_BYTES = 8 << 20

logger = logging.getLogger(__name__)


class LineFraming:
    r"""Cut bytes into lines at LF only: U+2028 is data. A CR before the LF is left out.

    >>> framing = LineFraming()
    >>> framing.feed(b'{"a"'), framing.feed(b":1}\r\n{"), framing.rest()
    ([], [b'{"a":1}'], [b'{'])
    """

    def __init__(self) -> None:
        self._part = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes."""
        if b"\n" not in data:
            self._part += data
            return []
        *whole, part = (bytes(self._part) + data).split(b"\n")
        self._part = bytearray(part)
        return [line.removesuffix(b"\r") for line in whole]

    def rest(self) -> list[bytes]:
        """Return the last line if it has no end."""
        part, self._part = bytes(self._part), bytearray()
        return [part.removesuffix(b"\r")] if part else []


def read_lines(descriptor: int) -> "asyncio.Queue[bytes | None]":
    """Read a file descriptor to its end, whatever it is; the queue gets its lines, then None."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def put(items: Sequence[bytes | None]) -> None:
        for item in items:
            lines.put_nowait(item)

    def read() -> None:
        framing = LineFraming()
        try:
            while data := os.read(descriptor, _READ_BYTES):
                _post(loop, put, framing.feed(data))
        except OSError as error:
            logger.warning("Commands cannot be read any more: %s", error)
        _post(loop, put, [*framing.rest(), None])

    # A daemon: nothing can end a thread that waits for input.
    threading.Thread(target=read, name="rpc-input", daemon=True).start()
    return lines


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *values: object) -> None:
    """Call back on the loop, from a thread that may outlive it."""
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for this
        loop.call_soon_threadsafe(callback, *values)


class RecordWriter:
    """Writes records in order; those that wait together are written together.

    Args:
        descriptor: Where to.
        on_broken: Called on the event loop if nobody reads any more.
    """

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._records: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._put_bytes = 0  # changed by the event loop alone
        self._written_bytes = 0  # changed by the thread alone
        self._thread = threading.Thread(target=self._write_all, name="rpc-output", daemon=True)
        self._thread.start()

    def put(self, record: bytes) -> None:
        """Write a record soon."""
        self._put_bytes += len(record)
        self._records.put(record)

    @property
    def is_behind(self) -> bool:
        """Whether more than 8 MB wait: time to leave out what the client can do without."""
        return self._put_bytes - self._written_bytes > _BEHIND_BYTES

    async def close(self) -> None:
        """Write what waits; a client that reads nothing is given up after two seconds."""
        self._records.put(None)
        await asyncio.to_thread(self._thread.join, _LAST_RECORDS_S)

    def _write_all(self) -> None:
        ended = False
        while not ended:
            waiting = [self._records.get()]
            while not self._records.empty():
                waiting.append(self._records.get())
            ended = None in waiting
            try:
                self._write(b"".join(record for record in waiting if record is not None))
            except OSError:
                _post(self._loop, self._on_broken)
                return

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            count = os.write(self._descriptor, view)
            self._written_bytes += count
            view = view[count:]
