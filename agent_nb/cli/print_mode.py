"""Print mode: only the last answer's text, or an error on standard error and exit code 1."""

from collections.abc import Sequence
from typing import BinaryIO, TextIO

from agent_nb.cli.prompts import FirstPrompt
from agent_nb.core.content import TextContent
from agent_nb.core.messages import AssistantMessage
from agent_nb.session.session import AgentSession


async def run_print(
    session: AgentSession,
    first: FirstPrompt,
    prompts: Sequence[str],
    out: BinaryIO,
    errors: TextIO,
) -> int:
    """Ask the prompts in order; write the last answer. A person is told which model answers."""
    if errors.isatty():
        errors.write(f"{session.choice.introduction()}\n")
    result = await session.prompt(first.text, images=first.images)
    for prompt in prompts:
        result = await session.prompt(prompt)
    answers = [m for m in result.messages if isinstance(m, AssistantMessage)]
    if not answers or result.outcome in {"error", "stopped"}:
        errors.write(f"{result.error or 'There was no answer.'}\n")
        return 1
    for block in answers[-1].content:
        if isinstance(block, TextContent):
            out.write(block.text.encode("utf-8", "replace") + b"\n")
    out.flush()
    if answers[-1].stop_reason == "length":
        errors.write("The answer was cut: the model reached its output limit.\n")
        return 1
    return 0
