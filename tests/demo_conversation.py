"""A conversation with demo/reader in a directory: the whole loop and the real tools."""

from dataclasses import dataclass, field
from pathlib import Path

from agent_nb.core.abort import AbortSignal
from agent_nb.core.messages import AssistantMessage, Message, UserMessage
from agent_nb.core.tool import ToolContext
from agent_nb.inspect.turns import turns_of
from agent_nb.loop.config import LoopConfig
from agent_nb.loop.run import run_loop
from agent_nb.providers.demo import DEMO_MODEL, DemoProvider
from agent_nb.tools.find import find_tool
from agent_nb.tools.grep import grep_tool
from agent_nb.tools.ls import ls_tool
from agent_nb.tools.read import read_tool


@dataclass
class Conversation:
    """Asks demo/reader in a directory, one question after the other."""

    cwd: Path
    messages: list[Message] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    async def ask(self, question: str) -> str:
        config = LoopConfig(
            DemoProvider(0),
            DEMO_MODEL,
            tools=(read_tool, ls_tool, find_tool, grep_tool),
            tool_context=ToolContext(self.cwd, AbortSignal()),
        )
        new: tuple[Message, ...] = ()
        async for event in run_loop(self.messages, [UserMessage.of(question)], config):
            if event.type == "agent_end":
                new = event.messages
        self.messages += new
        self.calls = [call.name for turn in turns_of(new) for call in turn.tool_calls]
        answer = new[-1]
        assert isinstance(answer, AssistantMessage)
        assert answer.stop_reason == "stop", answer.error_message
        return answer.text
