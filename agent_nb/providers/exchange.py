"""One request and its answer, the same for every protocol that streams server-sent events."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

import httpx

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.events import ProviderEvent
from agent_nb.core.provider import SentRequest
from agent_nb.providers.failures import failure
from agent_nb.providers.http import Http, secrets_in, shown_url
from agent_nb.providers.repeated_shape import RepeatedShape
from agent_nb.providers.sse import Frame, SseFraming

_log = logging.getLogger(__name__)

LAST_WORDS_S = 5.0
CLOSE_WAIT_S = 0.2


class Decoder(Protocol):
    """Translates one answer.

    Attributes:
        is_whole: The answer is complete; only usage and the end mark may follow.
        has_ended: The end mark came, or `finish` was called: `Finish` is out, or `failure` is set.
        failure: What went wrong, in words; the events before it are still good.
        ignored_count: How many events were of no kind we know.
    """

    is_whole: bool
    has_ended: bool
    failure: str | None
    ignored_count: int

    def feed(self, frames: Sequence[Frame]) -> list[ProviderEvent]:
        """Return the events of some frames."""
        ...

    def finish(self, frames: Sequence[Frame], other: bytes) -> list[ProviderEvent]:
        """Return the last events; `other` is what the body held besides frames."""
        ...


Encode = Callable[[], tuple[SentRequest, Mapping[str, str]]]
"""Gives the request as it may be shown, and the headers as they are sent."""


async def exchange(
    http: Http, encode: Encode, decoder: Decoder, signal: AbortSignal
) -> AsyncIterator[Sequence[ProviderEvent]]:
    """Send a request and yield the events of each network read together.

    Raises:
        ProviderError: If the server refuses, or the answer breaks off before it is whole.
        Aborted: If the signal is set.
    """
    signal.check()
    sent, headers = encode()
    sized = {**headers, "content-length": str(sent.size_bytes)}
    async with http.post(sent.url, sized, _body(sent), signal) as pieces:
        framing, shape = SseFraming(), RepeatedShape()
        while not decoder.has_ended:
            signal.check()  # not left to the guard, which would leave the read unawaited
            piece = signal.guard(anext(pieces, b""))
            chunk = await (_last_words(piece) if decoder.is_whole else piece)
            begins_with_event = framing.is_between_events
            if begins_with_event and (delta := shape.delta(chunk)):
                yield (delta,)
                continue
            if chunk:
                events = decoder.feed(framing.feed(chunk))
            else:
                events = decoder.finish(framing.finish(), framing.other)
            if events:
                yield events
            if decoder.failure is not None:
                raise failure(decoder.failure, secrets=secrets_in(headers, sent.url))
            is_whole = begins_with_event and framing.is_between_events
            shape.learn(events, chunk if is_whole else None)
        if decoder.ignored_count:
            _log.debug(
                "%s: %d unknown events were ignored", shown_url(sent.url), decoder.ignored_count
            )
        await _run_out(pieces, signal)


async def _body(sent: SentRequest) -> AsyncIterator[bytes]:
    """Give the body piece by piece; httpx would hold on to one that is given whole."""
    for piece in sent.pieces():
        yield piece


async def _last_words(piece: Awaitable[bytes]) -> bytes:
    """Read on after the answer is whole; a server that hangs or breaks off now does no harm."""
    try:
        async with asyncio.timeout(LAST_WORDS_S):
            return await piece
    except (TimeoutError, httpx.HTTPError):
        return b""


async def _run_out(pieces: AsyncIterator[bytes], signal: AbortSignal) -> None:
    """Read the end of the body, so that the connection can be used again; do not wait long."""
    with suppress(TimeoutError, httpx.HTTPError, Aborted):
        async with asyncio.timeout(CLOSE_WAIT_S):
            while not signal.aborted:
                if not await signal.guard(anext(pieces, b"")):
                    return
