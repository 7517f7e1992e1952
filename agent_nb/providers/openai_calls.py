"""Which tool call a fragment belongs to, on servers that do not say it properly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_nb.core import json_text
from agent_nb.core.events import ProviderEvent, ToolCallDelta, ToolCallStart
from agent_nb.providers.lenient import mapping, text, whole


@dataclass(slots=True)
class _Call:
    content_index: int
    index: int | None
    given_id: str = ""
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments so far are complete JSON, so that no more can follow."""
        if not self.pieces or not self.pieces[-1].rstrip().endswith("}"):
            return False
        try:
            json_text.loads("".join(self.pieces))
        except ValueError:
            return False
        return True


class CallFragments:
    """Puts fragments together to calls: two calls stay two, with their own arguments.

    Index and id may each be missing, repeated, or the same for all calls; a name may be split
    or repeated. A call is announced when its name is known, that is with its first arguments or
    when something else follows.
    """

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._calls: list[_Call] = []
        self._unannounced: _Call | None = None

    @property
    def count(self) -> int:
        """How many calls there are."""
        return len(self._calls)

    def feed(
        self, fragment: Mapping[str, Any], content_index: int, events: list[ProviderEvent]
    ) -> int:
        """Take a fragment; return 1 if it begins a call, which then is block `content_index`."""
        function = mapping(fragment.get("function"))
        name, arguments = text(function.get("name")), _arguments(function.get("arguments"))
        call_id, index = text(fragment.get("id")), whole(fragment.get("index"))
        call = self._known(call_id, index, name, arguments)
        is_new = call is None
        if call is None:
            call = _Call(content_index, index)
            self._calls.append(call)
        if call is not self._unannounced:
            self.flush(events)
            if is_new:
                self._unannounced = call
        if call is self._unannounced:
            call.given_id = call.given_id or call_id
            if name != call.name:
                call.name += name
        if arguments:
            self.flush(events)
            call.pieces.append(arguments)
            events.append(ToolCallDelta(call.content_index, arguments))
        return int(is_new)

    def flush(self, events: list[ProviderEvent]) -> None:
        """Announce the call whose name was still being awaited."""
        call, self._unannounced = self._unannounced, None
        if call is not None:
            is_taken = any(other.id == call.given_id for other in self._calls)
            call.id = self._new_id() if is_taken or not call.given_id else call.given_id
            events.append(ToolCallStart(call.content_index, call.id, call.name))
            events.append(ToolCallDelta(call.content_index, ""))  # as pi does: its place is here

    def _known(self, call_id: str, index: int | None, name: str, arguments: str) -> _Call | None:
        """Return the call that a fragment continues, or None if it begins one."""
        for call in self._calls if call_id else ():
            if call.given_id == call_id and (index is None or call.index in (None, index)):
                return call
        at_place = [call for call in self._calls if index is None or call.index == index]
        candidate = at_place[-1] if at_place else None
        if candidate is None:
            return None
        if call_id and candidate.given_id:  # two ids at one place
            return None if name or candidate.is_whole else candidate
        begins = name and candidate.is_whole and (arguments or name != candidate.name)
        return None if begins else candidate


def _arguments(value: Any) -> str:
    """Arguments should be JSON text; some servers send the object itself."""
    return json_text.dumps(value).decode() if isinstance(value, dict) else text(value)
