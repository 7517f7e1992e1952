from typing import Any

import pytest
from pydantic import ValidationError

from agent_nb.core.tool import Effect, Tool


def test_the_tools_come_in_the_order_of_pi(tools: dict[str, Tool]) -> None:
    assert list(tools) == ["read", "bash", "edit", "write", "grep", "find", "ls"]


def test_every_tool_says_what_it_is_and_does(tools: dict[str, Tool]) -> None:
    for tool in tools.values():
        assert tool.description
        assert tool.summary
        for field in tool.parameters["properties"].values():
            assert field["description"]
    read, write, execute = (
        {name for name, tool in tools.items() if effect in tool.effects}
        for effect in (Effect.READ, Effect.WRITE, Effect.EXECUTE)
    )
    assert read == {"read", "edit", "grep", "find", "ls"}
    assert (write, execute) == ({"edit", "write"}, {"bash"})


def test_schemas_have_the_argument_names_of_pi(tools: dict[str, Tool]) -> None:
    names = {name: list(tool.parameters["properties"]) for name, tool in tools.items()}
    assert names == {
        "read": ["path", "offset", "limit"],
        "bash": ["command", "timeout"],
        "edit": ["path", "edits"],
        "write": ["path", "content"],
        "grep": ["pattern", "path", "glob", "ignoreCase", "literal", "context", "limit"],
        "find": ["pattern", "path", "limit"],
        "ls": ["path", "limit"],
    }
    edit = tools["edit"].parameters["properties"]["edits"]["items"]
    assert edit["required"] == ["oldText", "newText"]


def test_schemas_use_no_references_and_no_null(tools: dict[str, Tool]) -> None:
    text = str([tool.parameters for tool in tools.values()])
    for word in ("$ref", "$defs", "anyOf", "null", "None", "title"):
        assert word not in text


@pytest.mark.parametrize(
    ("name", "arguments", "field", "value"),
    [
        ("read", {"path": "a", "offset": "3"}, "offset", 3),
        ("read", {"path": "a", "offset": 3.7}, "offset", 3),
        ("read", {"path": "a", "limit": None}, "limit", None),
        ("read", {"path": 7}, "path", "7"),
        ("read", {"path": "a", "reason": "extra"}, "offset", 1),
        ("bash", {"command": "x", "timeout": "1.5"}, "timeout", 1.5),
        ("grep", {"pattern": "x", "ignoreCase": "true"}, "ignore_case", True),
        ("grep", {"pattern": "x", "path": None}, "path", "."),
    ],
)
def test_arguments_are_taken_leniently(
    tools: dict[str, Tool], name: str, arguments: dict[str, Any], field: str, value: Any
) -> None:
    assert getattr(tools[name].arguments.model_validate(arguments), field) == value


@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("read", {"path": {"not": "text"}}, "path"),
        ("read", {}, "path"),
        ("read", {"path": "a", "offset": "inf"}, "offset"),
        ("bash", {"command": "x", "timeout": 0}, "timeout"),
        ("bash", {"command": "x", "timeout": "nan"}, "timeout"),
        ("edit", {"path": "a"}, "edits"),
        ("edit", {"path": "a", "edits": []}, "edits"),
        ("edit", {"path": "a", "edits": "no json"}, "edits"),
    ],
)
def test_wrong_arguments_are_named(
    tools: dict[str, Tool], name: str, arguments: dict[str, Any], word: str
) -> None:
    tool = tools[name]
    raw = tool.prepare(arguments) if tool.prepare else arguments
    with pytest.raises(ValidationError, match=word):
        tool.arguments.model_validate(raw)


def test_paths_of_a_call_are_told_for_the_permission_gate(tools: dict[str, Tool]) -> None:
    def paths(name: str, **arguments: Any) -> list[str]:
        return [*tools[name].paths(tools[name].arguments.model_validate(arguments))]

    assert paths("read", path="@a") == ["@a"]
    assert paths("write", path="a", content="") == ["a"]
    assert paths("ls") == paths("find", pattern="x") == paths("grep", pattern="x") == ["."]
    assert paths("bash", command="x") == []
