import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_nb.cli.rpc_handlers import HANDLERS
from agent_nb.cli.rpc_server import RpcServer
from agent_nb.core.messages import Cost, Usage
from agent_nb.core.model import Model
from agent_nb.providers.scripted import (
    SCRIPTED_MODEL,
    ScriptedAnswer,
    ScriptedProvider,
    calls,
    fails,
    says,
)
from agent_nb.session.create import SessionOptions, create_session

Record = dict[str, Any]
THINKER = Model("thinker", "scripted", "scripted", reasoning=True)
PNG = "iVBORw0KGgo="


class Client:
    """Sends commands to a server in this process and reads its records."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.server: RpcServer
        self.provider: ScriptedProvider
        self._changed = asyncio.Event()

    def put(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.records.append(json.loads(line))
        self._changed.set()

    async def send(self, kind: str, ident: str = "x", **fields: Any) -> Record:
        """Send a command and return its response."""
        seen = len(self.records)
        await self.server.handle(json.dumps({"id": ident, "type": kind, **fields}).encode())
        return await self.wait(since=seen, type="response", id=ident)

    async def data(self, kind: str, **fields: Any) -> Any:
        response = await self.send(kind, **fields)
        assert response["success"], response
        return response["data"]

    async def wait(self, *, since: int = 0, **expected: Any) -> Record:
        """Return the first record that has these fields, once it is there."""
        async with asyncio.timeout(10):
            while True:
                self._changed.clear()
                for record in self.records[since:]:
                    if expected.items() <= record.items():
                        return record
                await self._changed.wait()

    async def ask(self, text: str) -> None:
        """Prompt, and return when the run has settled."""
        seen = len(self.records)
        assert (await self.send("prompt", message=text))["success"]
        await self.wait(since=seen, type="agent_settled")

    def types(self) -> list[str]:
        return [
            f"response {record['command']}" if record["type"] == "response" else record["type"]
            for record in self.records
            if record["type"] != "message_update"
        ]


Connect = Callable[..., Awaitable[Client]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    agent_dir = tmp_path / "agent"
    (agent_dir / "prompts").mkdir(parents=True)
    (agent_dir / "prompts" / "greet.md").write_text("Say hello to $1")
    (agent_dir / "settings.json").write_text('{"retry": {"baseDelayMs": 60000}}')
    return {"AGENT_NB_DIR": str(agent_dir), "PATH": "/usr/bin:/bin", "ANTHROPIC_API_KEY": "k"}


@pytest.fixture
async def connect(tmp_path: Path, environment: dict[str, str]) -> AsyncIterator[Connect]:
    work = tmp_path / "work"
    work.mkdir()
    clients = []

    async def make(*answers: ScriptedAnswer, **serving: Any) -> Client:
        client = Client()
        client.provider = ScriptedProvider(*answers)
        options = SessionOptions(
            cwd=work,
            model=SCRIPTED_MODEL.key,
            providers={"scripted": client.provider},
            models=[SCRIPTED_MODEL, THINKER],
            environment={k: v for k, v in environment.items() if k != "ANTHROPIC_API_KEY"},
        )
        session = await create_session(options)
        client.server = RpcServer(session, options, client.put, handlers=HANDLERS, **serving)
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.server.close()


async def test_a_prompt_is_answered_before_its_first_event(connect: Connect) -> None:
    client = await connect(says("Hello"))
    await client.ask("Hi")
    assert client.types()[:2] == ["response prompt", "agent_start"]
    assert client.records[0] == {
        "id": "x",
        "type": "response",
        "command": "prompt",
        "success": True,
        "data": {"disposition": "started"},
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"no json", {"command": "parse"}),
        (b"", {"command": "parse"}),
        (b"[1]", {"command": "parse"}),
        (b'{"id":"1","no":"type"}', {"command": None, "id": "1"}),
        (b'{"id":7,"type":"no_such"}', {"command": "no_such", "id": 7}),
        (b'{"type":"prompt"}', {"command": "prompt"}),
        (b'{"type":"prompt","message":{}}', {"command": "prompt"}),
        (b'{"type":"set_steering_mode","mode":"some"}', {"command": "set_steering_mode"}),
        (b'{"type":"compact"}', {"command": "compact"}),
        (b'{"type":"export_html"}', {"command": "export_html"}),
        (b'{"type":"fork","entryId":"none"}', {"command": "fork"}),
        (b'{"type":"clone"}', {"command": "clone"}),
        (b'{"type":"set_session_name","name":" "}', {"command": "set_session_name"}),
        (b'{"type":"bash","command":"a\\u0000b"}', {"command": "bash"}),
        (b'{"type":"switch_session","sessionPath":"/dev/null"}', {"command": "switch_session"}),
    ],
)
async def test_what_cannot_be_done_is_answered_with_an_error(
    line: bytes, expected: Record, connect: Connect
) -> None:
    client = await connect()
    await client.server.handle(line)
    record = await client.wait(type="response")
    assert record["success"] is False
    assert record["error"]
    assert expected.items() <= record.items()
    assert len(client.records) == 1


async def test_an_answer_to_a_dialogue_nobody_opened_is_passed_over(connect: Connect) -> None:
    client = await connect()
    await client.server.handle(b'{"type":"extension_ui_response","id":"1"}')
    assert client.records == []


async def test_a_prompt_during_a_run_needs_a_choice(connect: Connect) -> None:
    client = await connect(says("One two", chunk=1, delay_s=0.01), says("Later"))
    await client.send("prompt", message="Hi")
    refused = await client.send("prompt", "2", message="More")
    assert (refused["success"], "going on" in refused["error"]) == (False, True)
    queued = await client.send("prompt", "3", message="More", streamingBehavior="followUp")
    assert queued["data"] == {"disposition": "queued"}
    await client.wait(type="agent_settled")
    assert len(client.provider.requests) == 2


async def test_abort_is_answered_when_the_run_has_settled(connect: Connect) -> None:
    client = await connect(says("x" * 1000, chunk=1, delay_s=0.01))
    await client.send("prompt", message="Hi")
    await client.wait(type="message_update")
    await client.send("abort", "2")
    assert client.types()[-2:] == ["agent_settled", "response abort"]
    assert client.records[-2]["aborted"] is True


async def test_queued_messages_can_be_taken_back(connect: Connect) -> None:
    client = await connect()
    await client.send(
        "steer", message="Left", images=[{"type": "image", "data": PNG, "mimeType": "image/png"}]
    )
    await client.send("follow_up", message="Right", images=None)
    assert (await client.data("get_state"))["pendingMessageCount"] == 2
    assert await client.data("clear_queue") == {"steering": ["Left"], "followUp": ["Right"]}
    assert client.types()[-2:] == ["queue_update", "response clear_queue"]


async def test_a_retry_can_be_given_up(connect: Connect) -> None:
    client = await connect(fails("503: busy", 503), fails("503: busy", 503))
    await client.send("prompt", message="Hi")
    await client.wait(type="auto_retry_start")
    await client.send("abort_retry", "2")
    types = client.types()
    assert types[-3:] == ["auto_retry_end", "agent_settled", "response abort_retry"]
    assert client.records[-2]["aborted"] is False
    assert (await client.send("abort_retry", "3"))["success"]
    await client.send("set_auto_retry", "4", enabled=False)
    await client.ask("Again")
    assert client.types().count("auto_retry_start") == 1


async def test_a_users_command_streams_and_reaches_the_next_request(connect: Connect) -> None:
    client = await connect(says("Seen"))
    data = await client.data("bash", command="printf 'a\\033[1mb\\n'; exit 4", ident="b1")
    assert data == {"output": "ab\n", "exitCode": 4, "cancelled": False, "truncated": False}
    update = await client.wait(type="bash_execution_update")
    assert update["id"] == "b1"
    await client.send("bash", command="echo hidden", excludeFromContext=True)
    await client.ask("What did I run?")
    sent = " ".join(message.text for message in client.provider.requests[0].messages)
    assert "exit 4" in sent
    assert "hidden" not in sent
    roles = [m["role"] for m in (await client.data("get_messages"))["messages"]]
    assert roles == ["bashExecution", "bashExecution", "system", "user", "assistant"]


async def test_a_client_that_is_behind_gets_only_the_result(connect: Connect) -> None:
    client = await connect(is_behind=lambda: True)
    assert (await client.data("bash", command="echo hi"))["output"] == "hi\n"
    assert client.types() == ["response bash"]


async def test_a_users_command_can_be_cancelled_at_once(connect: Connect) -> None:
    client = await connect()
    await client.server.handle(b'{"id":"b","type":"bash","command":"sleep 60"}')
    await client.send("abort_bash")
    response = await client.wait(type="response", id="b")
    assert response["data"] == {"output": "", "cancelled": True, "truncated": False}


async def test_a_running_command_is_ended_and_stored_as_cancelled(connect: Connect) -> None:
    client = await connect()
    await client.server.handle(b'{"id":"b","type":"bash","command":"echo on; sleep 60"}')
    await client.wait(type="bash_execution_update")
    await client.send("abort_bash")
    data = (await client.wait(type="response", id="b"))["data"]
    assert data == {"output": "on\n", "cancelled": True, "truncated": False}
    [stored] = (await client.data("get_messages"))["messages"]
    assert (stored["cancelled"], stored["output"]) == (True, "on\n")


async def test_a_users_command_during_a_run_is_stored_after_it(connect: Connect) -> None:
    client = await connect(
        calls("bash", {"command": "while [ ! -f go ]; do sleep 0.02; done"}), says("Went")
    )
    await client.send("prompt", message="Start")
    await client.wait(type="tool_execution_start")
    await client.data("bash", command="echo between; touch go")
    await client.wait(type="agent_settled")
    roles = [m["role"] for m in (await client.data("get_messages"))["messages"]]
    assert roles[-3:] == ["toolResult", "assistant", "bashExecution"]


async def test_a_fork_ends_before_the_chosen_prompt(connect: Connect) -> None:
    client = await connect(says("One"), says("Two"), says("Other"))
    await client.ask("First")
    await client.ask("Second")
    before = await client.data("get_state")
    old = await client.data("get_entries")
    messages = (await client.data("get_fork_messages"))["messages"]
    assert [message["text"] for message in messages] == ["First", "Second"]
    fork = await client.data("fork", entryId=messages[1]["entryId"])
    assert fork == {"text": "Second", "cancelled": False}
    new = await client.data("get_entries")
    assert new["entries"] == old["entries"][: len(new["entries"])]
    after = await client.data("get_state")
    assert after["sessionId"] != before["sessionId"]
    header = json.loads(Path(after["sessionFile"]).read_text().splitlines()[0])
    assert header["parentSession"] == before["sessionFile"]
    await client.ask("Second, changed")
    assert [m.text for m in client.provider.requests[2].messages] == [
        "First",
        "One",
        "Second, changed",
    ]


async def test_a_fork_from_the_first_prompt_has_no_file_yet(connect: Connect) -> None:
    client = await connect(says("One"))
    await client.ask("First")
    [message] = (await client.data("get_fork_messages"))["messages"]
    await client.data("fork", entryId=message["entryId"])
    state = await client.data("get_state")
    assert not Path(state["sessionFile"]).exists()
    assert state["messageCount"] <= 1


async def test_a_clone_goes_on_by_itself(connect: Connect) -> None:
    client = await connect(says("One"), says("Two"))
    await client.ask("First")
    old = await client.data("get_state")
    text = Path(old["sessionFile"]).read_text()
    assert await client.data("clone") == {"cancelled": False}
    await client.ask("Second")
    assert Path(old["sessionFile"]).read_text() == text
    new = await client.data("get_state")
    assert new["messageCount"] == old["messageCount"] + 2
    assert await client.data("switch_session", sessionPath=old["sessionFile"]) == {
        "cancelled": False
    }
    assert (await client.data("get_state"))["sessionId"] == old["sessionId"]
    assert await client.data("get_last_assistant_text") == {"text": "One"}


async def test_a_new_session_is_empty_and_keeps_what_was_set(connect: Connect) -> None:
    client = await connect(says("One"))
    await client.ask("First")
    await client.send("set_steering_mode", mode="all")
    await client.send("set_follow_up_mode", mode="all")
    await client.send("set_model", provider="scripted", modelId="thinker")
    await client.send("set_thinking_level", level="low")
    assert await client.data("new_session", parentSession="p.jsonl") == {"cancelled": False}
    state = await client.data("get_state")
    assert (state["messageCount"], state["thinkingLevel"], state["model"]["id"]) == (
        0,
        "low",
        "thinker",
    )
    assert (state["steeringMode"], state["followUpMode"]) == ("all", "all")
    assert await client.data("get_last_assistant_text") == {}


async def test_a_session_whose_directory_is_gone_is_not_switched_to(
    connect: Connect, tmp_path: Path
) -> None:
    client = await connect(says("One"))
    other = tmp_path / "other.jsonl"
    header = {"type": "session", "version": 3, "id": "o", "timestamp": "", "cwd": "/no/such"}
    other.write_text(json.dumps(header) + "\n")
    refused = await client.send("switch_session", sessionPath=str(other))
    assert "/no/such" in refused["error"]
    await client.ask("Still there?")


async def test_a_run_is_aborted_before_another_session_begins(connect: Connect) -> None:
    client = await connect(says("x" * 1000, chunk=1, delay_s=0.01))
    await client.send("prompt", message="Hi")
    old = (await client.data("get_state"))["sessionFile"]
    await client.data("new_session")
    assert client.types()[-2:] == ["agent_settled", "response new_session"]
    last = json.loads(Path(old).read_text().splitlines()[-1])
    assert last["message"]["stopReason"] == "aborted"


async def test_statistics_count_every_branch_and_every_cost(connect: Connect) -> None:
    used = Usage(100, 10, 50, 0, 160, cost=Cost(total=0.5))
    client = await connect(calls("ls", usage=used), says("Done", usage=used))
    await client.ask("Look")
    stats = await client.data("get_session_stats")
    assert stats["tokens"] == {
        "input": 200,
        "output": 20,
        "cacheRead": 100,
        "cacheWrite": 0,
        "total": 320,
    }
    counted = ["userMessages", "assistantMessages", "toolCalls", "toolResults", "totalMessages"]
    assert [stats[name] for name in counted] == [1, 2, 1, 1, 5]
    assert stats["contextUsage"] == {"tokens": 160, "contextWindow": 128_000, "percent": 0.125}


async def test_models_and_thinking_are_cycled(connect: Connect) -> None:
    client = await connect()
    models = (await client.data("get_available_models"))["models"]
    assert [model["id"] for model in models] == ["script", "thinker"]
    assert (await client.send("cycle_thinking_level"))["data"] is None
    cycled = await client.data("cycle_model")
    assert (cycled["model"]["id"], cycled["isScoped"]) == ("thinker", False)
    levels = (await client.data("get_available_thinking_levels"))["levels"]
    assert levels == ["off", "minimal", "low", "medium", "high"]
    await client.send("set_thinking_level", level="max")
    assert client.types()[-2:] == ["thinking_level_changed", "response set_thinking_level"]
    assert await client.data("cycle_thinking_level") == {"level": "off"}
    refused = await client.send("set_model", provider="scripted", modelId="think")
    assert refused["error"] == "Model not found: scripted/think"
    assert (await client.data("set_model", provider="demo", modelId="reader"))["id"] == "reader"


async def test_a_session_is_named(connect: Connect) -> None:
    client = await connect()
    assert "sessionName" not in await client.data("get_state")
    await client.send("set_session_name", name=" My\nname ")
    assert client.records[-2:][0] == {"type": "session_info_changed", "name": "My name"}
    assert (await client.data("get_state"))["sessionName"] == "My name"


async def test_entries_can_be_read_from_where_one_stopped(connect: Connect) -> None:
    client = await connect(says("One"), says("Two"))
    await client.ask("First")
    leaf = (await client.data("get_entries"))["leafId"]
    await client.ask("Second")
    later = (await client.data("get_entries", since=leaf))["entries"]
    assert [entry["message"]["role"] for entry in later] == ["user", "assistant"]
    assert (await client.send("get_entries", since="ffffffff"))["success"] is False
    node, depth = (await client.data("get_tree"))["tree"], 0
    while node:
        [only], depth = node, depth + 1
        node = only["children"]
    assert depth == len((await client.data("get_entries"))["entries"])


async def test_templates_can_be_listed_and_used(connect: Connect) -> None:
    client = await connect(says("Hello"))
    [command] = (await client.data("get_commands"))["commands"]
    assert (command["name"], command["source"]) == ("greet", "prompt")
    assert command["sourceInfo"]["scope"] == "user"
    await client.ask("/greet Ada")
    assert client.provider.requests[0].messages[0].text == "Say hello to Ada"


async def test_nothing_is_said_after_the_end(connect: Connect) -> None:
    client = await connect(says("x" * 1000, chunk=1, delay_s=0.01))
    await client.send("prompt", message="Hi")
    await client.wait(type="message_update")
    path = (await client.data("get_state"))["sessionFile"]
    said = len(client.records)
    await client.server.close()
    assert len(client.records) == said
    last = json.loads(Path(path).read_text().splitlines()[-1])
    assert last["message"]["stopReason"] == "aborted"


async def test_a_tool_that_runs_at_the_end_has_its_result_stored(connect: Connect) -> None:
    client = await connect(calls("bash", {"command": "echo on; sleep 60"}))
    await client.send("prompt", message="Hi")
    await client.wait(type="tool_execution_update")
    path = (await client.data("get_state"))["sessionFile"]
    await client.server.close()
    result, last = [
        json.loads(line)["message"] for line in Path(path).read_text().splitlines()[-2:]
    ]
    assert (result["role"], result["isError"]) == ("toolResult", True)
    assert "on\n" in result["content"][0]["text"]
    assert (last["role"], last["content"], last["stopReason"]) == ("assistant", [], "aborted")
