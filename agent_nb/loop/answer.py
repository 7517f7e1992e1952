"""One answer of the model: asked for, streamed, and built up block by block.

The only place where a provider's failure turns into a message with `stop_reason="error"`.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, cast

from agent_nb.core.abort import Aborted
from agent_nb.core.content import ContentBlock, TextContent, ThinkingContent, ToolCall
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import (
    AgentEvent,
    BlockEnd,
    Finish,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    ProviderEvent,
    ResponseInfo,
    Signature,
    StreamEvent,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageReport,
)
from agent_nb.core.json_text import join_surrogates
from agent_nb.core.messages import NO_USAGE, AssistantMessage, Message, StopReason, Usage, now_ms
from agent_nb.core.model import priced
from agent_nb.core.provider import Request
from agent_nb.loop.arguments import parse_arguments
from agent_nb.loop.config import LoopConfig


@dataclass(slots=True)
class _Block:
    """A block being written; its text stays in pieces until somebody asks."""

    kind: Literal["text", "thinking", "toolCall"]
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None
    redacted: bool = False
    id: str = ""
    name: str = ""
    done: ContentBlock | None = None

    def finish(self) -> ContentBlock:
        """Fix the block's content."""
        if self.done is None:
            self.done = self.content(whole=True)
        return self.done

    def sign(self, signature: str) -> None:
        """Take replay data, which may come after the block's end."""
        self.signature = signature
        if self.done is not None:
            self.done = self.content(whole=True)

    def content(self, *, whole: bool) -> ContentBlock:
        """Return the block as it stands; arguments of a call that is not whole are empty."""
        text = join_surrogates("".join(self.pieces))
        if self.kind == "text":
            return TextContent(text, self.signature)
        if self.kind == "thinking":
            return ThinkingContent(text, self.signature, self.redacted or None)
        arguments, error = parse_arguments(text) if whole else ({}, None)
        return ToolCall(self.id, self.name, arguments, error, self.signature)


class Answer:
    """One answer: iterate `events`, then read `message`."""

    def __init__(self, messages: Sequence[Message], config: LoopConfig) -> None:
        self._messages = messages
        self._config = config
        self._blocks: list[_Block] = []
        self._usage: Usage = NO_USAGE
        self._info = ResponseInfo()
        self._timestamp = now_ms()
        self._final: AssistantMessage | None = None

    @property
    def usage(self) -> Usage:
        """Tokens so far, as the provider reported them."""
        return self._usage

    @property
    def message(self) -> AssistantMessage:
        """The answer: as it stands while it is streamed, then as it was settled."""
        return self._final or self._built("pending")

    def text_at(self, index: int) -> str:
        """The text of the block at `index` as it stands, the raw arguments of a tool call."""
        return "".join(self._blocks[index].pieces)

    async def events(self) -> AsyncIterator[AgentEvent]:
        """Ask the model and yield what comes; a failure ends in a message, not in an exception."""
        yield MessageStart(self._built("pending"))
        started = time.monotonic()
        finish = Finish("error", error="The stream ended before the answer was whole (terminated)")
        try:
            self._config.signal.check()
            async with aclosing(self._stream()) as batches:
                async for batch in batches:
                    for event in batch:
                        shown = self._apply(event)
                        if shown is not None:
                            yield MessageUpdate(shown, self)
                        elif isinstance(event, Finish):
                            finish = event
        except Aborted:
            finish = Finish("aborted", error="Request was aborted")
        except ProviderError as error:
            finish = Finish("error", error=str(error))
        except Exception as error:  # noqa: BLE001 - the run still ends in ordinary events
            finish = Finish("error", error=f"{type(error).__name__}: {error}")
        self._final = self._built(finish.stop_reason, finish, started)
        yield MessageEnd(self._final)

    def _stream(self) -> AsyncGenerator[Sequence[ProviderEvent], None]:
        config = self._config
        request = Request(
            config.model,
            config.system,
            self._messages,
            config.declarations,
            config.thinking_level,
            config.max_tokens,
            config.session_id,
            config.on_sent,
        )
        return cast(
            "AsyncGenerator[Sequence[ProviderEvent], None]",
            config.provider.stream(request, config.signal),
        )

    def _apply(self, event: ProviderEvent) -> StreamEvent | None:
        """Take in one event; return what listeners see of it."""
        kind = type(event)
        if kind is TextDelta or kind is ToolCallDelta or kind is ThinkingDelta:
            delta = cast("TextDelta | ToolCallDelta | ThinkingDelta", event)
            self._blocks[delta.content_index].pieces.append(delta.delta)
            return delta
        return self._apply_rare(event)

    def _apply_rare(self, event: ProviderEvent) -> StreamEvent | None:
        match event:
            case TextStart():
                self._blocks.append(_Block("text"))
                return event
            case ThinkingStart(redacted=redacted, signature=signature):
                self._blocks.append(_Block("thinking", signature=signature, redacted=redacted))
                return event
            case ToolCallStart(id=call_id, tool_name=name):
                self._blocks.append(_Block("toolCall", id=call_id, name=name))
                return event
            case Signature(content_index=index, signature=signature):
                self._blocks[index].sign(signature)
            case BlockEnd(content_index=index, content=content):
                return self._ended(index, content)
            case UsageReport(usage=usage):
                self._usage = priced(usage, self._config.model.prices)
            case ResponseInfo():
                self._info = event
            case _:  # a delta, or the end
                pass
        return None

    def _ended(self, index: int, content: str | None) -> StreamEvent:
        if content is not None:
            self._blocks[index].pieces = [content]
        block = self._blocks[index].finish()
        if isinstance(block, TextContent):
            return TextEnd(index, block.text)
        if isinstance(block, ThinkingContent):
            return ThinkingEnd(index, block.thinking)
        assert isinstance(block, ToolCall)
        return ToolCallEnd(index, block)

    def _built(
        self, reason: StopReason, finish: Finish | None = None, started: float | None = None
    ) -> AssistantMessage:
        whole = finish is not None and reason not in {"error", "aborted"}
        content = tuple(
            block.finish() if whole else block.done or block.content(whole=False)
            for block in self._blocks
        )
        model = self._config.model
        return AssistantMessage(
            content=content,
            api=model.api,
            provider=model.provider,
            model=model.id,
            usage=self._usage,
            stop_reason=reason,
            timestamp=self._timestamp,
            error_message=finish.error if finish else None,
            response_id=self._info.response_id,
            response_model=self._info.response_model,
            raw_stop_reason=finish.raw_stop_reason if finish else None,
            duration_ms=round((time.monotonic() - started) * 1000) if started else None,
            thinking_level=self._config.thinking_level if finish else None,
        )
