"""The exact requests a session sent."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import overload

from agent_nb.core.provider import SentRequest


class RequestLog(Sequence[SentRequest]):
    """Requests in order; their fragments are shared, so all cost little more than the last."""

    def __init__(self, requests: Sequence[SentRequest] = ()) -> None:
        self._requests = list(requests)

    def add(self, request: SentRequest) -> None:
        """Append a request; what it repeats of the one before is kept once."""
        last = self._requests[-1] if self._requests else request
        head = last.head if last.head == request.head else request.head
        headers = last.headers if last.headers == request.headers else request.headers
        self._requests.append(replace(request, head=head, headers=headers))

    def snapshot(self) -> "RequestLog":
        """Return a copy that does not grow."""
        return RequestLog(tuple(self._requests))

    @overload
    def __getitem__(self, index: int) -> SentRequest: ...
    @overload
    def __getitem__(self, index: slice) -> "RequestLog": ...
    def __getitem__(self, index: int | slice) -> "SentRequest | RequestLog":
        if isinstance(index, slice):
            return RequestLog(self._requests[index])
        return self._requests[index]

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[SentRequest]:
        return iter(tuple(self._requests))

    def __repr__(self) -> str:
        lines = [f"  [{index}] {request!r}" for index, request in enumerate(self)]
        return "\n".join([f"<RequestLog of {len(self)}>", *lines])
