import logging

import pytest

from agent_nb.ui.commands import Command, Hello, UnknownCommand
from agent_nb.ui.patch import snapshot
from agent_nb.ui.view import start_view
from agent_nb.ui.widget import AgentView


def test_the_view_hands_commands_on_and_reports_what_it_does_not_know(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[Command] = []
    view = AgentView(heard.append)
    with caplog.at_level(logging.WARNING):
        view._handle_custom_msg({"kind": "hello", "seq": 3}, [])
        view._handle_custom_msg({"kind": "dance"}, [])
    assert heard[0] == Hello(seq=3)
    assert isinstance(heard[1], UnknownCommand)
    assert "dance" in caplog.text


def test_no_text_of_the_run_is_kept_in_the_widgets_traits() -> None:
    view = AgentView(lambda _command: None)
    view.show(snapshot(start_view("a question that must not be stored", model="m")))
    assert "must not be stored" not in str(view.get_state())


def test_the_pages_code_is_small_and_loads_nothing_from_outside() -> None:
    state = AgentView(lambda _command: None).get_state()
    code = str(state["_esm"]) + str(state["_css"])
    assert len(code) < 40_000
    for way in ("import ", "import(", "fetch(", "http://", "https://", "url(", "@import", "eval("):
        assert way not in code
