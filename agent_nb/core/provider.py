"""What the loop needs of whoever serves a model."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from agent_nb.core import json_text
from agent_nb.core.abort import AbortSignal
from agent_nb.core.events import ProviderEvent
from agent_nb.core.messages import Message
from agent_nb.core.model import Model, ThinkingLevel
from agent_nb.core.secrets import public_address


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request as it went out; fragments are shared with other requests and joined when read.

    Attributes:
        url: Where to.
        headers: What was sent, keys masked.
        fragments: The messages as sent; `length` of them belong to this request.
    """

    url: str
    headers: Mapping[str, str]
    head: bytes
    fragments: Sequence[bytes]
    length: int
    tail: bytes

    @property
    def body(self) -> bytes:
        """The body, byte for byte."""
        return b"".join(self.pieces())

    @property
    def size_bytes(self) -> int:
        """The body's length."""
        messages = sum(map(len, islice(self.fragments, self.length))) + max(0, self.length - 1)
        return len(self.head) + messages + len(self.tail)

    def pieces(self, count: int = 64) -> Iterator[bytes]:
        """Yield the body in pieces of `count` messages: a long history is never copied whole."""
        before = self.head
        for start in range(0, self.length, count):
            end = min(start + count, self.length)
            after = self.tail if end == self.length else b""
            yield b"".join((before, b",".join(self.fragments[start:end]), after))
            before = b","
        if not self.length:
            yield self.head + self.tail

    def json(self) -> Any:
        """The body as data."""
        return json_text.loads(self.body)

    def __repr__(self) -> str:
        return f"SentRequest({public_address(self.url)}, {self.size_bytes:,} bytes)"


def _ignore_request(_request: SentRequest) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Request:
    """What the model is asked.

    Attributes:
        model: Which one.
        system: The system prompt.
        messages: The context, oldest first; the next request shares these message objects.
        tools: Declarations: name, description, parameters (JSON schema).
        thinking_level: How much it should think.
        max_tokens: Most tokens of the answer; None leaves it to the model's limit.
        session_id: For servers that cache by it.
        on_sent: Told the exact request.
    """

    model: Model
    system: str
    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    thinking_level: ThinkingLevel = "off"
    max_tokens: int | None = None
    session_id: str | None = None
    on_sent: Callable[[SentRequest], None] = field(default=_ignore_request)


class Provider(Protocol):
    """Serves models over one wire protocol. Adapters translate; they decide nothing."""

    def stream(
        self, request: Request, signal: AbortSignal
    ) -> AsyncIterator[Sequence[ProviderEvent]]:
        """Yield the events of each network read together, the last of all a `Finish`.

        Raises:
            ProviderError: If the server refuses, or the answer breaks off before it is whole.
            Aborted: If the signal is set.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
