"""The loop: ask the model, run the tools it asked for, add the results, ask again."""

from collections.abc import AsyncIterator, Sequence

from agent_nb.core.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    MessageEnd,
    MessageStart,
    TurnEnd,
    TurnStart,
)
from agent_nb.core.messages import Message
from agent_nb.loop.answer import Answer
from agent_nb.loop.config import LoopConfig
from agent_nb.loop.tool_batch import ToolBatch


async def run_loop(
    history: Sequence[Message], prompts: Sequence[Message], config: LoopConfig
) -> AsyncIterator[AgentEvent]:
    """Run turns until no tool was called and both queues are empty.

    Args:
        history: The context so far, as a provider takes it.
        prompts: New messages that start the pass; none when a failed answer is asked for again.
        config: Who is asked, with which tools, and who may interfere.

    Source: pi-agent-core 1.6.0, `agent-loop` (`runLoop`).
    """
    context, new = [*history], list[Message]()
    pending: list[Message] = [*prompts, *config.steering.drain()]
    yield AgentStart()
    while True:
        yield TurnStart()
        for message in pending:
            yield MessageStart(message)
            yield MessageEnd(message)
            new.append(message)
            if (sent := config.for_model(message)) is not None:
                context.append(sent)
        answer = Answer(context, config)
        async for event in answer.events():
            yield event
        batch = ToolBatch(answer.message, config)  # runs nothing when the answer failed
        async for event in batch.events():
            yield event
        added: list[Message] = [answer.message, *batch.results]
        context += added
        new += added
        turn = TurnEnd(answer.message, tuple(batch.results))
        stop = await config.finish_turn(turn)
        yield turn
        if stop or answer.message.stop_reason in {"error", "aborted"}:
            break
        pending = [*config.steering.drain()]
        if not pending and (not batch.results or batch.terminate):
            pending = [*config.follow_ups.drain()]
            if not pending:
                break
        if (replaced := await config.prepare_turn()) is not None:
            context = [*replaced]
        pending = pending or [*config.steering.drain()]
    yield AgentEnd(tuple(new))
