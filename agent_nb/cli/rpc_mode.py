"""RPC mode: commands on standard input, responses and events on standard output, one JSON a line.

Source: pi 1.6.0, docs/rpc.md.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from agent_nb.cli.rpc_handlers import HANDLERS
from agent_nb.cli.rpc_pipes import RecordWriter, read_lines
from agent_nb.cli.rpc_server import RpcServer
from agent_nb.session.create import SessionOptions
from agent_nb.session.session import AgentSession

_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)
_NOBODY_READS = 1


async def run_rpc(
    session: AgentSession, options: SessionOptions, *, commands: int, records: int
) -> int:
    """Serve a client until its commands end or a signal comes.

    Args:
        session: The first session; it is disposed of.
        options: What later sessions are made with.
        commands: File descriptor the commands are read from.
        records: File descriptor records are written to.

    Returns:
        The exit code: 0 at the end of the commands, 128 + n after signal n.
    """
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()

    def stop(code: int) -> None:
        if not stopped.done():
            stopped.set_result(code)

    writer = RecordWriter(records, lambda: stop(_NOBODY_READS))
    server = RpcServer(
        session, options, writer.put, handlers=HANDLERS, is_behind=lambda: writer.is_behind
    )
    with _signals_call(stop):
        serving = asyncio.create_task(_serve(server, commands))
        either: set[asyncio.Future[Any]] = {serving, stopped}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        code = stopped.result() if stopped.done() else 0  # a signal from now on changes nothing
        serving.cancel()
        await asyncio.wait({serving})
        await server.close()
        await writer.close()
        if not serving.cancelled():
            serving.result()
    return code


async def _serve(server: RpcServer, commands: int) -> None:
    lines = read_lines(commands)
    while (line := await lines.get()) is not None:
        await server.handle(line)


@contextlib.contextmanager
def _signals_call(stop: Callable[[int], None]) -> Iterator[None]:
    """Stop at the first signal; a second one ends the process at once, as in pi."""
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def receive(number: int) -> None:
        seen.append(number)
        if len(seen) > 1:
            os._exit(128 + number)
        stop(128 + number)

    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers in asyncio
        for number in _SIGNALS:
            loop.add_signal_handler(number, receive, number)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError):
            for number in _SIGNALS:
                loop.remove_signal_handler(number)


@contextlib.contextmanager
def private_output() -> Iterator[int]:
    """Keep standard output for records: whatever else writes there goes to standard error.

    Yields:
        The file descriptor for records.
    """
    sys.stdout.flush()
    records = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        yield records
    finally:
        sys.stdout.flush()
        os.dup2(records, sys.stdout.fileno())
        os.close(records)
