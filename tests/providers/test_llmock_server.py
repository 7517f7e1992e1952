"""Against a real model server: `llmock` over all three protocols, with its faults."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from json import JSONDecodeError
from pathlib import Path
from typing import Any

import httpx
import pytest
from request_checker import check_anthropic, check_chat, check_responses

from agent_nb.core.abort import AbortSignal
from agent_nb.core.content import TextContent, ToolCall
from agent_nb.core.errors import ProviderError
from agent_nb.core.events import (
    Finish,
    ProviderEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
    UsageReport,
)
from agent_nb.core.json_text import loads
from agent_nb.core.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from agent_nb.core.model import Model
from agent_nb.core.provider import Request, SentRequest
from agent_nb.providers.anthropic_messages import AnthropicMessages
from agent_nb.providers.openai_completions import OpenAICompletions
from agent_nb.providers.openai_responses import OpenAIResponses

pytestmark = pytest.mark.slow
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = {"name": "read", "description": "Read a file.", "parameters": SCHEMA}
READ = {"name": "read", "arguments": {"path": "README.md"}}
Provider = OpenAICompletions | OpenAIResponses | AnthropicMessages
CHECKS = {
    "openai-completions": check_chat,
    "openai-responses": check_responses,
    "anthropic-messages": check_anthropic,
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    command = [Path(sys.executable).with_name("llmock"), "serve", "-h", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    ) as process:
        assert process.stdout
        found = (re.search(r"running on (http://[\d.:]+)", line) for line in process.stdout)
        url = next(match[1] for match in found if match)
        yield url
        process.terminate()
        process.stdout.read()


@pytest.fixture
def fresh(server: str) -> str:
    """Forget what earlier tests scripted."""
    httpx.post(f"{server}/_llmock/reset").raise_for_status()
    return server


@pytest.fixture(params=["chat", "responses", "anthropic"])
async def asked(request: pytest.FixtureRequest, fresh: str) -> AsyncIterator["Asked"]:
    model = Model("gpt-4o", "mock", "openai-completions", f"{fresh}/v1")
    provider: Provider = OpenAICompletions(api_key="test-key-0000")
    if request.param == "anthropic":
        model = replace(
            model, id="claude-x", api="anthropic-messages", base_url=f"{fresh}/anthropic"
        )
        provider = AnthropicMessages(api_key="test-key-0000")
    elif request.param == "responses":
        model = replace(model, api="openai-responses")
        provider = OpenAIResponses(api_key="test-key-0000")
    yield Asked(fresh, provider, model)
    await provider.close()


class Asked:
    """A server to script, and a model on it to ask."""

    def __init__(self, server: str, provider: Provider, model: Model) -> None:
        self.server, self.provider, self.model = server, provider, model
        self.sent: list[SentRequest] = []

    def script(self, *behaviors: dict[str, Any]) -> None:
        body = {"behaviors": list(behaviors)}
        httpx.post(f"{self.server}/_llmock/scenario", json=body).raise_for_status()

    async def __call__(self, *messages: Message) -> list[ProviderEvent]:
        request = Request(self.model, "Be brief.", messages, [TOOL], on_sent=self.sent.append)
        events: list[ProviderEvent] = []
        async for batch in self.provider.stream(request, AbortSignal()):
            events += batch
        return events

    def check_requests(self) -> None:
        for sent in self.sent:
            CHECKS[self.model.api](sent.body)


def text_of(events: list[ProviderEvent]) -> str:
    return "".join(event.delta for event in events if isinstance(event, TextDelta))


async def test_an_answer_streams_to_its_end(asked: Asked) -> None:
    asked.script({"type": "reply", "text": "All is well, 你好."})
    events = await asked(UserMessage.of("Hi"))
    assert text_of(events) == "All is well, 你好."
    assert isinstance(events[-1], Finish)
    assert events[-1].stop_reason == "stop"
    usage = [event.usage for event in events if isinstance(event, UsageReport)][-1]
    assert usage.output > 0
    asked.check_requests()


async def test_a_tool_call_and_its_result_go_round(asked: Asked) -> None:
    asked.script(
        {"type": "reply", "tool_calls": [READ, READ]}, {"type": "reply", "text": "It says so."}
    )
    question = UserMessage.of("What does it say?")
    events = await asked(question)
    assert isinstance(events[-1], Finish)
    assert events[-1].stop_reason == "toolUse"
    starts = [event for event in events if isinstance(event, ToolCallStart)]
    assert [start.tool_name for start in starts] == ["read", "read"]
    calls = []
    for start in starts:
        pieces = (
            event.delta
            for event in events
            if isinstance(event, ToolCallDelta) and event.content_index == start.content_index
        )
        calls.append(ToolCall(start.id, start.tool_name, loads("".join(pieces))))
    assert calls[0].arguments == {"path": "README.md"}
    model = asked.model
    answer = AssistantMessage(
        tuple(calls), model.api, model.provider, model.id, stop_reason="toolUse"
    )
    results = [ToolResultMessage(call.id, "read", (TextContent("so"),)) for call in calls]
    assert text_of(await asked(question, answer, *results)) == "It says so."
    asked.check_requests()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("disconnect", "Connection lost"),
        ("truncate", "ended without"),
        ("malformed", "stream was interrupted"),
    ],
)
async def test_a_broken_stream_is_never_an_answer(asked: Asked, kind: str, words: str) -> None:
    asked.script(
        {"type": "reply", "text": "one two three four five six seven"},
        {"type": "stream_fault", "kind": kind, "after_chunks": 3},
    )
    with pytest.raises(ProviderError, match=words):
        await asked(UserMessage.of("Hi"))


async def test_a_refusal_carries_status_and_retry_after(asked: Asked) -> None:
    asked.script({"type": "fail", "status": 429, "retry_after": 3})
    with pytest.raises(ProviderError, match=r"^429: ") as caught:
        await asked(UserMessage.of("Hi"))
    assert (caught.value.status, caught.value.retry_after_s) == (429, 3)


async def test_broken_arguments_come_through_as_they_are(asked: Asked) -> None:
    asked.script({"type": "tool_fault", "kind": "malformed_arguments"})
    events = await asked(UserMessage.of("Hi"))
    arguments = "".join(event.delta for event in events if isinstance(event, ToolCallDelta))
    with pytest.raises(JSONDecodeError):
        loads(arguments)
    assert isinstance(events[-1], Finish)
