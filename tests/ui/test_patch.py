import json
import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_checker import checked
from run_events import (
    HOSTILE,
    answered,
    asked,
    hostile_events,
    next_turn,
    ran,
    streamed_call,
    streamed_text,
    streamed_thinking,
    together,
)

from agent_nb.core.events import QueueUpdate, SessionEvent, ToolExecutionStart, ToolExecutionUpdate
from agent_nb.core.tool import ToolResult
from agent_nb.ui.patch import LIVE_TAIL, diff, snapshot, splice
from agent_nb.ui.view import (
    Notice,
    RunEnded,
    Stopping,
    ViewEvent,
    ViewState,
    reduce,
    start_view,
)

START = start_view("Which files?", model="demo/reader")
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"


def run() -> list[ViewEvent]:
    arguments = {"path": "a 😀.csv", "limit": 3}
    growing = "".join(f"line {n} 😀\n" for n in range(400))
    updates = [
        ToolExecutionUpdate("2", "bash", {}, ToolResult.of(growing[:end]))
        for end in range(0, len(growing), 777)
    ]
    events: list[SessionEvent] = together(
        asked("Which files?"),
        streamed_thinking("I **should** look 😀."),
        streamed_text("I look 😀:\n\n- one\n- two\n\n```python\nx = 1\n```\n\nend", index=1),
        streamed_call("1", "read", arguments, index=2),
        answered(),
        ran("1", "read", arguments, "a\nb"),
        QueueUpdate(("sooner",), ()),
        next_turn(),
        ToolExecutionStart("2", "bash", {"command": "make"}),
        updates,
        ran("2", "bash", {"command": "make"}, growing, is_error=True),
    )
    return [*events, Notice("careful", "warning"), Stopping(), RunEnded("stopped", 2.0)]


