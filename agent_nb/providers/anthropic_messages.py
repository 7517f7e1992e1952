"""The Anthropic Messages API. Source: docs.anthropic.com/en/api/messages-streaming."""

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial

import httpx

from agent_nb.core.abort import AbortSignal
from agent_nb.core.events import ProviderEvent
from agent_nb.core.provider import Request, SentRequest
from agent_nb.providers.anthropic_decode import AnthropicDecoder
from agent_nb.providers.anthropic_encode import (
    AnthropicMessagesEncoder,
    beta_features,
    messages_fields,
    with_cache_mark,
)
from agent_nb.providers.exchange import exchange
from agent_nb.providers.fragments import History
from agent_nb.providers.http import Http, masked, standard_headers
from agent_nb.providers.replay import encode


class AnthropicMessages:
    """Serves models over the Anthropic Messages API; address and quirks come from the model.

    Args:
        api_key: Sent as `x-api-key`; None for servers that want none.
        idle_timeout_s: Longest silence of the server, in seconds; None or 0 waits for ever.
        transport: Answers instead of the network, for tests.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        idle_timeout_s: float | None = 300,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._api_key = api_key
        self._http = Http(idle_timeout_s=idle_timeout_s, transport=transport)
        self._history = History()

    def stream(
        self, request: Request, signal: AbortSignal
    ) -> AsyncIterator[Sequence[ProviderEvent]]:
        """Yield the events of each network read together, the last of all a `Finish`.

        Raises:
            ProviderError: If the server refuses, or the answer breaks off before it is whole.
            Aborted: If the signal is set.
        """
        decoder = AnthropicDecoder(request.model.id)
        return exchange(self._http, partial(self._encode, request), decoder, signal)

    async def close(self) -> None:
        """Let go of connections."""
        await self._http.close()

    def _encode(self, request: Request) -> tuple[SentRequest, Mapping[str, str]]:
        model = request.model
        messages = self._history.messages(
            model, request.messages, AnthropicMessagesEncoder(model).unit, with_cache_mark
        )
        headers = standard_headers(self._headers(request), model.headers)
        sent = SentRequest(
            _url(model.base_url),
            masked(headers),
            self._history.shared(encode(messages_fields(request))[:-1] + b',"messages":['),
            messages.fragments,
            messages.length,
            messages.rest + b"]}",
        )
        request.on_sent(sent)
        return sent, headers

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {"anthropic-version": "2023-06-01"}
        if self._api_key:
            headers["x-api-key"] = self._api_key
        if features := beta_features(request):
            headers["anthropic-beta"] = ",".join(features)
        headers.update(_affinity_header(request))
        return headers


def _affinity_header(request: Request) -> dict[str, str]:
    """Return the header by which a gateway keeps a session on one machine."""
    compat, is_openrouter = request.model.compat, "openrouter.ai" in request.model.base_url
    if not (request.session_id and compat.get("sendSessionAffinityHeaders", is_openrouter)):
        return {}
    kind = compat.get("sessionAffinityFormat", "openrouter" if is_openrouter else "")
    name = "x-session-id" if kind == "openrouter" else "x-session-affinity"
    return {name: request.session_id}


def _url(base_url: str) -> str:
    """Return the endpoint; a base URL with and without `/v1` both work."""
    return f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages"
