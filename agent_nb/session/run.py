"""One run: from a prompt until nothing automatic is left, and what may end it early."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from agent_nb.core.abort import AbortSignal
from agent_nb.core.errors import ConfigError
from agent_nb.core.events import TurnEnd
from agent_nb.core.messages import AssistantMessage, Message
from agent_nb.core.model import Model
from agent_nb.core.secrets import mask
from agent_nb.inspect.runs import Outcome, RunResult


@dataclass(frozen=True, slots=True)
class Budget:
    """What ends a run early, as cleanly as a person would.

    Attributes:
        max_turns: Most answers of the model.
        max_cost_usd: Most US dollars; needs a model whose prices are known.
        timeout_s: Most seconds.
    """

    max_turns: int | None = None
    max_cost_usd: float | None = None
    timeout_s: float | None = None

    def check(self, model: Model) -> None:
        """Raise `ConfigError` if the budget cannot be kept with this model."""
        if self.max_cost_usd is not None and model.prices is None:
            raise ConfigError(
                f"The prices of {model.key} are not known, so a cost limit cannot be kept. "
                "Limit turns or time instead."
            )


class Run:
    """What is known of the run that goes on."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.signal = AbortSignal()
        self.messages: list[Message] = []
        self.entries: dict[int, str] = {}
        self.settled: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()
        self.waiting: AbortSignal | None = None  # while the next try is waited for
        self.out_of_time = False
        self.stopped_waiting = False
        self._spent: str | None = None
        self._failure: str | None = None
        self._turns = 0
        self._cost_usd = 0.0
        self._started = time.monotonic()
        self.result = RunResult((), "error")

    @property
    def last_answer(self) -> AssistantMessage | None:
        """The newest answer of this run."""
        return next((m for m in reversed(self.messages) if isinstance(m, AssistantMessage)), None)

    async def finish_turn(self, turn: TurnEnd) -> bool:
        """Count a turn; True if the budget is spent and the model wants to go on."""
        self._turns += 1
        self._cost_usd += turn.message.usage.cost.total
        budget = self.budget
        if not turn.tool_results:
            return False
        if budget.max_turns is not None and self._turns >= budget.max_turns:
            self._spent = f"the limit of {budget.max_turns} turns was reached"
        elif budget.max_cost_usd is not None and self._cost_usd >= budget.max_cost_usd:
            self._spent = f"the limit of ${budget.max_cost_usd:g} was reached"
        return self._spent is not None

    @contextmanager
    def time_limit(self) -> Iterator[None]:
        """Stop the run when its time is over."""
        limit = self.budget.timeout_s
        if limit is None:
            yield
            return

        def stop() -> None:
            self.out_of_time = True
            self._spent = f"the limit of {limit:g} seconds was reached"
            self.signal.abort()

        handle = asyncio.get_running_loop().call_later(limit, stop)
        try:
            yield
        finally:
            handle.cancel()

    def fail(self, error: BaseException) -> None:
        """Note what ended the run other than the model or the user."""
        self._failure = f"{type(error).__name__}: {error}".rstrip(": ")

    def settle(self, model: str, secrets: Sequence[str] = ()) -> None:
        """Fix the result; `secrets` are masked in what went wrong."""
        outcome, error = self._outcome()
        error = mask(error, secrets) if error else None
        duration_s = time.monotonic() - self._started
        self.result = RunResult(tuple(self.messages), outcome, duration_s, model, error)

    def _outcome(self) -> tuple[Outcome, str | None]:
        answer = self.last_answer
        if self._failure:
            return "error", self._failure
        if self._spent:
            return "budget", self._spent
        if self.signal.aborted and (self.stopped_waiting or _is(answer, "aborted")):
            return "stopped", "stopped by the user"
        if _is(answer, "error"):
            return "error", answer.error_message if answer else None
        return "done", None


def _is(answer: AssistantMessage | None, reason: str) -> bool:
    return answer is not None and answer.stop_reason == reason