def units(text: str, start: int, end: int) -> str:
    """Cut a text as JavaScript does."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


class Page:
    """Applies messages as the page does, to what a snapshot would hold."""

    def __init__(self, state: ViewState) -> None:
        self.view = json.loads(json.dumps(snapshot(state).to_page()))

    def apply(self, patch: dict[str, Any]) -> None:
        assert patch["from"] == self.view["seq"]
        self.view["seq"] = patch["seq"]
        for key in ("head", "foot", "queue"):
            self.view[key] = patch.get(key, self.view[key])
        for change in patch.get("turns", ()):
            if change["at"] == len(self.view["turns"]):
                self.view["turns"].append({"label": change["label"], "blocks": []})
            for block in change["blocks"]:
                self.change(self.view["turns"][change["at"]]["blocks"], block)

    def change(self, blocks: list[Any], change: dict[str, Any]) -> None:
        if "new" in change:
            blocks[change["at"] : change["at"] + 1] = [change["new"]]
            return
        face = blocks[change["at"]]
        face.update(change.get("set", {}))
        for part, cut in change.get("splice", {}).items():
            face[part] = self.spliced(face[part], cut)
        for at, *cut in change.get("html", ()):
            if not cut:
                face["html"].pop()
            elif at == len(face["html"]):
                face["html"].append(self.spliced("", cut))
            else:
                face["html"][at] = self.spliced(face["html"][at], cut)

    @staticmethod
    def spliced(text: str, cut: list[Any]) -> str:
        drop, keep, add = cut
        return units(text, drop, drop + keep) + str(add)


def states(events: Iterable[ViewEvent]) -> list[ViewState]:
    listed = [START]
    for event in events:
        listed.append(reduce(listed[-1], event))
    return listed


@pytest.mark.parametrize("seed", range(10))
def test_patches_lead_to_what_a_snapshot_shows_whenever_they_are_sent(seed: int) -> None:
    rng = random.Random(seed)
    listed = states(run())
    page, shown = Page(START), START
    for state in [s for s in listed if rng.random() < 0.3] + listed[-1:]:
        patch = diff(shown, state)
        if patch is not None:
            page.apply(json.loads(json.dumps(patch.to_page())))
            shown = state
    expected = snapshot(shown).to_page()
    for key in ("head", "foot", "queue", "turns", "seq"):
        assert page.view[key] == expected[key]


def test_nothing_to_show_is_nothing_to_send() -> None:
    assert diff(START, START) is None
    state = states(asked("q"))[3]
    assert diff(state, state) is None


def test_without_a_state_before_everything_is_sent() -> None:
    patch = diff(None, START)
    assert patch is not None
    assert patch.kind == "snapshot"


def test_only_the_block_that_changed_is_sent() -> None:
    before = states(together(asked("q"), streamed_text("x" * 3_000)))[-1]
    events = streamed_call("1", "read", {"path": "a"}, index=1)
    after = before
    for event in events:
        after = reduce(after, event)
    patch = diff(before, after)
    assert patch is not None
    assert len(json.dumps(patch.to_page())) < 600


def test_bytes_grow_with_the_text_and_not_with_its_square() -> None:
    text = "".join(f"Paragraph {n} has **some** words and `code`.\n\n" for n in range(400))
    sent, shown = 0, START
    for number, state in enumerate(states(together(asked("q"), streamed_text(text)))):
        if number % 10 == 0 and (patch := diff(shown, state)):
            sent += len(json.dumps(patch.body))
            shown = state
    html = snapshot(shown).body["turns"][0]["blocks"][0]["html"]
    overhead = 120 * number / 10  # each message says where the change belongs
    assert sent - overhead < 1.5 * sum(map(len, html))


def test_a_long_output_is_shown_by_its_tail_while_it_grows() -> None:
    start = ToolExecutionStart("1", "bash", {"command": "make"})
    output = "".join(f"line {n}\n" for n in range(20_000))
    update = ToolExecutionUpdate("1", "bash", {}, ToolResult.of(output))
    shown = snapshot(states([*asked("q"), start, update])[-1]).body["turns"][0]["blocks"][0]["out"]
    assert shown.endswith("line 19999\n")
    assert len(shown) <= LIVE_TAIL


def test_a_window_that_moves_on_sends_only_what_is_new() -> None:
    lines = [f"line {n}\n" for n in range(200)]
    before, after = "".join(lines[:150]), "".join(lines[5:155])
    assert splice(before, after) == [35, len(before) - 35, "".join(lines[150:155])]


@given(st.text(max_size=60), st.text(max_size=60))
def test_splices_lead_from_any_text_to_any_other(before: str, after: str) -> None:
    assert Page.spliced(before, splice(before, after)) == after


def test_arguments_are_seen_while_they_are_written() -> None:
    events = list(streamed_call("1", "write", {"path": "a.py", "content": "import os\nx = 1"}))
    state = states([*asked("q"), *events[:12]])[-1]
    face = snapshot(state).body["turns"][0]["blocks"][0]
    assert (face["line"], face["args"], face["spread"]) == ("a.py", "impo", True)
    assert face["note"] == "being written"


def faces(state: ViewState) -> Iterable[dict[str, Any]]:
    for turn in snapshot(state).body["turns"]:
        yield from turn["blocks"]


def test_hostile_text_reaches_the_page_as_text_or_sanitised() -> None:
    state = start_view(HOSTILE, model=HOSTILE, model_note=HOSTILE)
    for event in [*hostile_events(), Notice(HOSTILE, "warning"), RunEnded("error", 1, HOSTILE)]:
        state = reduce(state, event)
    for face in faces(state):
        for html in face.get("html", ()):
            assert checked(html).problems == []
    sent = json.dumps(snapshot(state).to_page(), ensure_ascii=False)
    for hidden in ("\\u001b[", "\u202e", "\\u0000", "\x1b"):
        assert hidden not in sent.replace("\\\\u001b", "").replace("\\\\u0000", "")


def test_lone_surrogates_do_not_break_the_message() -> None:
    state = states(together(asked("a\ud83d"), streamed_text("b\ud83d", size=1)))[-1]
    json.dumps(snapshot(state).to_page(), ensure_ascii=False).encode()


def test_secrets_are_masked_in_everything_the_page_gets() -> None:
    text = f"{KEY} hunter2hunter2"
    state = start_view(text, model=text, secrets=["hunter2hunter2"])
    events = together(
        asked("q"),
        streamed_thinking(text),
        streamed_text(text, index=1),
        streamed_call("1", text, {"path": text, "x": [text]}, index=2),
        ran("1", text, {"path": text}, text),
        ran("2", "bash", {"command": text}, text, is_error=True, details={"diff": f"+{text}"}),
        QueueUpdate((text,), (text,)),
    )
    shown = state
    for event in [*events, Notice(text), RunEnded("error", 1, text)]:
        state = reduce(state, event)
        if patch := diff(shown, state):
            shown = state
            sent = json.dumps(patch.to_page())
            assert "hunter2hunter2" not in sent
            assert KEY not in sent
    assert KEY not in json.dumps(snapshot(state).to_page())


def test_tools_failures_and_the_end_are_announced_in_sentences() -> None:
    listed = states(
        [
            *asked("q"),
            ToolExecutionStart("1", "bash", {"command": "make"}),
            *ran("1", "bash", {"command": "make"}, "no", is_error=True),
            *streamed_text("It failed."),
            RunEnded("done", 2.0),
        ]
    )
    said = [
        patch.body.get("say")
        for before, after in pairwise(listed)
        if (patch := diff(before, after))
    ]
    assert [sentence for sentence in said if sentence] == [
        "Running bash",
        "bash: failed",
        "Done. 1 turn. 1 tool. 2.0 s",
    ]


def test_the_page_is_told_the_words_it_needs() -> None:
    body = snapshot(start_view("q", model="m", language="zh")).body
    assert body["lang"] == "zh"
    assert body["words"]["page.stop"] == "停止"


def test_a_key_is_masked_before_a_line_is_cut_and_where_codes_split_it() -> None:
    arguments = {"command": "y" * 150 + " hunter2hunter2xyz\n" + "hunter2\x1b[0mhunter2xyz"}
    state = start_view("hunter2\x1b[1mhunter2xyz", model="m", secrets=("hunter2hunter2xyz",))
    events = together(
        streamed_text("hunter2\x1b[1mhunter2xyz"),
        streamed_call("1", "bash", arguments, index=1),
        answered(),
        ran("1", "bash", arguments, "hunter2\x00hunter2xyz"),
    )
    for event in events:
        state = reduce(state, event)
    assert "hunter" not in json.dumps(snapshot(state).to_page())


def test_half_a_character_in_arguments_stops_no_view() -> None:
    state = start_view("q", model="m")
    for event in streamed_call("1", "write", {"path": "a", "content": "\ud83d"}):
        before, state = state, reduce(state, event)
        diff(before, state)
        json.dumps(snapshot(state).to_page()).encode()
