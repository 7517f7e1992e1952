"""What one pass of the loop needs to know: protocols only, no concrete provider or tool."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import ToolCall
from agent_nb.core.events import TurnEnd
from agent_nb.core.messages import Message
from agent_nb.core.model import Model, ThinkingLevel
from agent_nb.core.provider import Provider, SentRequest
from agent_nb.core.tool import Tool, ToolContext, ToolResult
from agent_nb.loop.queue import MessageQueue


@dataclass(frozen=True, slots=True)
class Blocked:
    """A hook's answer: the call must not run; `reason` goes to the model."""

    reason: str
    terminate: bool = False


BeforeTool = Callable[[ToolCall, Tool, Any], Awaitable[Blocked | None]]
AfterTool = Callable[[ToolCall, ToolResult], Awaitable[ToolResult]]
PrepareTurn = Callable[[], Awaitable[Sequence[Message] | None]]
FinishTurn = Callable[[TurnEnd], Awaitable[bool]]


async def _allow(_call: ToolCall, _tool: Tool, _arguments: Any) -> Blocked | None:
    return None


async def _keep(_call: ToolCall, result: ToolResult) -> ToolResult:
    return result


async def _same_context() -> Sequence[Message] | None:
    return None


async def _go_on(_turn: TurnEnd) -> bool:
    return False


def _unchanged(message: Message) -> Message | None:
    return message


def _ignore(_request: SentRequest) -> None:
    return None


@dataclass(frozen=True)
class LoopConfig:
    """One pass of the loop.

    Attributes:
        provider: Serves the model.
        model: Which is asked.
        system: The system prompt.
        tools: What the model may call.
        thinking_level: How much it should think.
        signal: Stops the pass.
        steering: Taken before each request.
        follow_ups: Taken when the pass would otherwise end.
        tool_context: What tools may use; the loop adds the signal and where updates go.
        before_tool: Asked with the validated arguments; may block the call.
        after_tool: May replace the result.
        prepare_turn: Called between turns; may replace the context (compaction).
        finish_turn: Called after each turn; True ends the pass (a spent budget).
        for_model: Turns a stored message into one a provider knows, or None to leave it out.
        on_sent: Told each exact request.
    """

    provider: Provider
    model: Model = field(default_factory=lambda: Model("scripted", "scripted", "scripted"))
    system: str = ""
    tools: Sequence[Tool] = ()
    thinking_level: ThinkingLevel = "off"
    max_tokens: int | None = None
    session_id: str | None = None
    signal: AbortSignal = field(default_factory=AbortSignal)
    steering: MessageQueue = field(default_factory=MessageQueue)
    follow_ups: MessageQueue = field(default_factory=MessageQueue)
    tool_context: ToolContext = field(
        default_factory=lambda: ToolContext(Path.cwd(), AbortSignal())
    )
    before_tool: BeforeTool = _allow
    after_tool: AfterTool = _keep
    prepare_turn: PrepareTurn = _same_context
    finish_turn: FinishTurn = _go_on
    for_model: Callable[[Message], Message | None] = _unchanged
    on_sent: Callable[[SentRequest], None] = _ignore

    @property
    def declarations(self) -> tuple[Mapping[str, Any], ...]:
        """The tools as the model is told of them."""
        return tuple(tool.declaration for tool in self.tools)

    def tool(self, name: str) -> Tool | None:
        """The tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)
