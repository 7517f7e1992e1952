"""Drive a run: passes of the loop, stored as they go, tried again where that may help.

Source: pi 1.6.0, `agent-session`; the order of events is in docs/json.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.events import (
    AgentEnd,
    AutoRetryEnd,
    AutoRetryStart,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    SessionEvent,
)
from agent_nb.core.messages import AssistantMessage, Message
from agent_nb.loop.config import LoopConfig
from agent_nb.loop.run import run_loop
from agent_nb.session.history import History
from agent_nb.session.queues import Queues
from agent_nb.session.retry import Retry
from agent_nb.session.run import Run
from agent_nb.session.settings import Settings


@dataclass(frozen=True, slots=True)
class Driver:
    """What a run changes: the history, the queues, and what listeners are told."""

    history: History
    queues: Queues
    settings: Settings
    emit: Callable[[SessionEvent], None]

    async def drive(self, run: Run, config: LoopConfig, prompts: Sequence[Message]) -> None:
        """Run passes of the loop until nothing automatic is left."""
        retry = Retry(self.settings.retry)
        while True:
            await self._one_pass(run, config, prompts, retry)
            answer = run.last_answer
            if answer is None or not retry.wanted(answer):
                break
            prompts = []
            if not await self._wait_to_retry(run, retry, answer):
                break
        if retry.exhausted:
            error = run.last_answer.error_message if run.last_answer else None
            self.emit(AutoRetryEnd(success=False, attempt=retry.attempt, final_error=error))

    async def _one_pass(
        self, run: Run, config: LoopConfig, prompts: Sequence[Message], retry: Retry
    ) -> None:
        """Run the loop once. A message is stored before its end is shown."""
        async for event in run_loop(self.history.context, prompts, config):
            if isinstance(event, MessageUpdate):
                self.emit(event)  # most events by far
                continue
            if isinstance(event, MessageStart) and self.queues.delivered(event.message):
                self.emit(self.queues.update())  # shown without the message that comes next
            elif isinstance(event, MessageEnd):
                run.entries[id(event.message)] = self.history.add(event.message).id
                run.messages.append(event.message)
            elif isinstance(event, AgentEnd):
                answer = run.last_answer
                will_retry = answer is not None and retry.wanted(answer)
                self.emit(replace(event, will_retry=will_retry))
                continue
            self.emit(event)
            if isinstance(event, MessageEnd) and retry.succeeded(event.message):
                self.emit(AutoRetryEnd(success=True, attempt=retry.reset()))

    async def _wait_to_retry(self, run: Run, retry: Retry, failed: AssistantMessage) -> bool:
        """Wait before the next try; False if the user stopped the run meanwhile."""
        delay_ms = retry.next_delay_ms()
        self.history.store.append(
            "context_edit", targetId=run.entries[id(failed)], replacement=None
        )
        limit = self.settings.retry.max_retries
        self.emit(AutoRetryStart(retry.attempt, limit, delay_ms, failed.error_message or ""))
        waiting = run.waiting = AbortSignal()
        forget = run.signal.on_abort(waiting.abort)
        try:
            await waiting.sleep(delay_ms / 1000)
        except Aborted:
            run.stopped_waiting = True
            attempt = retry.reset()
            self.emit(AutoRetryEnd(success=False, attempt=attempt, final_error="Retry cancelled"))
            return False
        finally:
            forget()
            run.waiting = None
        return True
