"""The view in a real browser, with a model that is none: what it draws, says and sends."""

import base64
import json
import shutil
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import sync_playwright
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
    update,
)

from agent_nb.core.events import TextDelta, TextStart, ToolExecutionStart, ToolExecutionUpdate
from agent_nb.core.tool import ToolResult
from agent_nb.ui.patch import diff, snapshot
from agent_nb.ui.view import Notice, RunEnded, Stopping, ViewEvent, ViewState, reduce, start_view
from agent_nb.ui.widget import STATIC

pytestmark = pytest.mark.browser

START = start_view("Which files?", model="demo/reader", model_note="no language model")

BOOT = """
async ({ code, snapshot, answers }) => {
  const module = await import("data:text/javascript;base64," + code);
  window.sent = [];
  window.listeners = new Set();
  window.snapshot = snapshot;
  window.answers = answers;
  window.deliver = (message) => { for (const listen of window.listeners) listen(message); };
  const model = {
    on: (name, listen) => {
      if (name === "msg:custom") window.listeners.add(listen);
      else window.livened = listen;
    },
    off: (_name, listen) => window.listeners.delete(listen),
    send: (message) => {
      if (window.isGone) throw new Error("Cannot send");
      window.sent.push(message);
      if (message.kind === "hello" && window.answers-- > 0) {
        setTimeout(() => window.deliver(structuredClone(window.snapshot)), 0);
      }
    },
  };
  window.show = () => {
    const element = document.createElement("div");
    document.body.append(element);
    return module.default.render({ model, el: element });
  };
  window.dispose = window.show();
}
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


class Page:
    """A page with one view, and the state it was last told."""

    def __init__(self, chromium: Any, state: ViewState, answers: int = 99) -> None:
        self.page = chromium.new_page(viewport={"width": 1000, "height": 900})
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.errors.append(f"loads {request.url[:90]}"))
        css = (STATIC / "view.css").read_text(encoding="utf-8")
        self.page.set_content(f"<!doctype html><style>{css}</style><body></body>")
        self.errors.clear()
        self.state = state
        code = base64.b64encode((STATIC / "view.js").read_bytes()).decode()
        boot = {"code": code, "snapshot": snapshot(state).to_page(), "answers": answers}
        self.page.evaluate(BOOT, boot)
        self.errors = [error for error in self.errors if "data:text/javascript" not in error]
        if answers:
            self.wait("[data-phase]")

    def wait(self, selector: str) -> Any:
        return self.page.wait_for_selector(selector, state="attached", timeout=5_000)

    def tell(self, *events: ViewEvent) -> None:
        """Change the state and send the difference."""
        after = self.state
        for event in events:
            after = reduce(after, event)
        patch = diff(self.state, after)
        self.state = after
        assert patch is not None
        self.deliver(patch.to_page())

    def deliver(self, message: dict[str, Any]) -> None:
        self.page.evaluate("message => window.deliver(message)", message)

    def text(self, selector: str = ".agn") -> str:
        return str(self.page.locator(selector).first.inner_text())

    def sent(self, kind: str) -> list[dict[str, Any]]:
        sent = self.page.evaluate("() => window.sent")
        return [message for message in sent if message["kind"] == kind]

    def html(self) -> str:
        """The drawn view, without what differs by who opened what."""
        return str(self.page.locator(".agn-rail").first.evaluate("rail => rail.innerHTML"))


@pytest.fixture
def view(chromium: Any) -> Iterator[Page]:
    page = Page(chromium, START)
    yield page
    assert page.errors == []
    page.page.close()


def usual() -> list[ViewEvent]:
    arguments = {"path": "a.csv", "limit": 3}
    return [
        *together(
            asked("Which files?"),
            streamed_thinking("I should look."),
            streamed_text(
                "I look:\n\n- one\n- two\n\n```python\nx = 1\n```\n\n| a |\n|---|\n| 😀 |", index=1
            ),
            streamed_call("1", "read", arguments, index=2),
            answered(),
            ran("1", "read", arguments, "first\nsecond"),
            next_turn(),
            streamed_text("Done."),
            answered(),
        ),
        Notice("careful", "warning"),
        RunEnded("done", 2.0),
    ]


def test_the_view_asks_for_a_snapshot_and_draws_it(view: Page) -> None:
    assert view.sent("hello") == [{"kind": "hello", "seq": 0}]
    assert view.text(".agn-q") == "Which files?"
    assert view.text(".agn-state") == "Starting"
    assert "no language model" in view.text(".agn-model")
    assert view.sent("ack") == [{"kind": "ack", "seq": START.seq}]


def test_it_asks_again_until_it_is_answered(chromium: Any) -> None:
    page = Page(chromium, START, answers=0)
    page.page.wait_for_function("() => window.sent.length >= 2", timeout=5_000)
    page.page.evaluate("() => { window.answers = 1; }")
    page.wait("[data-phase]")
    asked_for = len(page.sent("hello"))
    page.page.wait_for_timeout(1_200)  # longer than it waits before it asks again
    assert len(page.sent("hello")) == asked_for
    page.page.close()


def test_patches_lead_to_the_same_page_as_a_snapshot(view: Page, chromium: Any) -> None:
    for event in usual():
        before = view.state
        after = reduce(before, event)
        if (patch := diff(before, after)) is not None:
            view.deliver(patch.to_page())
            view.state = after
    other = Page(chromium, view.state)
    assert view.html() == other.html()
    for part in (".agn-head", ".agn-rail", ".agn-foot"):
        assert view.text(part) == other.text(part)
    other.page.close()


def test_a_gap_is_noticed_and_mended(view: Page) -> None:
    lost = reduce(view.state, Notice("lost"))
    view.state = reduce(lost, Notice("seen"))
    view.page.evaluate("s => { window.snapshot = s; }", snapshot(view.state).to_page())
    view.deliver(diff(lost, view.state).to_page())  # type: ignore[union-attr]
    view.page.wait_for_function("() => document.querySelectorAll('.agn-notice').length === 2")
    assert [message["seq"] for message in view.sent("hello")] == [0, START.seq]


def test_an_old_patch_is_ignored(view: Page) -> None:
    before = view.state
    view.tell(Notice("once"))
    view.deliver(diff(before, view.state).to_page())  # type: ignore[union-attr]
    assert view.page.locator(".agn-notice").count() == 1
    assert len(view.sent("hello")) == 1


def test_two_views_of_one_model_show_the_same(view: Page) -> None:
    view.tell(*asked("Which files?"), *streamed_text("Hello"))
    view.page.evaluate("s => { window.snapshot = s; }", snapshot(view.state).to_page())
    view.page.evaluate("() => { window.show(); }")
    view.page.wait_for_function("() => document.querySelectorAll('.agn-chunk').length === 2")
    view.tell(*streamed_text(" there", index=1))
    assert view.page.locator(".agn-chunk").count() == 4


def test_a_view_that_goes_away_listens_no_more(view: Page) -> None:
    view.page.evaluate("() => window.dispose()")
    assert view.page.locator(".agn").count() == 0
    assert view.page.evaluate("() => window.listeners.size") == 0


def test_stop_shows_at_once_and_is_repeated_until_it_is_heard(view: Page) -> None:
    view.page.locator(".agn-stop").click()
    assert view.text(".agn-state") == "Stopping…"
    view.page.wait_for_function("() => window.sent.filter(m => m.kind === 'stop').length >= 2")
    assert len({message["id"] for message in view.sent("stop")}) == 1
    view.tell(Stopping())
    heard = len(view.sent("stop"))
    view.page.wait_for_timeout(1_200)  # longer than it waits before it repeats
    assert len(view.sent("stop")) == heard
    view.tell(RunEnded("stopped", 2.0))
    assert view.text(".agn-state") == "Stopped by you"
    assert not view.page.locator(".agn-stop").is_visible()


def test_escape_stops_and_no_key_leaves_the_view(view: Page) -> None:
    view.page.evaluate(
        """() => { window.keys = [];
                  document.addEventListener("keydown", (event) => window.keys.push(event.key)); }"""
    )
    view.page.locator(".agn-q").click()
    for key in ("d", "d", "Escape"):
        view.page.keyboard.press(key)
    assert view.page.evaluate("() => window.keys") == []
    assert len(view.sent("stop")) == 1
    assert view.page.locator(".agn").get_attribute("data-lm-suppress-shortcuts") == "true"


def test_escape_does_nothing_once_the_run_is_over(view: Page) -> None:
    view.tell(RunEnded("done", 1.0))
    view.page.locator(".agn-q").click()
    view.page.keyboard.press("Escape")
    assert view.sent("stop") == []
    assert view.sent("ack")[-1] == {"kind": "ack", "seq": view.state.seq}


def test_a_card_opens_while_its_tool_shows_something_and_folds_after(view: Page) -> None:
    start = ToolExecutionStart("1", "bash", {"command": "make"})
    view.tell(*asked("q"), start)
    card = view.page.locator(".agn-tool")
    assert card.get_attribute("open") is None
    update = ToolExecutionUpdate("1", "bash", {}, ToolResult.of("compiling\n" * 100))
    view.tell(update)
    assert card.get_attribute("open") is not None
    out = view.page.locator(".agn-out")
    at_end = "e => e.scrollTop + e.clientHeight >= e.scrollHeight - 2 && e.scrollTop > 0"
    assert out.evaluate(at_end)
    view.page.wait_for_function(
        "() => /running · [\\d.]+ s/.test(document.querySelector('.agn-note').textContent)"
    )
    view.tell(*ran("1", "bash", {"command": "make"}, "done"))
    assert card.get_attribute("open") is None
    assert view.text(".agn-note") == "1 line · 4 ms"


def test_what_the_user_opened_stays_open(view: Page) -> None:
    start = ToolExecutionStart("1", "bash", {"command": "make"})
    view.tell(*asked("q"), start)
    summary = view.page.locator(".agn-tool > summary")
    summary.focus()
    view.page.keyboard.press("Enter")
    view.tell(*ran("1", "bash", {"command": "make"}, "done"))
    assert view.page.locator(".agn-tool").get_attribute("open") is not None
    whole = snapshot(reduce(view.state, Notice("x"))).to_page()
    view.deliver(whole)
    assert view.page.locator(".agn-tool").get_attribute("open") is not None


def test_a_failure_is_told_in_words_and_stands_open(view: Page) -> None:
    view.tell(*asked("q"), *ran("1", "bash", {"command": "make"}, "no rule", is_error=True))
    assert view.page.locator(".agn-tool").get_attribute("open") is not None
    assert "failed" in view.text(".agn-note")
    assert view.page.locator("[role=status]").inner_text() == "bash: failed"


def test_code_can_be_copied_whole(view: Page) -> None:
    code = "".join(f"x_{n} = {n}\n" for n in range(2_000))
    view.tell(*asked("q"), *streamed_text(f"```python\n{code}```\n", size=999))
    assert view.page.locator("pre.agn-code").count() > 2
    view.page.evaluate(
        """() => Object.defineProperty(navigator, "clipboard",
             { value: { writeText: async (text) => { window.copied = text; } } })"""
    )
    view.page.locator(".agn-copy").first.click()
    view.page.wait_for_function("() => window.copied !== undefined")
    assert view.page.evaluate("() => window.copied") == code
    assert view.page.locator(".agn-copy").count() == 1


def test_hostile_text_does_nothing(chromium: Any) -> None:
    state = start_view(HOSTILE, model=HOSTILE, model_note=HOSTILE)
    page = Page(chromium, state)
    events = [*hostile_events(), Notice(HOSTILE, "warning"), RunEnded("error", 1, HOSTILE)]
    for event in events:
        if diff(page.state, reduce(page.state, event)):
            page.tell(event)
        else:
            page.state = reduce(page.state, event)
    for details in page.page.locator(".agn details").all():
        details.evaluate("e => { e.open = true; }")
    page.page.wait_for_timeout(100)  # for a handler that should not be there
    assert page.errors == []
    drawn = ".agn :is(script, img, iframe, style, [onerror], [href^='javascript'])"
    assert page.page.locator(drawn).count() == 0
    assert "<script>alert(1)</script>" in page.text(".agn-q")
    page.page.close()


def test_everything_has_a_name_and_states_are_in_words(view: Page) -> None:
    view.tell(*usual())
    root = view.page.locator(".agn")
    assert root.get_attribute("aria-label") == "Agent run"
    assert root.get_attribute("lang") == "en"
    groups = view.page.locator("[role=group]").evaluate_all("l => l.map(e => e.ariaLabel)")
    assert groups == ["Turn 1", "Turn 2"]
    assert view.text("[role=status]").startswith("Done. 2 turns. 1 tool.")
    assert view.text(".agn-state") == "Done"


def test_a_narrow_view_does_not_scroll_sideways(view: Page) -> None:
    view.page.set_viewport_size({"width": 400, "height": 900})
    view.tell(*usual())
    assert view.page.evaluate("() => document.documentElement.scrollWidth") <= 400


def long_answer(state: ViewState, length: int) -> tuple[str, list[dict[str, Any]], ViewState]:
    """Return a text, and what a feed sends for it: one message for 250 deltas of 4 characters."""
    piece = "word and `code` and **more** of it, "
    text = "".join(piece * 12 + "\n\n" for _ in range(1 + length // (12 * len(piece))))[:length]
    states = [reduce_all(state, [*asked("q"), update(TextStart(0))])]
    for at in range(0, len(text), 1_000):
        deltas = [update(TextDelta(0, text[i : i + 4])) for i in range(at, at + 1_000, 4)]
        states.append(reduce_all(states[-1], deltas))
    patches = [diff(before, after) for before, after in pairwise([state, *states])]
    return text, [patch.to_page() for patch in patches if patch is not None], states[-1]


DRAW = """async (messages) => {
  const tasks = [0];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration)))
    .observe({ type: "longtask" });
  for (const message of messages) {
    window.deliver(message);
    await new Promise((done) => setTimeout(done, 5));
  }
  await new Promise(requestAnimationFrame);
  const drawn = document.querySelector(".agn-md").textContent.replace(/\\s/g, "").length;
  return [Math.max(...tasks), drawn];
}"""


def test_a_hundred_thousand_deltas_are_all_drawn_for_little_more_than_their_html(
    view: Page,
) -> None:
    text, messages, state = long_answer(view.state, 400_000)
    _longest_ms, drawn = view.page.evaluate(DRAW, messages)
    size = sum(len(json.dumps(message)) for message in messages)
    final = snapshot(state).body["turns"][0]["blocks"][0]["html"]
    assert size < 1.5 * sum(map(len, final))
    assert drawn == len("".join(text.replace("`", "").replace("**", "").split()))


def reduce_all(state: ViewState, events: Iterable[ViewEvent]) -> ViewState:
    for event in events:
        state = reduce(state, event)
    return state


@pytest.mark.parametrize("notice", ["livened()", "document.querySelector('.agn-stop').click()"])
def test_a_run_whose_kernel_was_restarted_is_said_to_be_lost(view: Page, notice: str) -> None:
    view.page.evaluate("() => { window.isGone = true; }")
    view.page.evaluate(notice)
    assert view.text(".agn-state") == "The kernel was restarted; this run is lost"
    assert not view.page.locator(".agn-stop").is_visible()
    stood = view.text(".agn-time")
    view.page.evaluate("() => new Promise((done) => setTimeout(done, 250))")
    assert view.text(".agn-time") == stood


def test_a_kernel_that_is_back_is_asked_and_nothing_is_lost(view: Page) -> None:
    view.page.evaluate("window.livened()")
    assert len(view.sent("hello")) == 2
    view.tell(*usual())
    assert view.text(".agn-state") == "Done"
