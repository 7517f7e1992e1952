"""The responses API. Source: platform.openai.com/docs/api-reference/responses-streaming."""

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial

import httpx

from agent_nb.core.abort import AbortSignal
from agent_nb.core.events import ProviderEvent
from agent_nb.core.provider import Request, SentRequest
from agent_nb.providers.exchange import exchange
from agent_nb.providers.fragments import History
from agent_nb.providers.http import Http, masked, standard_headers
from agent_nb.providers.replay import encode
from agent_nb.providers.responses_decode import ResponsesDecoder
from agent_nb.providers.responses_encode import (
    ResponsesInput,
    affinity_headers,
    instructions,
    responses_fields,
)


class OpenAIResponses:
    """Serves models over the responses API, which stores nothing: each request holds all.

    Args:
        api_key: Sent as a bearer token; None for servers that want none.
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
        decoder = ResponsesDecoder(request.model.id)
        return exchange(self._http, partial(self._encode, request), decoder, signal)

    async def close(self) -> None:
        """Let go of connections."""
        await self._http.close()

    def _encode(self, request: Request) -> tuple[SentRequest, Mapping[str, str]]:
        model = request.model
        messages = self._history.messages(model, request.messages, ResponsesInput(model).unit)
        system = encode(instructions(request)) if request.system else b""
        comma = b"," if system and (messages.length or messages.rest) else b""
        fields = encode(responses_fields(request))
        ours = affinity_headers(request)
        if self._api_key:
            ours["authorization"] = f"Bearer {self._api_key}"
        headers = standard_headers(ours, model.headers)
        sent = SentRequest(
            f"{model.base_url.rstrip('/')}/responses",
            masked(headers),
            self._history.shared(fields[:-1] + b',"input":[' + system + comma),
            messages.fragments,
            messages.length,
            messages.rest + b"]}",
        )
        request.on_sent(sent)
        return sent, headers
