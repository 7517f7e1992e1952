"""Text that arrives one byte at a time is whole in the session, on disk, and in a written file."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent_nb.core.model import Model
from agent_nb.core.provider import Provider
from agent_nb.providers.anthropic_messages import AnthropicMessages
from agent_nb.providers.openai_completions import OpenAICompletions
from agent_nb.providers.openai_responses import OpenAIResponses
from agent_nb.session.create import create_session

TEXT = "你好 🌍 é"
ARGUMENTS = json.dumps({"path": "out.txt", "content": TEXT}, ensure_ascii=False)


class OneByteAtATime(httpx.AsyncByteStream):
    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for value in self._data:
            yield bytes([value])


def transport(*bodies: bytes) -> httpx.MockTransport:
    waiting = iter(bodies)

    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200,
            headers={"content-type": "text/event-stream"},
            stream=OneByteAtATime(next(waiting)),
        )

    return httpx.MockTransport(answer)


def events(*data: Any) -> bytes:
    lines = []
    for item in data:
        if isinstance(item, dict) and "type" in item:
            lines.append(f"event: {item['type']}\n")
        text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        lines.append(f"data: {text}\n\n")
    return "".join(lines).encode()


def chat(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def openai() -> Provider:
    call = {"index": 0, "id": "c1", "function": {"name": "write", "arguments": ARGUMENTS}}
    first = events(
        chat({"content": TEXT}), chat({"tool_calls": [call]}), chat({}, "tool_calls"), "[DONE]"
    )
    return OpenAICompletions(
        transport=transport(first, events(chat({"content": TEXT}), chat({}, "stop"), "[DONE]"))
    )


def responses() -> Provider:
    def answer(*items: dict[str, Any]) -> bytes:
        inner: list[dict[str, Any]] = []
        for index, item in enumerate(items):
            is_call = item["type"] == "function_call"
            delta = "function_call_arguments" if is_call else "output_text"
            start = {**item, "arguments": ""} if is_call else {**item, "content": []}
            piece = ARGUMENTS if is_call else TEXT
            inner += [
                {"type": "response.output_item.added", "output_index": index, "item": start},
                {"type": f"response.{delta}.delta", "output_index": index, "delta": piece},
                {"type": "response.output_item.done", "output_index": index, "item": item},
            ]
        return events(*inner, {"type": "response.completed", "response": {"status": "completed"}})

    text = {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": TEXT}]}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "write"}
    return OpenAIResponses(
        transport=transport(answer(text, {**call, "arguments": ARGUMENTS}), answer(text))
    )


def anthropic() -> Provider:
    def message(blocks: list[list[dict[str, Any]]], reason: str) -> bytes:
        started = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}
        ended = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {}}
        inner = []
        for index, (start, delta) in enumerate(blocks):
            inner += [
                {"type": "content_block_start", "index": index, "content_block": start},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        return events(started, *inner, ended, {"type": "message_stop"})

    text = [{"type": "text", "text": ""}, {"type": "text_delta", "text": TEXT}]
    call = [
        {"type": "tool_use", "id": "c1", "name": "write", "input": {}},
        {"type": "input_json_delta", "partial_json": ARGUMENTS},
    ]
    return AnthropicMessages(
        transport=transport(message([text, call], "tool_use"), message([text], "end_turn"))
    )


@pytest.mark.parametrize(
    ("api", "provider"),
    [
        ("openai-completions", openai()),
        ("openai-responses", responses()),
        ("anthropic-messages", anthropic()),
    ],
    ids=["openai", "responses", "anthropic"],
)
async def test_text_and_arguments_arrive_intact(
    work: Path, environment: dict[str, str], api: str, provider: Provider
) -> None:
    model = Model("m", "mock", api, "http://mock.invalid")
    session = await create_session(
        cwd=work,
        environment=environment,
        model=model.key,
        models=[model],
        providers={"mock": provider},
    )
    result = await session.prompt(TEXT)
    assert result.outcome == "done", result.error
    assert [turn.text for turn in result.turns] == [TEXT, TEXT]
    assert result.tool_calls[0].arguments["content"] == TEXT
    assert (work / "out.txt").read_bytes() == TEXT.encode()
    assert session.path is not None
    stored = session.path.read_text(encoding="utf-8")
    assert stored.count(TEXT) >= 4
    await session.dispose()
