from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agent_nb.core.content import ImageContent
from agent_nb.render.blocks import ToolCard
from agent_nb.render.calls import arguments_of, card_note, headline, long_arguments
from agent_nb.render.growing import GrowingText
from agent_nb.render.words import words

SAY = words("en")


def card(name: str = "read", **fields: Any) -> ToolCard:
    return replace(ToolCard("1", name, "done", GrowingText.of()), **fields)


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("read", {"path": "a.csv"}, "a.csv"),
        ("read", {"path": "a.csv", "offset": 1, "limit": 20}, "a.csv · lines 1–20"),
        ("read", {"path": "a.csv", "offset": 30}, "a.csv · from line 30"),
        ("read", {"path": "a.ipynb", "raw": True}, 'a.ipynb · {"raw": true}'),
        ("bash", {"command": "make test\nmake docs"}, "make test …"),
        ("write", {"path": "a.py", "content": "x = 1"}, "a.py"),
        ("grep", {"pattern": "def ", "path": "src", "glob": "*.py"}, "def in src · *.py"),
        ("find", {"pattern": "**/*.csv", "path": "."}, "**/*.csv"),
        ("ls", {}, ""),
        ("data", {"path": "a.csv", "sql": "select 1"}, 'a.csv · {"sql": "select 1"}'),
        ("mine", {"count": 2}, '{"count": 2}'),
        ("read", {"path": ["not", "text"], "offset": "x"}, '["not", "text"]'),
    ],
)
def test_a_call_is_named_by_its_key_argument(
    name: str, arguments: Mapping[str, Any], line: str
) -> None:
    assert headline(name, arguments, SAY) == line


def test_a_long_argument_line_is_cut() -> None:
    assert len(headline("bash", {"command": "x" * 1_000}, SAY)) == 160


def test_arguments_show_while_they_are_being_written() -> None:
    written = GrowingText.of('{"path": "a.py", "content": "import o')
    assert arguments_of(card("write", written=written)) == {"path": "a.py", "content": "import o"}


@pytest.mark.parametrize("text", ["", "{", "nonsense", "[1, 2", '"text', "{{{{"])
def test_arguments_that_cannot_be_read_yet_are_empty(text: str) -> None:
    assert arguments_of(card(written=GrowingText.of(text))) == {}


def test_an_edit_shows_what_it_would_replace_until_the_tool_says_what_it_did() -> None:
    arguments = {"path": "a", "edits": [{"oldText": "x\ny", "newText": "z"}]}
    assert long_arguments(card("edit"), arguments) == ("- x\n- y\n+ z", True)
    done = card("edit", details={"diff": "-1 x\n+1 z"})
    assert long_arguments(done, arguments) == ("-1 x\n+1 z", True)
    assert card_note(done, SAY) == "+1 −1"


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"output": "a\nb\n", "duration_ms": 4}, "2 lines · 4 ms"),
        ({"output": "one"}, "1 line"),
        ({"output": ""}, "done"),
        ({"images": (ImageContent("AAAA", "image/png"),), "output": "[image]"}, "1 image"),
        (
            {"status": "error", "details": {"exitCode": 2}, "duration_ms": 6200},
            "failed · exit 2 · 6.2 s",
        ),
        ({"status": "error", "refusal": "nobody to ask"}, "refused"),
        ({"status": "stopped", "duration_ms": 1500}, "stopped · 1.5 s"),
        ({"status": "writing"}, "being written"),
    ],
)
def test_how_a_call_came_out_is_said_in_words(fields: Mapping[str, Any], note: str) -> None:
    assert card_note(card("x", **fields), SAY) == note


def test_lines_are_those_of_the_whole_result_and_not_of_what_is_shown() -> None:
    shortened = card("read", output="a\n… 98 lines …\nz", line_count=100)
    assert card_note(shortened, SAY) == "100 lines"
    assert card_note(card("write", output="Wrote 12 bytes"), SAY) == "done"
