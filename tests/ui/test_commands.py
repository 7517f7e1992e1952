from typing import Any

import pytest

from agent_nb.ui.commands import Ack, Hello, Stop, UnknownCommand, parse_command


@pytest.mark.parametrize(
    ("data", "command"),
    [
        ({"kind": "hello"}, Hello()),
        ({"kind": "hello", "seq": 7, "from a newer page": True}, Hello(seq=7)),
        ({"kind": "stop", "id": "x"}, Stop(id="x")),
        ({"kind": "ack", "seq": 2}, Ack(seq=2)),
    ],
)
def test_known_commands_are_understood(data: Any, command: object) -> None:
    assert parse_command(data) == command


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "explode"},
        {"kind": "ack"},
        {"kind": "hello", "seq": "many"},
        {"kind": "stop", "id": "x" * 1_000},
        {},
        None,
        [],
        "stop",
        {"kind": ["stop"]},
    ],
)
def test_what_is_not_understood_is_reported_and_not_raised(data: Any) -> None:
    command = parse_command(data)
    assert isinstance(command, UnknownCommand)
    assert command.problem
