"""The options of `%agent` and the text after them."""

from typing import Any

import pytest

from agent_nb.kernel.failure import AgentUsageError
from agent_nb.kernel.options import OPTIONS, AgentOptions, parse_options


@pytest.mark.parametrize(
    ("line", "options", "text"),
    [
        ("", {}, ""),
        ("hello", {}, "hello"),
        ("--model demo/reader hello", {"model": "demo/reader"}, "hello"),
        ("-m demo/reader hello", {"model": "demo/reader"}, "hello"),
        ("--model=demo/reader hello", {"model": "demo/reader"}, "hello"),
        ("-t high x", {"thinking": "high"}, "x"),
        ("--tools read,ls x", {"tools": ("read", "ls")}, "x"),
        ("--tools 'read, ls' x", {"tools": ("read", "ls")}, "x"),
        ("--allow write --allow=bash x", {"allow": ("write", "bash")}, "x"),
        ('-s "my plots" x', {"session": "my plots"}, "x"),
        (
            "--new --quiet --raw -b",
            {"new": True, "quiet": True, "raw": True, "background": True},
            "",
        ),
        ("-o result x", {"output": "result"}, "x"),
        ("-o 结果 x", {"output": "结果"}, "x"),
        ("--max-turns 3 x", {"max_turns": 3}, "x"),
        ("--max-cost .5 x", {"max_cost_usd": 0.5}, "x"),
        ("--timeout 90 x", {"timeout_s": 90.0}, "x"),
        ("--timeout 1.5m x", {"timeout_s": 90.0}, "x"),
        ("--quiet\n x", {"quiet": True}, "x"),
    ],
)
def test_options_come_before_the_text(line: str, options: dict[str, Any], text: str) -> None:
    assert parse_options(line) == (AgentOptions(**options), text)


@pytest.mark.parametrize(
    "text",
    [
        "a --model b",
        "what does --quiet do?",
        "- a list",
        "-5 + 3 = ?",
        "--- a/file.py",
        "-----",
        "->",
        '{"a": "--new"}',
        "tabs\tand  spaces\\ 'quotes\" stay  ",
    ],
)
def test_what_is_no_option_is_text(text: str) -> None:
    assert parse_options(text) == (AgentOptions(), text)
    assert parse_options(f"--quiet {text}") == (AgentOptions(quiet=True), text)


@pytest.mark.parametrize("text", ["--model x", "-b", "-- twice", "--", ""])
def test_two_dashes_end_the_options(text: str) -> None:
    assert parse_options(f"--new -- {text}") == (AgentOptions(new=True), text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--modle x y", "There is no option --modle; the nearest is --model."),
        ("--max-turn 3 y", "no option --max-turn; the nearest is --max-turns"),
        ("-x is a flag", "There is no option -x"),
        ("--model", "--model needs a value: --model MODEL"),
        ("--model --quiet x", "--model needs a value"),
        ("--model= x", "--model needs a value"),
        ("--quiet=yes x", "--quiet takes no value"),
        ("--thinking much x", "--thinking much: expected one of off, minimal"),
        ("--max-turns 0 x", "--max-turns 0: expected a whole number from 1 on"),
        ("--max-turns two x", "expected a whole number"),
        ("--max-cost 0 x", "--max-cost 0: expected a number above 0"),
        ("--timeout soon x", "--timeout soon: expected seconds"),
        ("--timeout m x", "--timeout m: expected seconds"),
        ("--output my-name x", "--output my-name: expected the name of a variable"),
        ("--output class x", "expected the name of a variable"),
        ("--tools , x", "--tools ,: expected names with commas"),
    ],
)
def test_a_wrong_option_is_named(line: str, message: str) -> None:
    with pytest.raises(AgentUsageError) as caught:
        parse_options(line)
    assert message in str(caught.value)


def test_an_unknown_option_says_how_to_write_text_with_dashes() -> None:
    with pytest.raises(AgentUsageError, match=r"goes after ` -- `"):
        parse_options("--why not")


def test_every_option_has_a_field_and_a_line_of_help() -> None:
    assert {option.field for option in OPTIONS} == set(AgentOptions.__slots__)
    assert all(option.help and option.names[0].startswith("--") for option in OPTIONS)
