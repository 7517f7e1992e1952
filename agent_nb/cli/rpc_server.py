"""Answer the commands of RPC mode, and pass on what happens. Source: pi 1.6.0, docs/rpc.md.

Commands are handled in the order in which they come; `prompt` and `bash` go on in the background.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_nb.cli import rpc_commands as shapes
from agent_nb.cli.json_events import JsonEvents
from agent_nb.core import json_text
from agent_nb.core.errors import AgentError, ConfigError
from agent_nb.core.events import BashExecutionUpdate, SessionEvent, ToolExecutionUpdate
from agent_nb.session.context import branch_state
from agent_nb.session.create import SessionOptions, create_session
from agent_nb.session.session import AgentSession
from agent_nb.session.store import SessionStore

logger = logging.getLogger(__name__)

Reply = Mapping[str, Any]
"""What a response has besides its head: `{}`, or `{"data": …}`."""

DONE: Reply = {}


@dataclass(frozen=True, slots=True)
class Handler:
    """What a command looks like and what does it; None means that it is answered later."""

    run: Callable[["RpcServer", Any], Reply | Awaitable[Reply | None] | None]
    shape: type[shapes.Command] = shapes.Command


class RpcServer:
    """Serves one client, with one session at a time.

    Args:
        session: The first one.
        options: What later ones are made with.
        put: Takes each record, a line of JSON.
        handlers: What to do for each `type` of command.
        is_behind: Whether the client reads too slowly; then the running output of commands, which
            has no end, is left out. The result has the last of it.
    """

    def __init__(
        self,
        session: AgentSession,
        options: SessionOptions,
        put: Callable[[bytes], None],
        *,
        handlers: Mapping[str, Handler],
        is_behind: Callable[[], bool] = lambda: False,
    ) -> None:
        self._options = options
        self._handlers = handlers
        self._is_behind = is_behind
        self._put = put
        self._background: set[asyncio.Task[None]] = set()
        self._bind(session)

    async def handle(self, line: bytes) -> None:
        """Do what a line asks for, and answer it."""
        try:
            data = json_text.loads(line)
        except ValueError as error:
            self.answer("parse", error=f"Failed to parse command: {error}")
            return
        if not isinstance(data, dict):
            self.answer("parse", error=f"A command is a JSON object, not {line[:40]!r}.")
            return
        name, ident = data.get("type"), data.get("id")
        if name == "extension_ui_response":
            return  # nothing was asked; pi passes over it as well
        try:
            reply = await self._do(name, data)
        except ValidationError as error:
            self.answer(name, ident, error=_problem(error))
        except (AgentError, OSError) as error:
            self.answer(name, ident, error=str(error))
        else:
            if reply is not None:
                self.answer(name, ident, reply)

    def answer(
        self, name: Any, ident: Any = None, reply: Reply = DONE, *, error: str | None = None
    ) -> None:
        """Write the response to a command."""
        record = {"type": "response", "command": name, "success": error is None, **reply}
        if error is not None:
            record["error"] = error
        head = {} if ident is None else {"id": ident}
        self._put(json_text.dumps({**head, **record}) + b"\n")

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something go on in the background."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._ended)

    async def replace(self, make: Callable[[], SessionStore], cwd: Path | None = None) -> None:
        """Go on with another session; if that cannot be made, with this one.

        What runs is aborted first, so that the old session holds all of it.

        Raises:
            ConfigError: If the new one cannot be made.
            SessionFileError: If it cannot be read.
        """
        await self._come_to_rest()
        old, store = self.session, make()
        used = branch_state(store).model is not None and cwd is not None
        new = await create_session(
            self._options,
            store=store,
            cwd=cwd or old.cwd,
            model=None if used else old.model.key,
            provider=None,
            thinking=None if used else old.thinking_level,
            trusted=self._options.trusted and cwd in {None, old.cwd},
        )
        new.queues.steering.mode = old.queues.steering.mode
        new.queues.follow_ups.mode = old.queues.follow_ups.mode
        new.set_auto_retry(enabled=old.settings.retry.enabled)
        self._unsubscribe()
        self._bind(new)
        for report in new.reports:
            logger.warning("%s", report)
        await old.dispose()

    async def close(self) -> None:
        """Stop what runs, without a word, and let go of the session; what happened is stored."""
        self._unsubscribe()
        self._put = _drop
        await self._come_to_rest()
        await self.session.dispose()

    async def _do(self, name: Any, data: Mapping[str, Any]) -> Reply | None:
        if not isinstance(name, str):
            raise ConfigError('A command needs a "type" that is a string.')
        handler = self._handlers.get(name)
        if handler is None:
            raise ConfigError(shapes.NOT_YET.get(name, f"Unknown command: {name}"))
        given = {key: value for key, value in data.items() if value is not None}
        reply = handler.run(self, handler.shape.model_validate(given))
        return await reply if isinstance(reply, Awaitable) else reply

    def _bind(self, session: AgentSession) -> None:
        self.session = session
        events = JsonEvents()

        def write(event: SessionEvent) -> None:
            if isinstance(event, BashExecutionUpdate | ToolExecutionUpdate) and self._is_behind():
                return
            line = events.line(event)
            if line is not None:
                self._put(line)

        self._unsubscribe = session.subscribe(write)

    async def _come_to_rest(self) -> None:
        self.session.abort_bash()
        await self.session.abort()
        if self._background:
            await asyncio.wait(self._background)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("A command failed", exc_info=error)


def _drop(_record: bytes) -> None:
    return None


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
