"""Events as pi writes them: one JSON object a line (docs/json.md of pi 1.6.0)."""

from collections.abc import Mapping
from typing import Any

import orjson

from agent_nb.core import json_text
from agent_nb.core.events import (
    AgentEnd,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    PermissionDecided,
    SessionEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    TurnEnd,
)
from agent_nb.core.messages import Message, Usage, message_to_wire
from agent_nb.core.wire import to_wire


class JsonEvents:
    """Encodes events; each message once, however many events carry it."""

    def __init__(self) -> None:
        self._messages: dict[int, tuple[Message, orjson.Fragment]] = {}
        self._usage: tuple[Usage | None, bytes] = (None, b"")

    def line(self, event: SessionEvent) -> bytes | None:
        """Return the event's line; None for events pi does not have."""
        match event:
            case MessageUpdate():
                return self._update(event)
            case MessageStart(message=message) | MessageEnd(message=message):
                return _line({"type": event.type, "message": self._message(message)})
            case TurnEnd(message=message, tool_results=results):
                return _line(
                    {
                        "type": event.type,
                        "message": self._message(message),
                        "toolResults": [self._message(result) for result in results],
                    }
                )
            case AgentEnd(messages=messages, will_retry=will_retry):
                encoded = [self._message(message) for message in messages]
                self._messages.clear()
                return _line({"type": event.type, "messages": encoded, "willRetry": will_retry})
            case PermissionDecided():
                return None
            case _:
                data = to_wire(event)
                return json_text.dumps({"type": data.pop("type"), **data}) + b"\n"

    def _update(self, event: MessageUpdate) -> bytes:
        inner = event.assistant_message_event
        usage = self._usage_json(event.answer.usage)
        if isinstance(inner, TextDelta | ThinkingDelta | ToolCallDelta):
            # written out by hand: thousands of these pass in a second
            return b'{"type":"message_update","usage":%b,"assistantMessageEvent":%b}\n' % (
                usage,
                b'{"type":"%b","contentIndex":%d,"delta":%b}'
                % (inner.type.encode(), inner.content_index, json_text.dumps(inner.delta)),
            )
        data = to_wire(inner)
        return _line(
            {
                "type": "message_update",
                "usage": orjson.Fragment(usage),
                "assistantMessageEvent": orjson.Fragment(
                    json_text.dumps({"type": data.pop("type"), **data})
                ),
            }
        )

    def _usage_json(self, usage: Usage) -> bytes:
        if self._usage[0] is not usage:
            self._usage = (usage, json_text.dumps(to_wire(usage)))
        return self._usage[1]

    def _message(self, message: Message) -> orjson.Fragment:
        known = self._messages.get(id(message))
        if known is None:
            encoded = orjson.Fragment(json_text.dumps(message_to_wire(message)))
            known = self._messages[id(message)] = (message, encoded)
        return known[1]


def _line(data: Mapping[str, Any]) -> bytes:
    return orjson.dumps(data) + b"\n"
