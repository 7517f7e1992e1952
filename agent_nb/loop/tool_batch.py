"""The tool calls of one answer: prepared in order, run side by side, reported in pi's order.

Source: pi-agent-core 1.6.0, `agent-loop` (`executeToolCalls`).
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError

from agent_nb.core.abort import Aborted
from agent_nb.core.content import ToolCall
from agent_nb.core.errors import ToolError
from agent_nb.core.events import (
    AgentEvent,
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from agent_nb.core.messages import AssistantMessage, ToolResultMessage
from agent_nb.core.tool import Tool, ToolContext, ToolResult
from agent_nb.loop.config import LoopConfig

logger = logging.getLogger(__name__)

ABORT_GRACE_S = 1.0
"""How long a tool may take to stop by itself before it is cancelled."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    index: int
    call: ToolCall
    tool: Tool
    arguments: BaseModel


class ToolBatch:
    """The calls of one answer: iterate `events`, then read `results`."""

    def __init__(self, answer: AssistantMessage, config: LoopConfig) -> None:
        self._answer = answer
        self._config = config
        self._ended: dict[int, ToolExecutionEnd] = {}  # by position: ids may repeat
        self.results: list[ToolResultMessage] = []

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The calls to answer; none where the answer failed."""
        failed = self._answer.stop_reason in {"error", "aborted"}
        return () if failed else self._answer.tool_calls

    @property
    def terminate(self) -> bool:
        """Whether every tool asked for the pass to end here."""
        ends = self._ended.values()
        return bool(ends) and all(end.result.terminate for end in ends)

    async def events(self) -> AsyncIterator[AgentEvent]:
        """Run the calls and yield what happens."""
        calls = list(enumerate(self.calls))
        one_by_one = self._answer.stop_reason == "length" or any(
            tool.sequential for _, call in calls if (tool := self._config.tool(call.name))
        )
        for group in [[call] for call in calls] if one_by_one else [calls]:
            async for event in self._run(group):
                yield event
            for index, _call in group:
                message = _message(self._ended[index])
                yield MessageStart(message)
                yield MessageEnd(message)
                self.results.append(message)

    async def _run(self, calls: Sequence[tuple[int, ToolCall]]) -> AsyncIterator[AgentEvent]:
        ready: list[_Prepared] = []
        for index, call in calls:
            yield ToolExecutionStart(call.id, call.name, call.arguments)
            prepared = await self._prepare(index, call)
            if isinstance(prepared, ToolResult):
                yield self._end(index, call, prepared)
            else:
                ready.append(prepared)
        if ready:
            async for event in self._execute(ready):
                yield event

    async def _prepare(self, index: int, call: ToolCall) -> _Prepared | ToolResult:
        """Return what is needed to run the call, or the error result that takes its place."""
        signal = self._config.signal
        if signal.aborted:
            return _error("Operation aborted")
        if self._answer.stop_reason == "length":
            return _error(
                f"{call.name} was not run: the answer reached the output limit, so its arguments "
                "may be cut off. Call it again with complete arguments."
            )
        tool = self._config.tool(call.name)
        if tool is None:
            return _error(f"Tool {call.name} not found")
        try:
            arguments = _validated(tool, call)
            blocked = await signal.guard(self._config.before_tool(call, tool, arguments))
        except ToolError as error:
            return _error(str(error))
        except Aborted:
            return _error("Operation aborted")
        except Exception as error:  # a hook of an extension: the call still gets its result
            logger.exception("The hook before %s failed", call.name)
            return _error(f"{call.name} was not run: {type(error).__name__}: {error}")
        if blocked:
            return replace(_error(blocked.reason), terminate=blocked.terminate)
        return _Prepared(index, call, tool, arguments)

    async def _execute(self, ready: Sequence[_Prepared]) -> AsyncIterator[AgentEvent]:
        """Run prepared calls side by side; yield updates and ends as they come."""
        happened: asyncio.Queue[ToolExecutionUpdate | ToolExecutionEnd] = asyncio.Queue()
        tasks = [asyncio.create_task(self._call(item, happened)) for item in ready]
        loop = asyncio.get_running_loop()

        def cancel_late() -> None:
            loop.call_later(ABORT_GRACE_S, lambda: [task.cancel() for task in tasks])

        forget = self._config.signal.on_abort(cancel_late)
        try:
            left = len(tasks)
            while left:
                event = await happened.get()
                if isinstance(event, ToolExecutionEnd):
                    left -= 1
                yield event
        finally:
            forget()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(
        self,
        item: _Prepared,
        happened: "asyncio.Queue[ToolExecutionUpdate | ToolExecutionEnd]",
    ) -> None:
        call, signal = item.call, self._config.signal

        def update(partial: ToolResult) -> None:
            happened.put_nowait(ToolExecutionUpdate(call.id, call.name, call.arguments, partial))

        context = replace(self._config.tool_context, signal=signal, update=update)
        started = time.monotonic()
        try:
            result = await self._result(item, context)
        except asyncio.CancelledError:
            if not signal.aborted:
                raise
            result = _error("Operation aborted")
        duration_ms = round((time.monotonic() - started) * 1000)
        happened.put_nowait(self._end(item.index, call, result, duration_ms))

    async def _result(self, item: _Prepared, context: ToolContext) -> ToolResult:
        try:
            result = await item.tool.execute(item.arguments, context)
        except Aborted:
            result = _error("Operation aborted")
        except ToolError as error:
            result = _error(str(error))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises, the model reads it
            result = _error(f"{type(error).__name__}: {error}")
        try:
            return await self._config.after_tool(item.call, result)
        except Exception:  # a hook of an extension: the result stays as the tool gave it
            logger.exception("The hook after %s failed", item.call.name)
            return result

    def _end(
        self, index: int, call: ToolCall, result: ToolResult, duration_ms: int | None = None
    ) -> ToolExecutionEnd:
        end = ToolExecutionEnd(call.id, call.name, result, result.is_error, duration_ms)
        self._ended[index] = end
        return end


def _validated(tool: Tool, call: ToolCall) -> BaseModel:
    if call.arguments_error:
        raise ToolError(f'Invalid arguments for tool "{call.name}": {call.arguments_error}')
    raw: Any = call.arguments
    if tool.prepare:
        raw = tool.prepare(raw)
    try:
        return tool.arguments.model_validate(raw)
    except ValidationError as error:
        problems = "\n".join(
            f"  - {'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        )
        received = str(dict(call.arguments))
        clipped = received if len(received) <= 2_000 else received[:2_000] + "…"
        raise ToolError(
            f'Invalid arguments for tool "{call.name}":\n{problems}\n\nReceived:\n{clipped}'
        ) from error


def _error(text: str) -> ToolResult:
    return ToolResult.of(text, is_error=True)


def _message(end: ToolExecutionEnd) -> ToolResultMessage:
    return ToolResultMessage(
        end.tool_call_id,
        end.tool_name,
        end.result.content,
        end.result.details,
        None,
        end.is_error,
        end.duration_ms,
    )
