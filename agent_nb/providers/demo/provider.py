"""`demo/reader` as a provider: in-process, deterministic, without network."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence

from agent_nb.core.abort import AbortSignal
from agent_nb.core.events import (
    BlockEnd,
    Finish,
    ProviderEvent,
    ResponseInfo,
    TextDelta,
    TextStart,
    ToolCallDelta,
    ToolCallStart,
    UsageReport,
)
from agent_nb.core.json_text import dumps
from agent_nb.core.messages import AssistantMessage, Message, Usage, message_to_wire
from agent_nb.core.provider import Request, SentRequest
from agent_nb.providers.demo.plan import plan
from agent_nb.providers.demo.script import Reply
from agent_nb.providers.demo.wording import HAN

_CHINESE = f"{HAN}，。！？；：、“”"
_PIECE = re.compile(rf"\s*[{_CHINESE}]{{1,2}}|\s*[^\s{_CHINESE}]+|\s+")
_LONGEST_S = 8.0
_ARGUMENT_PIECE = 12
_CHARACTERS_PER_TOKEN = 4


class DemoProvider:
    """Answers by rules from what tools find.

    Args:
        words_per_s: Words (of Chinese, two characters) per second; a long text is faster, so that
            it takes eight seconds at most. 0 or None waits for nothing.
    """

    def __init__(self, words_per_s: float | None = 35) -> None:
        self._words_per_s = words_per_s or 0
        self._sent: list[Message] = []
        self._fragments: list[bytes] = []

    async def stream(
        self, request: Request, signal: AbortSignal
    ) -> AsyncIterator[Sequence[ProviderEvent]]:
        """Yield the answer word by word, or in a few batches if nothing is waited for.

        Raises:
            Aborted: If the signal is set.
        """
        signal.check()
        self._report(request)
        tools = [str(tool.get("name", "")) for tool in request.tools]
        messages = tuple(request.messages)
        reply = await signal.guard(asyncio.to_thread(plan, messages, tools))
        batch: list[ProviderEvent] = [ResponseInfo(response_model=request.model.id)]
        for events, wait_s in self._paced(_events(reply, messages)):
            batch += events
            if wait_s:
                yield batch
                batch = []
                await signal.sleep(wait_s)
        signal.check()
        yield [
            *batch,
            UsageReport(_usage(request, reply)),
            Finish("toolUse" if reply.calls else "stop"),
        ]

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def _paced(
        self, events: Sequence[ProviderEvent]
    ) -> Sequence[tuple[Sequence[ProviderEvent], float]]:
        """Put with each event the seconds to wait after it."""
        pieces = sum(isinstance(event, TextDelta | ToolCallDelta) for event in events)
        if not self._words_per_s or not pieces:
            return [(events, 0.0)]
        wait_s = min(1 / self._words_per_s, _LONGEST_S / pieces)
        return [
            ([event], wait_s if isinstance(event, TextDelta | ToolCallDelta) else 0.0)
            for event in events
        ]

    def _report(self, request: Request) -> None:
        """Tell what is asked as a server would be; messages are encoded once and shared."""
        count = len(self._sent)
        same = count <= len(request.messages) and all(
            ours is theirs for ours, theirs in zip(self._sent, request.messages, strict=False)
        )
        if not same:
            self._sent, self._fragments, count = [], [], 0
        for message in request.messages[count:]:
            self._sent.append(message)
            self._fragments.append(dumps(message_to_wire(message)))
        head = dumps({"model": request.model.id, "system": request.system, "tools": request.tools})
        request.on_sent(
            SentRequest(
                "in-process:demo/reader",
                {},
                head[:-1] + b',"messages":[',
                self._fragments,
                len(request.messages),
                b"]}",
            )
        )


def _events(reply: Reply, messages: Sequence[Message]) -> list[ProviderEvent]:
    events: list[ProviderEvent] = []
    index = 0
    if reply.text or not reply.calls:
        events.append(TextStart(index))
        events += (TextDelta(index, piece) for piece in _PIECE.findall(reply.text))
        events.append(BlockEnd(index))
        index += 1
    for number, call in enumerate(reply.calls, start=1):
        call_id = f"call_{_moment(messages):x}_{number}"
        text = json.dumps(dict(call.arguments), ensure_ascii=False)
        events.append(ToolCallStart(index, call_id, call.name))
        events += (
            ToolCallDelta(index, text[at : at + _ARGUMENT_PIECE])
            for at in range(0, len(text), _ARGUMENT_PIECE)
        )
        events.append(BlockEnd(index))
        index += 1
    return events


def _moment(messages: Sequence[Message]) -> int:
    """Return the time of the last message: it makes ids that are unique and yet no surprise."""
    return max((getattr(message, "timestamp", 0) for message in messages), default=0)


def _usage(request: Request, reply: Reply) -> Usage:
    """Estimate tokens, four characters each: this model has no tokens of its own."""
    said = sum(len(_characters(message)) for message in request.messages)
    asked = len(request.system) + len(dumps(list(request.tools))) + said
    answered = len(reply.text) + sum(len(call.key) for call in reply.calls)
    input_tokens, output_tokens = (-(-size // _CHARACTERS_PER_TOKEN) for size in (asked, answered))
    return Usage(input_tokens, output_tokens, total_tokens=input_tokens + output_tokens)


def _characters(message: Message) -> str:
    text = str(getattr(message, "text", ""))
    if isinstance(message, AssistantMessage):
        text += "".join(f"{call.name}{dict(call.arguments)}" for call in message.tool_calls)
    return text
