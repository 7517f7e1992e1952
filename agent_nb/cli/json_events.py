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
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolExecutionEnd,
    ToolExecutionUpdate,
    TurnEnd,
)
from agent_nb.core.messages import Message, Usage, message_to_wire
from agent_nb.core.wire import to_wire


class JsonEvents:
    """Encodes events; each message once, however many events carry it."""

    def __init__(self) -> None:
        self._messages: dict[int, tuple[Message, orjson.Fragment]] = {}
        self._usage: tuple[Usage | None, bytes] = (None, b"")
        self._delta_head: tuple[Usage | None, type[object], int, bytes] = (None, object, 0, b"")

    def line(self, event: SessionEvent) -> bytes | None:
        """Return the event's line; None for events pi does not have."""
        match event:
            case MessageUpdate(assistant_message_event=inner, answer=answer):
                if isinstance(inner, TextDelta | ThinkingDelta | ToolCallDelta):
                    return self._delta(inner, answer.usage)
                return self._update(inner, answer.usage)
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
            case ToolExecutionEnd(result=result) | ToolExecutionUpdate(partial_result=result):
                data = to_wire(event)
                data["result" if event.type == "tool_execution_end" else "partialResult"] = {
                    "content": to_wire(result.content),
                    "details": result.details,
                }
                return json_text.dumps({"type": data.pop("type"), **data}) + b"\n"
            case PermissionDecided():
                return None
            case _:
                data = to_wire(event)
                return json_text.dumps({"type": data.pop("type"), **data}) + b"\n"

    def _delta(self, event: TextDelta | ThinkingDelta | ToolCallDelta, usage: Usage) -> bytes:
        """Write a delta out by hand: thousands pass in a second, all but their text the same."""
        seen, kind, index, head = self._delta_head
        if seen is not usage or kind is not type(event) or index != event.content_index:
            head = b"".join(
                (
                    b'{"type":"message_update","usage":',
                    self._usage_json(usage),
                    b',"assistantMessageEvent":{"type":"%b",' % event.type.encode(),
                    b'"contentIndex":%d,"delta":' % event.content_index,
                )
            )
            self._delta_head = (usage, type(event), event.content_index, head)
        return head + json_text.dumps(event.delta) + b"}}\n"

    def _update(self, inner: StreamEvent, usage: Usage) -> bytes:
        data = to_wire(inner)
        return _line(
            {
                "type": "message_update",
                "usage": orjson.Fragment(self._usage_json(usage)),
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
