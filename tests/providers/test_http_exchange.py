"""How requests go out and answers come in: refusals, broken connections, aborts, masks."""

import asyncio
import gzip
import logging
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from agent_nb.core.abort import Aborted, AbortSignal
from agent_nb.core.errors import ContextOverflowError, ProviderError
from agent_nb.core.events import Finish, ProviderEvent, TextDelta
from agent_nb.core.messages import UserMessage
from agent_nb.core.model import Model
from agent_nb.core.provider import Provider, Request, SentRequest
from agent_nb.providers.anthropic_messages import AnthropicMessages
from agent_nb.providers.failures import refusal, retry_after_s
from agent_nb.providers.openai_completions import OpenAICompletions
from agent_nb.providers.openai_responses import OpenAIResponses
from agent_nb.providers.sse import SseFraming

KEY = "a-key-nobody-may-see"
EVENT = b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n'
END = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
MODEL = Model("m", "local", "openai-completions", "http://server.test/v1")
CLAUDE = replace(MODEL, api="anthropic-messages", base_url="http://server.test")
RESPONSES = replace(MODEL, api="openai-responses")
KINDS = {
    MODEL.api: OpenAICompletions,
    CLAUDE.api: AnthropicMessages,
    RESPONSES.api: OpenAIResponses,
}
every_api = pytest.mark.parametrize("model", [MODEL, CLAUDE, RESPONSES], ids=lambda m: m.api)
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Pieces(httpx.AsyncByteStream):
    """A body in pieces; an exception among them is raised."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece


def answering(
    *pieces: bytes | Exception, status: int = 200, headers: dict[str, str] | None = None
) -> httpx.MockTransport:
    return httpx.MockTransport(
        lambda _request: httpx.Response(status, headers=headers, stream=Pieces(*pieces))
    )


def request(model: Model = MODEL, **more: Any) -> Request:
    return Request(model, "Be brief.", [UserMessage.of("Hi?")], **more)


async def ask(
    provider: Provider,
    asked: Request | None = None,
    signal: AbortSignal | None = None,
) -> list[ProviderEvent]:
    events: list[ProviderEvent] = []
    async for batch in provider.stream(asked or request(), signal or AbortSignal()):
        events += batch
    return events


async def failure_of(transport: httpx.AsyncBaseTransport, model: Model = MODEL) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(KINDS[model.api](api_key=KEY, transport=transport), request(model))
    return caught.value


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[Model]:
    """Serve on loopback, and see every handler to its end; the model's base URL leads there."""
    handled: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except ConnectionError:
            pass  # the client went away, as it may
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handled.add(asyncio.ensure_future(handle(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield replace(MODEL, base_url=f"http://127.0.0.1:{port}/v1")
        await asyncio.gather(*handled)


async def read_request(reader: asyncio.StreamReader) -> bool:
    """Read a request to its end; False if the client has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return False
    size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    await reader.readexactly(size)
    return True


async def until_gone(reader: asyncio.StreamReader) -> None:
    """Wait for the client to close the connection, with or without having read everything."""
    with suppress(ConnectionError):
        await reader.read()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


# --- refusals


async def test_a_refusal_says_status_and_body() -> None:
    body = b'{"error":{"message":"No such model","type":"invalid_request_error"}}'
    error = await failure_of(answering(body, status=404))
    assert str(error) == f"404: {body.decode()}"
    assert error.status == 404
    assert error.retry_after_s is None


async def test_retry_after_is_read_and_not_acted_upon() -> None:
    error = await failure_of(answering(b"slow", status=429, headers={"retry-after": "86400"}))
    assert (error.status, error.retry_after_s) == (429, 86_400)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Sun, 01 Nov 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Sun, 01 Nov 2026 11:00:00 GMT"}, 0),
    ],
)
def test_retry_after_comes_in_seconds_or_as_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    now = datetime(2026, 11, 1, 12, tzinfo=UTC)
    assert retry_after_s(headers, now) == seconds


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, "prompt is too long: 213462 tokens > 200000 maximum"),
        (400, '{"error":{"message":"request (9 tokens) exceeds the available context size"}}'),
        (400, '{"error":{"type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}'),
        (400, "This model's maximum context length is 4096 tokens. However, you requested 9000"),
        (400, "Requested tokens (5310) exceed context window of 512"),
        (400, '{"code":"context_length_exceeded"}'),
        (400, "Your input exceeds the context window of this model"),
        (413, "Payload Too Large"),
    ],
)
def test_a_request_too_long_is_told_from_other_errors(status: int, body: str) -> None:
    assert isinstance(refusal(status, body, {}), ContextOverflowError)


@pytest.mark.parametrize(
    ("status", "body"),
    [(429, "Rate limit: too many tokens per minute"), (400, "413 files"), (500, "oops")],
)
def test_other_limits_are_no_overflow(status: int, body: str) -> None:
    assert not isinstance(refusal(status, body, {}), ContextOverflowError)


async def test_a_web_page_is_shown_as_its_words() -> None:
    page = b"<html>\n<head><title>502 Bad Gateway</title></head>\n<center>nginx</center></html>"
    assert str(await failure_of(answering(page, status=502))) == "502: 502 Bad Gateway nginx"


async def test_an_empty_body_is_said_to_be_empty() -> None:
    assert str(await failure_of(answering(status=503))) == "503: (no body)"


async def test_an_endless_error_body_is_cut() -> None:
    error = await failure_of(answering(*[b"x" * 1000] * 1000, status=500))
    assert len(str(error)) < 5000


@pytest.mark.parametrize("piece", ["<!--", "<script>", "<", "<b", "</script "])
def test_a_broken_web_page_is_read_at_once(piece: str) -> None:
    since = time.process_time()
    refusal(502, piece * (60_000 // len(piece)), {})
    assert time.process_time() - since < 0.5


@pytest.mark.parametrize(
    "line", [b"x" * 8_000, b"x" * 8_000 + b"\n", b"data: " + b"x" * 8_000 + b"\n"]
)
def test_a_server_that_never_ends_an_event_is_given_up(line: bytes) -> None:
    framing, piece = SseFraming(), line * 1_000
    for _piece in range(8):
        framing.feed(piece)
    with pytest.raises(ProviderError, match="more than 64 MB"):
        framing.feed(piece)


def test_a_long_stream_of_short_events_or_of_pings_goes_on() -> None:
    framing = SseFraming()
    for _piece in range(17):
        assert not framing.feed((b": " + b"ping" * 1_000 + b"\n\n") * 1_000)
        assert framing.feed(b"data: " + b"x" * (1 << 22) + b"\n\ndata: y")
        framing.feed(b"\n\n")


async def test_an_error_body_that_breaks_off_is_shown_as_far_as_it_came() -> None:
    broken = answering(b"over", httpx.ReadError("gone"), status=500)
    assert str(await failure_of(broken)) == "500: over"


async def test_redirects_are_named_and_not_followed() -> None:
    asked: list[str] = []

    def answer(sent: httpx.Request) -> httpx.Response:
        asked.append(str(sent.url))
        return httpx.Response(308, headers={"location": "https://elsewhere.test/v1"})

    error = await failure_of(httpx.MockTransport(answer))
    assert "https://elsewhere.test/v1" in str(error)
    assert asked == ["http://server.test/v1/chat/completions"]


@every_api
async def test_a_success_without_a_body_is_no_empty_answer(model: Model) -> None:
    assert "ended without" in str(await failure_of(answering(), model))


# --- the key


@every_api
async def test_an_echoed_key_is_masked(model: Model) -> None:
    echoed = f"Incorrect API key provided: {KEY}".encode()
    assert KEY not in str(await failure_of(answering(echoed, status=401), model))
    in_stream = b'data: {"error":{"message":"bad key ' + KEY.encode() + b'"}}\n\n'
    error = await failure_of(answering(in_stream), model)
    assert "bad key •••" in str(error)


@every_api
@pytest.mark.parametrize("before", [3_990, 195, 12_180, 65_530])
async def test_of_a_key_across_a_limit_no_part_is_shown(model: Model, before: int) -> None:
    filler = "x " * (before // 2)
    page = "<p>" + "<b>" * ((before - 3) // 3)
    for body in (filler + KEY, page + KEY):
        echoing = answering((body * 2).encode(), status=500)
        assert KEY[:5] not in str(await failure_of(echoing, model))
    for data in (filler + KEY, '{"error":{"message":"' + filler + KEY + '"}}'):
        echoing = answering(f"data: {data}\n\n".encode())
        assert KEY[:5] not in str(await failure_of(echoing, model))


@every_api
@pytest.mark.parametrize("name", ["X-Auth", "x-my-pass", "Proxy-Authorization", "X-Region"])
async def test_any_header_of_the_model_is_masked(model: Model, name: str) -> None:
    shown: list[SentRequest] = []
    echo = answering(b"what is " + KEY.encode() + b"?", status=400)
    model = replace(model, headers={name: f"Basic {KEY}"})
    with pytest.raises(ProviderError) as caught:
        await ask(KINDS[model.api](transport=echo), request(model, on_sent=shown.append))
    assert (KEY in str(caught.value), KEY in str(shown[0].headers)) == (False, False)
    assert shown[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{KEY}@server.test/v1",
        f"http://server.test/v1?key={KEY}",
        f"http://user:se/{KEY}@server.test",
        f"ftp://user:{KEY}@server.test",
    ],
)
async def test_an_address_is_shown_without_what_may_be_a_key(url: str) -> None:
    def refuse(sent: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"no way to {sent.url.host}")

    for transport in (httpx.MockTransport(refuse), answering(KEY.encode(), status=500), None):
        if transport is None and "ftp" not in url:
            continue
        with pytest.raises(ProviderError) as caught:
            await ask(OpenAICompletions(transport=transport), request(replace(MODEL, base_url=url)))
        assert KEY not in str(caught.value)


@every_api
async def test_the_key_is_sent_and_never_shown(model: Model) -> None:
    headers: list[httpx.Headers] = []
    shown: list[SentRequest] = []

    def answer(sent: httpx.Request) -> httpx.Response:
        headers.append(sent.headers)
        return httpx.Response(401)

    with pytest.raises(ProviderError):
        await ask(
            KINDS[model.api](api_key=KEY, transport=httpx.MockTransport(answer)),
            request(replace(model, headers={"X-Gateway-Token": KEY}), on_sent=shown.append),
        )
    assert KEY in str(headers[0].raw)
    assert KEY not in str(shown[0].headers)
    assert shown[0].headers["x-gateway-token"] == "•••"


async def test_the_models_headers_win_over_ours() -> None:
    headers: list[httpx.Headers] = []

    def answer(sent: httpx.Request) -> httpx.Response:
        headers.append(sent.headers)
        return httpx.Response(401)

    model = replace(MODEL, headers={"Authorization": "Basic abc", "User-Agent": "mine"})
    with pytest.raises(ProviderError):
        await ask(
            OpenAICompletions(api_key=KEY, transport=httpx.MockTransport(answer)), request(model)
        )
    assert headers[0]["authorization"] == "Basic abc"
    assert headers[0]["user-agent"] == "mine"


@pytest.mark.parametrize("key", ["pasted-with-line-end\n", "not-ascii-ä"])
async def test_a_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    async with serving(lambda _reader, _writer: asyncio.sleep(0)) as model:
        provider = OpenAICompletions(api_key=key)
        with pytest.raises(ProviderError, match="A header, the key perhaps") as caught:
            await ask(provider, request(model))
        assert key.strip() not in f"{caught.value} {caught.value.__cause__}"
        await provider.close()


# --- bodies


async def test_a_compressed_stream_is_read() -> None:
    packed = gzip.compress(EVENT + END)
    transport = answering(packed[:20], packed[20:], headers={"content-encoding": "gzip"})
    assert (await ask(OpenAICompletions(transport=transport)))[1] == TextDelta(0, "Hi")


async def test_a_broken_compression_breaks_the_answer_off() -> None:
    broken = answering(b"no gzip", headers={"content-encoding": "gzip"})
    assert "terminated" in str(await failure_of(broken))


async def test_events_of_one_read_come_together() -> None:
    provider = OpenAICompletions(transport=answering(EVENT * 3, EVENT + END))
    batches: list[Sequence[ProviderEvent]] = [
        batch async for batch in provider.stream(request(), AbortSignal())
    ]
    assert [len(batch) for batch in batches] == [4, 3]


async def test_a_latin_header_does_not_change_the_text() -> None:
    stream = 'data: {"choices":[{"delta":{"content":"é你"},"finish_reason":"stop"}]}\n\n'.encode()
    for kind in ("text/event-stream", "text/plain; charset=iso-8859-1"):
        transport = answering(stream, headers={"content-type": kind})
        assert (await ask(OpenAICompletions(transport=transport)))[1] == TextDelta(0, "é你")


async def test_unknown_events_are_noted_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "agent_nb")
    await ask(OpenAICompletions(transport=answering(b"data: 1\n\n", EVENT, END)))
    assert "1 unknown events were ignored" in caplog.text


# --- connections


async def test_what_came_before_a_break_is_kept() -> None:
    gone = httpx.RemoteProtocolError("peer closed connection")
    provider = OpenAICompletions(transport=answering(EVENT, gone))
    events: list[ProviderEvent] = []

    async def listen() -> None:
        async for batch in provider.stream(request(), AbortSignal()):
            events.extend(batch)

    with pytest.raises(ProviderError, match=r"Connection lost: .*terminated"):
        await listen()
    assert events[-1] == TextDelta(0, "Hi")


async def test_a_break_after_the_answer_does_no_harm() -> None:
    finish = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    transport = answering(EVENT, finish, httpx.ReadError("gone"))
    assert (await ask(OpenAICompletions(transport=transport)))[-1] == Finish("stop", "stop")


async def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    provider = OpenAICompletions()
    with pytest.raises(ProviderError, match=rf"Connection error: the server at {url}.* cannot"):
        await ask(provider, request(replace(MODEL, base_url=url)))
    await provider.close()


@pytest.mark.parametrize("url", ["", "server.test/v1", "ftp://server.test", "http://[::1"])
async def test_an_address_that_is_none_is_refused(url: str) -> None:
    provider = OpenAICompletions()
    with pytest.raises(ProviderError, match="is not the address of a server"):
        await ask(provider, request(replace(MODEL, base_url=url)))
    await provider.close()


async def test_a_silent_server_is_given_up() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + chunk(EVENT))
        await until_gone(reader)

    async with serving(handler) as model:
        provider = OpenAICompletions(idle_timeout_s=0.05)
        with pytest.raises(ProviderError, match="idle timeout"):
            await ask(provider, request(model))
        await provider.close()


async def test_without_an_idle_timeout_a_slow_server_is_waited_for() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + chunk(EVENT) + chunk(END) + b"0\r\n\r\n")

    async with serving(handler) as model:
        provider = OpenAICompletions(idle_timeout_s=0)
        assert (await ask(provider, request(model)))[-1] == Finish("stop", "stop")
        await provider.close()


@pytest.mark.parametrize("said", [b"", HEAD, HEAD + chunk(EVENT)], ids=["none", "head", "event"])
async def test_an_abort_closes_the_connection_at_once(said: bytes) -> None:
    has_asked, has_gone = asyncio.Event(), asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(said)
        await writer.drain()
        has_asked.set()
        await until_gone(reader)
        has_gone.set()

    async def abort_soon() -> None:
        await has_asked.wait()
        signal.abort()

    async with serving(handler) as model, asyncio.timeout(5):
        signal = AbortSignal()
        provider = OpenAICompletions()
        aborting = asyncio.create_task(abort_soon())
        with pytest.raises(Aborted):
            await ask(provider, request(model), signal)
        await aborting
        await has_gone.wait()
        await provider.close()


async def test_an_abort_between_two_reads_is_seen() -> None:
    signal = AbortSignal()
    provider = OpenAICompletions(transport=answering(EVENT, EVENT, END))
    async with aclosing(provider.stream(request(), signal)) as batches:
        await anext(batches)
        signal.abort()
        with pytest.raises(Aborted):
            await anext(batches)


async def test_a_cancelled_task_stays_cancelled() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        has_asked.set()
        await until_gone(reader)

    has_asked = asyncio.Event()
    async with serving(handler) as model:
        provider = OpenAICompletions()
        asking = asyncio.create_task(ask(provider, request(model)))
        await has_asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await provider.close()


async def test_nothing_is_sent_after_an_abort() -> None:
    signal = AbortSignal()
    signal.abort()
    sent: list[SentRequest] = []
    with pytest.raises(Aborted):
        await ask(
            OpenAICompletions(transport=answering(EVENT)), request(on_sent=sent.append), signal
        )
    assert not sent


async def test_one_connection_serves_many_requests() -> None:
    connections = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while await read_request(reader):
            writer.write(HEAD + chunk(EVENT) + chunk(END))
            await writer.drain()
            writer.write(b"0\r\n\r\n")

    async with serving(handler) as model:
        provider = OpenAICompletions()
        for _ in range(3):
            assert (await ask(provider, request(model)))[-1] == Finish("stop", "stop")
        assert connections == 1
        await provider.close()


@pytest.mark.parametrize("kind", ["keeps sending", "keeps silent"])
async def test_a_server_that_does_not_stop_is_left(kind: str) -> None:
    has_gone = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + chunk(EVENT) + chunk(END))
        gone = asyncio.create_task(until_gone(reader))
        while kind == "keeps sending" and not gone.done():
            writer.write(chunk(EVENT))
            await asyncio.wait([gone], timeout=0.01)
        await gone
        has_gone.set()

    async with serving(handler) as model, asyncio.timeout(5):
        provider = OpenAICompletions()
        events = await ask(provider, request(model))
        assert [event for event in events if isinstance(event, TextDelta)] == [TextDelta(0, "Hi")]
        await has_gone.wait()
        await provider.close()


async def test_closing_twice_is_fine_and_a_closed_provider_works_again() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(HEAD + chunk(EVENT) + chunk(END) + b"0\r\n\r\n")
        await until_gone(reader)

    async with serving(handler) as model:
        provider = OpenAICompletions()
        for _ in range(2):
            await ask(provider, request(model))
            await provider.close()
        await provider.close()
