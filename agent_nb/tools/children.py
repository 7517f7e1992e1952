"""Child processes, read as they write."""

import asyncio
import contextlib
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

_BUFFER_BYTES = 1 << 20
_MOST_ERROR_BYTES = 1 << 16
_SILENCE_S = 0.1
_END_S = 1.0


class Child(asyncio.SubprocessProtocol):
    """A running process: what it writes, when it ends, with which code.

    asyncio's own `Process.wait` waits in some Python versions until every heir of the output pipe
    has gone; here the output ends when the process has ended and its pipes have been silent for
    100 ms, so that `server & echo started` comes back.
    """

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self.errors = b""
        self._chunks: list[bytes] = []
        self._buffered_bytes = 0
        self._received = 0
        self._output_ended = False
        self._changed = asyncio.Event()
        self._silence: asyncio.TimerHandle | None = None
        self._open_pipes = 0

    @property
    def pid(self) -> int:
        """The process id; on POSIX also that of its session and process group."""
        pid = self._transport.get_pid()
        assert pid is not None
        return pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, 128 + n after signal n as shells count, None while it runs."""
        code = self._transport.get_returncode()
        return 128 - code if code is not None and code < 0 else code

    async def read(self) -> bytes:
        """Return what was written since the last read, waiting for some; `b""` at the end."""
        while not self._chunks and not self._output_ended:
            self._changed.clear()
            await self._changed.wait()
        data = b"".join(self._chunks)
        self._chunks.clear()
        self._buffered_bytes = 0
        if not self._output_ended:
            self._output_pipe.resume_reading()
        return data

    def close(self) -> None:
        """Stop reading; the process, if it still runs, is killed."""
        self._end_output()
        self._transport.close()

    async def end(self) -> None:
        """Close, and wait for the end of the killed process."""
        self.close()
        with contextlib.suppress(TimeoutError):  # it hangs in the system; nothing more can be done
            async with asyncio.timeout(_END_S):
                await self.exited.wait()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; its pipes are connected by now."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._output_pipe = cast(asyncio.ReadTransport, self._transport.get_pipe_transport(1))
        self._open_pipes = 1 + (self._transport.get_pipe_transport(2) is not None)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Buffer output, and make the process wait while nobody reads."""
        self._received += len(data)
        if fd == 2:
            self.errors = (self.errors + data)[:_MOST_ERROR_BYTES]
            return
        self._chunks.append(data)
        self._buffered_bytes += len(data)
        if self._buffered_bytes > _BUFFER_BYTES:
            self._output_pipe.pause_reading()
        self._changed.set()
        if self.exited.is_set():
            self._await_silence()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that a pipe has ended."""
        self._open_pipes -= 1
        if self._open_pipes == 0:
            self._end_output()

    def process_exited(self) -> None:
        """Note the end of the process; its heirs may still write."""
        self.exited.set()
        self._await_silence()

    def _await_silence(self) -> None:
        if self._silence:
            self._silence.cancel()
        if not self._output_ended:
            loop = asyncio.get_running_loop()
            self._silence = loop.call_later(_SILENCE_S, self._silent)

    def _silent(self) -> None:
        # After a stall of the loop, data that came meanwhile is delivered behind this timer.
        loop = asyncio.get_running_loop()
        loop.call_soon(self._end_if_silent, self._received)

    def _end_if_silent(self, received: int) -> None:
        if self._chunks or received != self._received:
            self._await_silence()
        else:
            self._end_output()

    def _end_output(self) -> None:
        self._output_ended = True
        self._changed.set()
        if self._silence:
            self._silence.cancel()


async def start_child(
    argv: Sequence[str | bytes],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    merge_errors: bool = False,
    executable: str | None = None,
    stdin: int = subprocess.DEVNULL,
) -> Child:
    """Start a process in a session of its own, so that no Ctrl-C reaches it.

    Args:
        argv: Program and arguments.
        cwd: Where it starts.
        environment: All its variables.
        merge_errors: Have what it writes to stderr among its output, in order.
        executable: The program, if it is not the first of `argv`.
        stdin: Descriptor of its input; without it there is none.

    Raises:
        OSError: If it cannot be started.
    """
    _transport, child = await asyncio.get_running_loop().subprocess_exec(
        Child,
        *argv,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge_errors else subprocess.PIPE,
        cwd=cwd,
        env=dict(environment),
        executable=executable,
        start_new_session=True,
    )
    return child
