"""Views in a real kernel: what is published for a cell, and what a page's messages do."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernels import SETUP, Cell, Kernel, Message, kernel_in

pytestmark = pytest.mark.slow

WIDGET = "application/vnd.jupyter.widget-view+json"
STATIC = {"text/html", "text/markdown", "text/plain"}
BUSY = {
    "a cell that awaits": "%agent hi",
    "a function that blocks": "def f():\n    %agent hi\nf()",
    "a cell that sleeps": "h = %agent -b hi\nimport time; time.sleep(3)",
    "a cell that computes": "import time; end = time.time() + 3\nh = %agent -b hi\n"
    "while time.time() < end: pass",
}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel_in(tmp_path_factory.mktemp("kernel")) as kernel:
        assert kernel.run(SETUP).status == "ok"
        yield kernel


def outputs(cell: Cell) -> list[set[str]]:
    return [set(c["data"]) for c in cell.contents("display_data", "update_display_data")]


def is_from_view(message: Message, text: str) -> bool:
    return message["header"]["msg_type"] == "comm_msg" and text in str(message["content"])


class Page:
    """What a page with the view does: it says hello and clicks."""

    def __init__(self, kernel: Kernel, code: str) -> None:
        kernel.forget()
        self.kernel = kernel
        self.cell = kernel.send(code)
        opened = kernel.wait_for(
            lambda m: m["header"]["msg_type"] == "comm_open" and "_esm" in str(m["content"])
        )
        self.comm_id = opened["content"]["comm_id"]
        kernel.wait_for(lambda m: WIDGET in m["content"].get("data", {}))

    def say(self, **content: Any) -> None:
        self.kernel.say(self.comm_id, content)

    def hears(self, text: str) -> Message:
        return self.kernel.wait_for(lambda m: is_from_view(m, text))


def test_a_page_gets_a_widget_and_at_the_end_the_static_form(kernel: Kernel) -> None:
    page = Page(kernel, "play(says('The answer.', chunk=1, delay_s=0.02))\n%agent hi?")
    page.say(kind="hello", seq=0)
    snapshot = page.hears("'kind': 'snapshot'")["content"]["data"]["content"]
    assert snapshot["question"] == "hi?"
    cell = kernel.finish(page.cell)
    assert outputs(cell) == [STATIC | {WIDGET}, STATIC]
    first, last = cell.contents("display_data", "update_display_data")
    assert first["transient"] == last["transient"]
    assert "The answer." in last["data"]["text/plain"]
    assert "scripted/script answers because it was asked for" in last["data"]["text/html"]
    assert cell.values == []


def test_the_widget_carries_no_text_in_its_state(kernel: Kernel) -> None:
    page = Page(kernel, "play(says('The answer.'))\n%agent a question of mine")
    cell = kernel.finish(page.cell)
    opened = [str(content) for content in cell.contents("comm_open")]
    assert not any("a question of mine" in state or "The answer." in state for state in opened)


def test_who_cannot_click_gets_the_static_form_only(kernel: Kernel) -> None:
    cell = kernel.run("play(says('The answer.'))\n%agent hi?", allow_stdin=False)
    assert cell.contents("comm_open") == []
    assert outputs(cell) == [STATIC, STATIC]
    assert "The answer." in cell.contents("update_display_data")[-1]["data"]["text/markdown"]


def test_raw_makes_no_widget_either(kernel: Kernel) -> None:
    cell = kernel.run("play(says('The answer.'))\n%agent --raw hi?")
    assert cell.contents("comm_open") == []
    assert outputs(cell) == [STATIC, STATIC]


def test_quiet_publishes_nothing(kernel: Kernel) -> None:
    cell = kernel.run("play(says('The answer.'))\n%agent --quiet hi?")
    assert outputs(cell) == []


def test_a_prompt_from_python_draws_a_view_too(kernel: Kernel) -> None:
    cell = kernel.run("s = play(says('The answer.'))\nawait s.prompt('hi?')")
    assert outputs(cell) == [STATIC | {WIDGET}, STATIC]
    assert cell.values == []


@pytest.mark.parametrize("busy", BUSY)
def test_a_click_is_heard_while_the_kernel_is_busy(kernel: Kernel, busy: str) -> None:
    page = Page(kernel, "s = play(SLOW)\n" + BUSY[busy])
    page.say(kind="hello", seq=0)
    page.hears("never")
    began = time.monotonic()
    page.say(kind="stop", id="1")
    page.hears("'phase': 'stop")  # stopping, or stopped where that comes in the same message
    stopping_s = time.monotonic() - began
    page.hears("'phase': 'stopped'")
    ended_s = time.monotonic() - began
    cell = kernel.finish(page.cell)
    assert stopping_s < 0.3
    assert ended_s < 2
    assert kernel.run("s.runs[-1].outcome").values == ["'stopped'"]
    if "-b" not in BUSY[busy]:
        assert cell.traceback == ["AgentRunError: The run was stopped."]


def test_a_click_from_a_front_end_with_a_subshell_is_heard_too(kernel: Kernel) -> None:
    request = kernel.client.session.msg("create_subshell_request")
    kernel.client.control_channel.send(request)
    subshell = kernel.client.control_channel.get_msg(timeout=10)["content"]["subshell_id"]
    page = Page(kernel, "s = play(SLOW)\ndef f():\n    %agent hi\nf()")
    kernel.say(page.comm_id, {"kind": "hello", "seq": 0}, subshell_id=subshell)
    page.hears("never")
    kernel.say(page.comm_id, {"kind": "stop", "id": "1"}, subshell_id=subshell)
    page.hears("'phase': 'stopped'")
    assert kernel.finish(page.cell).status == "error"


def test_a_click_on_a_view_that_has_ended_stops_no_later_run(kernel: Kernel) -> None:
    page = Page(kernel, "s = play(says('one'), says('two', chunk=1, delay_s=0.3))\n%agent hi")
    kernel.finish(page.cell)
    later = kernel.send("r = %agent --quiet again\nr.outcome")
    page.say(kind="stop", id="1")
    assert kernel.finish(later).values == ["'done'"]


def test_a_page_that_comes_after_the_end_sees_the_end(kernel: Kernel) -> None:
    page = Page(kernel, "play(says('The answer.'))\n%agent hi")
    kernel.finish(page.cell)
    kernel.forget()
    page.say(kind="hello", seq=0)
    snapshot = page.hears("'kind': 'snapshot'")["content"]["data"]["content"]
    assert snapshot["head"]["phase"] == "done"
    assert "The answer." in str(snapshot["turns"])


def test_a_page_that_never_answers_gets_static_snapshots(kernel: Kernel) -> None:
    page = Page(kernel, "play(says('word ' * 20, chunk=5, delay_s=0.2))\n%agent hi")
    cell = kernel.finish(page.cell)
    updates = cell.contents("update_display_data")
    assert len(cell.contents("comm_close")) == 2
    assert all(set(update["data"]) == STATIC for update in updates)
    assert 2 <= len(updates) <= 7
    assert "install" in updates[-1]["data"]["text/plain"]
    assert updates[-1]["data"]["text/plain"].count("word ") == 19

    kernel.run("play(says('word ' * 20, chunk=5, delay_s=0.2))")
    again = kernel.run("%agent hi").contents("update_display_data")[-1]
    assert "install" not in again["data"]["text/plain"]


def test_a_console_is_shown_the_end_anew(kernel: Kernel) -> None:
    line = kernel.send("play(says('The answer.'))\n%agent hi", in_notebook=False)
    shown = kernel.finish(line).contents("display_data")
    assert len(shown) == 2
    assert "The answer." in shown[-1]["data"]["text/plain"]


def test_what_a_run_shows_stays_with_its_cell(kernel: Kernel) -> None:
    kernel.forget()
    first = kernel.send("s = play(says('slow ' * 10, chunk=5, delay_s=0.1))\nh = %agent -b hi")
    second = kernel.run("import time\nfor i in range(10):\n    time.sleep(0.1)\n    print(i)")
    kernel.run("r = await h")
    assert outputs(second) == []
    assert second.text.split() == list("0123456789")
    shown = [m for m in kernel.published_for(first) if "update" in m["header"]["msg_type"]]
    assert "slow slow" in shown[-1]["content"]["data"]["text/plain"]


def test_a_failed_run_leaves_a_readable_output(kernel: Kernel) -> None:
    cell = kernel.run("play(fails('The key is not valid (401).', 401))\n%agent hi")
    assert (
        "The key is not valid (401)."
        in cell.contents("update_display_data")[-1]["data"]["text/html"]
    )
    assert cell.traceback == ["AgentRunError: The key is not valid (401)."]


def test_what_never_starts_draws_nothing(kernel: Kernel) -> None:
    cell = kernel.run("play(says('never'))\n%agent --model openai/gpt-5 hi")
    assert outputs(cell) == []
    assert len(cell.traceback) == 1
    assert "OPENAI_API_KEY" in cell.traceback[0]


def test_a_burst_of_small_pieces_is_few_messages(kernel: Kernel) -> None:
    page = Page(kernel, "play(says('abcd' * 5000, chunk=4))\n%agent hi")
    page.say(kind="hello", seq=0)
    cell = kernel.finish(page.cell)
    assert len(cell.contents("comm_msg")) < 100
    assert "abcd" * 1000 in cell.contents("update_display_data")[-1]["data"]["text/plain"]


def test_of_views_that_have_ended_only_the_newest_stay_open(kernel: Kernel) -> None:
    kernel.run("play(*[says('ok')] * 20)")
    for _ in range(8):
        kernel.run("%agent hi")
    kernel.forget()
    for _ in range(3):
        kernel.run("%agent hi")
    assert len(kernel.published("comm_open")) == len(kernel.published("comm_close")) == 3 * 2
    assert kernel.run("len(RUNTIME.open_views)").values == ["8"]


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    with kernel_in(tmp_path, TEST_API_TOKEN="hunter2hunter2") as kernel:
        kernel.run(SETUP)
        page = Page(kernel, "play(says('It is hunter2hunter2.'))\n%agent hi hunter2hunter2")
        page.say(kind="hello", seq=0)
        page.hears("'kind': 'snapshot'")
        cell = kernel.finish(page.cell)
        published = [
            m["content"] for m in cell.messages if m["header"]["msg_type"] != "execute_input"
        ]
        assert "hunter2" not in str(published)
