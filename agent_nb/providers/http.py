"""Talk to a model server: one POST, its answer read piece by piece, failures in our words."""

import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import cast

import httpx

from agent_nb.core.abort import AbortSignal
from agent_nb.core.errors import ProviderError
from agent_nb.core.secrets import MASK
from agent_nb.providers.failures import failure, refusal

CONNECT_TIMEOUT_S = 30
ERROR_BODY_BYTES = 65_536
_HARMLESS = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-length",
        "content-type",
        "http-referer",
        "openai-beta",
        "session-id",
        "session_id",
        "user-agent",
        "x-client-request-id",
        "x-session-affinity",
        "x-session-id",
        "x-title",
    }
)


def standard_headers(ours: Mapping[str, str], models: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request; the model's win over ours, whatever their case."""
    headers = {
        "accept": "application/json",
        "content-type": "application/json",
        "user-agent": "agent_nb",
    }
    headers.update((name.lower(), value) for name, value in (*ours.items(), *models.items()))
    return headers


def masked(headers: Mapping[str, str]) -> dict[str, str]:
    """Return `headers` fit to be shown: a header nobody knows may hold a key, whatever its name."""
    return {name: value if name.lower() in _HARMLESS else MASK for name, value in headers.items()}


def secrets_in(headers: Mapping[str, str], url: str) -> tuple[str, ...]:
    """Return what may be a key in a request; what is shorter than 8 characters is no secret."""
    values = [value for name, value in headers.items() if name.lower() not in _HARMLESS]
    values += [value.rpartition(" ")[2] for value in values]  # without `Bearer`
    with suppress(httpx.InvalidURL):
        address = httpx.URL(url)
        # The endpoint's path comes after a query that somebody put into the base URL.
        values += [address.password, *(v.partition("/")[0] for v in address.params.values())]
    return tuple(sorted({value for value in values if len(value) >= 8}, key=len, reverse=True))


def shown_url(url: str) -> str:
    """Return an address without what may be a key: user, password and query.

    >>> shown_url("https://me:hunter2@server.test/v1?key=hunter2")
    'https://server.test/v1'
    """
    try:
        plain = httpx.URL(url).copy_with(username="", password="", query=None, fragment=None)
    except httpx.InvalidURL:
        return re.sub("//.*@", "//", url, flags=re.DOTALL).partition("?")[0]
    return str(plain)


class Http:
    """The connections of one provider, made when first needed; belongs to one event loop.

    Redirects are not followed: key and conversation go to the host the user named and no other.

    Args:
        idle_timeout_s: Longest silence, in seconds; None or 0 waits for ever.
        transport: Answers instead of the network, for tests.
    """

    def __init__(
        self,
        *,
        idle_timeout_s: float | None = 300,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._idle_timeout_s = idle_timeout_s or None
        self._transport = transport
        self._clients: dict[str, httpx.AsyncClient] = {}

    @asynccontextmanager
    async def post(
        self, url: str, headers: Mapping[str, str], body: AsyncIterator[bytes], signal: AbortSignal
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Send `body` and give the answer piece by piece; leaving closes what was not read.

        Raises:
            ProviderError: If there is no answer, no success, or it breaks off.
            Aborted: If the signal is set.
        """
        secrets = secrets_in(headers, url)
        try:
            client = self._client(httpx.URL(url))
            request = client.build_request("POST", url, headers=headers, content=body)
            response = await signal.guard(client.send(request, stream=True))
        except (httpx.LocalProtocolError, UnicodeEncodeError):
            # What httpx says quotes the header, that is the key.
            raise failure("A header, the key perhaps, has characters that none may have") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreachable(error, url, secrets) from error
        try:
            async with aclosing(_pieces(response)) as pieces:
                if not response.is_success:
                    text = await signal.guard(_start_of(pieces))
                    raise refusal(response.status_code, text, response.headers, secrets)
                yield pieces
        except httpx.HTTPError as error:
            raise self._broken_off(error, secrets) from error
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close all connections."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    def _client(self, url: httpx.URL) -> httpx.AsyncClient:
        client = self._clients.get(url.scheme)
        if client is None:
            # Certificates take tens of milliseconds to load, so not for plain http. A context
            # without any trusts nobody: nothing gets through unverified by mistake.
            plain = url.scheme == "http"
            client = self._clients[url.scheme] = httpx.AsyncClient(
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
                timeout=httpx.Timeout(self._idle_timeout_s, connect=CONNECT_TIMEOUT_S, pool=None),
                limits=httpx.Limits(keepalive_expiry=30),
                transport=self._transport,
            )
        return client

    def _unreachable(self, error: Exception, url: str, secrets: tuple[str, ...]) -> ProviderError:
        if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
            # Where a password is written wrongly, what httpx says may quote a part of it.
            why = "" if "@" in url else f" ({error})"
            text = f"{shown_url(url)!r} is not the address of a server{why}"
            return failure(text, secrets=secrets)
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
            why = str(error) or f"no answer within {CONNECT_TIMEOUT_S} s"
            text = f"Connection error: the server at {shown_url(url)} cannot be reached ({why})"
            return failure(text, secrets=secrets)
        return self._broken_off(error, secrets)

    def _broken_off(self, error: Exception, secrets: tuple[str, ...]) -> ProviderError:
        if isinstance(error, httpx.TimeoutException):
            silence = f"The server was silent for {self._idle_timeout_s:g} s (idle timeout)"
            return failure(silence, secrets=secrets)
        why = str(error) or type(error).__name__
        return failure(f"Connection lost: the answer was terminated ({why})", secrets=secrets)


def _pieces(response: httpx.Response) -> AsyncGenerator[bytes]:
    """Return the body as it comes in; the raw stream is one layer less for each event."""
    stream = response.stream
    if "content-encoding" in response.headers or not isinstance(stream, httpx.AsyncByteStream):
        return cast("AsyncGenerator[bytes]", response.aiter_bytes())
    return cast("AsyncGenerator[bytes]", aiter(stream))


async def _start_of(pieces: AsyncIterator[bytes]) -> str:
    """Read an error's body, up to a limit; one that breaks off counts as far as it came."""
    start = b""
    with suppress(httpx.HTTPError):
        async for piece in pieces:
            start += piece
            if len(start) >= ERROR_BODY_BYTES:
                break
    return start.decode("utf-8", "replace")
