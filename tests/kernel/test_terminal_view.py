"""A run as a terminal shows it, and what stands in for a view that fails."""

import pytest
from IPython.utils.capture import capture_output
from run_events import answered, asked, ran, streamed_text, together

from agent_nb.core.content import TextContent
from agent_nb.core.events import SessionEvent
from agent_nb.core.messages import AssistantMessage
from agent_nb.inspect.runs import RunResult
from agent_nb.kernel.attach import AttachedView, Scene
from agent_nb.kernel.output import CellOutput
from agent_nb.kernel.terminal import TerminalView

KEY = "hunter2hunter2xyz"


def written(*parts: list[SessionEvent]) -> str:
    pieces: list[str] = []
    view = TerminalView(pieces.append, [KEY])
    for event in together(*parts):
        view.push(event)
    return "".join(pieces)


def test_text_streams_word_by_word() -> None:
    pieces: list[str] = []
    view = TerminalView(pieces.append)
    for event in streamed_text("one two three"):
        view.push(event)
    assert "".join(pieces).strip() == "one two three"
    assert len([piece for piece in pieces if piece]) > 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGVsbG8=\x07here \x1b[2J\x1b[1mis", "here is"),
        (f"the key {KEY} is", "the key ••• is"),
        ("hunter2\x1b[0mhunter2xyz is", "••• is"),
        ("a\x00b", "a<U+0000>b"),
        (
            "-----BEGIN PRIVATE KEY-----\nabc def\nghi\n-----END PRIVATE KEY----- is",
            "••• is",
        ),
    ],
)
def test_terminal_codes_and_keys_are_not_written(text: str, shown: str) -> None:
    assert written(streamed_text(text)).strip() == shown


def test_calls_and_their_errors_are_written_safely() -> None:
    arguments = {"command": f"{'y' * 80} {KEY}", "x": ["hunter2\x1b[1mhunter2xyz"]}
    output = written(asked("hi"), answered(), ran("1", "bash", arguments, "\x1b[2Jno"))
    assert "[bash]" in output
    assert "hunter" not in output
    assert "\x1b" not in output


class FailingView:
    """Fails at the event that its name says."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.is_abandoned = False

    def push(self, event: SessionEvent) -> None:
        self._maybe("push")

    def note(self, text: str) -> None:
        self._maybe("note")

    def stopping(self) -> None:
        self._maybe("stopping")

    def end(self, result: RunResult) -> None:
        self._maybe("end")

    def abandon(self) -> None:
        self.is_abandoned = True

    def _maybe(self, what: str) -> None:
        if what == self.at:
            raise TypeError(f"{what} of {KEY}")


@pytest.mark.usefixtures("shell")
@pytest.mark.parametrize("at", ["draw", "note", "push", "stopping", "end"])
def test_a_view_that_fails_ends_in_a_plain_form(
    at: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    view = FailingView(at)

    def draw() -> FailingView:
        view._maybe("draw")
        return view

    scene = Scene("hi", "m", "", ("a note",), lambda: None, (KEY,))
    attached = AttachedView(scene, CellOutput("nobody"), draw)
    with capture_output() as captured:
        for event in together(asked("hi"), streamed_text("x"), answered()):
            attached.push(event)
        attached.stopping()
        answer = AssistantMessage((TextContent(f"The answer, {KEY}."),))
        attached.end(RunResult((answer,), "done"))
    last = captured.outputs[-1].data
    assert set(last) == {"text/html", "text/plain"}
    for text in last.values():
        assert "The view of this run failed (TypeError)" in text
        assert "The answer, •••." in text
    assert view.is_abandoned == (at != "draw")
    assert "The view of a run failed" in caplog.text
    assert KEY not in caplog.text
