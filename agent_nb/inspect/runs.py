"""Runs: everything from one prompt until nothing automatic is left."""

from dataclasses import dataclass
from typing import Literal

from agent_nb.core.messages import NO_USAGE, AssistantMessage, Message, Usage
from agent_nb.core.secrets import mask
from agent_nb.inspect.turns import CallRecord, Turn, question_of, turns_of

Outcome = Literal["done", "error", "stopped", "budget"]


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one prompt led to.

    Attributes:
        messages: The new messages, the prompt first.
        outcome: "done"; "error" (then `error` says what); "stopped" by the user; "budget" spent.
        duration_s: From the prompt until everything had settled, in seconds.
        model: `provider/id` of the model that was asked.
        error: Why the run failed or ended early.
    """

    messages: tuple[Message, ...]
    outcome: Outcome
    duration_s: float = 0.0
    model: str = ""
    error: str | None = None

    @property
    def text(self) -> str:
        """The last answer's text."""
        answers = [m for m in self.messages if isinstance(m, AssistantMessage)]
        return answers[-1].text if answers else ""

    @property
    def question(self) -> str:
        """What was asked."""
        return question_of(self.messages)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns, counted from 1."""
        return turns_of(self.messages)

    @property
    def tool_calls(self) -> tuple[CallRecord, ...]:
        """Every tool call with its result, in order."""
        return tuple(call for turn in self.turns for call in turn.tool_calls)

    @property
    def usage(self) -> Usage:
        """Tokens of all answers together."""
        answers = (m.usage for m in self.messages if isinstance(m, AssistantMessage))
        return sum(answers, start=NO_USAGE)

    def __repr__(self) -> str:
        why = f" ({mask(self.error)})" if self.error else ""
        return (
            f"<RunResult {self.outcome}{why}: {_count(len(self.turns), 'turn')}, "
            f"{_count(len(self.tool_calls), 'tool call')}, "
            f"{self.usage.total_tokens:,} tokens, {self.duration_s:.1f} s>"
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
