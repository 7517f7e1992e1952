"""JSON mode: every event as a line on standard output."""

import asyncio
from collections.abc import Sequence
from typing import BinaryIO

from agent_nb.cli.json_events import JsonEvents
from agent_nb.cli.prompts import FirstPrompt
from agent_nb.core import json_text
from agent_nb.core.events import SessionEvent
from agent_nb.session.session import AgentSession


class LineWriter:
    """Writes the lines of one turn of the event loop together."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lines: list[bytes] = []

    def put(self, line: bytes) -> None:
        """Write a line soon."""
        if not self._lines:
            asyncio.get_running_loop().call_soon(self.flush)
        self._lines.append(line)

    def flush(self) -> None:
        """Write what is waiting."""
        lines, self._lines = self._lines, []
        if lines:
            self._out.write(b"".join(lines))
            self._out.flush()


async def run_json(
    session: AgentSession, first: FirstPrompt, prompts: Sequence[str], out: BinaryIO
) -> int:
    """Ask the prompts in order and write the events; 0 also where a run failed, as pi does."""
    writer, events = LineWriter(out), JsonEvents()
    writer.put(json_text.dumps(session.header) + b"\n")

    def write(event: SessionEvent) -> None:
        line = events.line(event)
        if line is not None:
            writer.put(line)

    unsubscribe = session.subscribe(write)
    try:
        await session.prompt(first.text, images=first.images)
        for prompt in prompts:
            await session.prompt(prompt)
    finally:
        unsubscribe()
        writer.flush()
    return 0
