"""A question asked in a real JupyterLab and a real Notebook, as a person sees it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter import FrontEnd, NotebookPage, Server, chromium, serving, write_notebook
from kernels import SETUP
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

README = "# Tidepool\n\nTidepool counts crabs. It reads photographs. It writes a table.\n"
ANSWER = "Tidepool counts crabs. It reads photographs. It writes a table."
ASK = (
    "%agent --model demo/reader Please read README.md and introduce the project in three sentences."
)
INTERRUPTED = "KeyboardInterrupt: The run was interrupted and has stopped."

CLICK_STOP = """async index => {
    const output = document.querySelector(
        `.jp-Cell[data-windowed-list-index="${index}"] .jp-OutputArea`);
    const began = performance.now();
    const until = async text => {
        while (!output.innerText.includes(text)) await new Promise(r => setTimeout(r, 10));
        return (performance.now() - began) / 1000;
    };
    [...output.querySelectorAll("button")].find(b => b.innerText.startsWith("Stop")).click();
    return [await until("Stopping"), await until("AgentRunError")];
}"""


@dataclass
class Site:
    """A server with a browser, and a folder of notebooks."""

    server: Server
    browser: Browser
    root: Path
    opened: int = 0

    def open(self, *cells: str) -> NotebookPage:
        """Open a notebook of its own, so that it gets a kernel of its own."""
        self.opened += 1
        write_notebook(self.root / self.name, *cells)
        return self.server.open(self.browser, self.name)

    @property
    def name(self) -> str:
        return f"{self.opened}.ipynb"


def make_site(root: Path, state: Path) -> None:
    (root / "README.md").write_text(README)
    for folder in ("settings", "agent"):
        (state / folder).mkdir()
    (state / "agent" / "settings.json").write_text('{"demoWordsPerSecond": 25}')


@pytest.fixture(scope="module", params=["lab", "notebook"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    root, state = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("state")
    make_site(root, state)
    front_end: FrontEnd = request.param
    with chromium() as browser, serving(root, state, front_end) as server:
        yield Site(server, browser, root)


def has_process(command: str) -> bool:
    return any(
        command in " ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])
    )


def texts_of_saved(path: Path, cell: int) -> list[dict[str, Any]]:
    return [o.get("data", {}) for o in json.loads(path.read_text())["cells"][cell]["outputs"]]


def test_the_readme_question_streams_and_stays_in_the_saved_file(site: Site) -> None:
    notebook = site.open("%load_ext agent_nb", ASK)
    notebook.run(0)
    notebook.wait_idle()
    notebook.run(1)
    output = notebook.output(1)
    growing = ANSWER[:20]
    expect(output).to_contain_text(growing, timeout=20_000)
    assert ANSWER not in output.inner_text(), "the answer came in one piece"
    expect(output).to_contain_text(ANSWER, timeout=20_000)
    notebook.wait_idle()
    expect(output.locator("summary", has_text="read")).to_contain_text("README.md")
    expect(output).to_contain_text("Done")
    notebook.save()
    [data] = texts_of_saved(site.root / site.name, 1)
    assert set(data) == {"text/html", "text/markdown", "text/plain"}


@pytest.mark.parametrize(
    ("what", "setup", "ask"),
    [
        ("a long answer", "play(SLOW)", "%agent hi"),
        ("a long answer in a function", "play(SLOW)", "def f():\n    %agent hi\nf()"),
        (
            "bash",
            "play(calls('bash', {'command': 'sleep 61.25'}), says('never'))",
            "%agent --allow bash hi",
        ),
    ],
)
@pytest.mark.parametrize("by", ["button", "interrupt"])
def test_a_stop_is_seen_at_once_and_ends_the_run(
    site: Site, what: str, setup: str, ask: str, by: str
) -> None:
    again = "play(says('still here'))\n%agent hi"
    notebook = site.open(SETUP, f"{setup}\n{ask}", again)
    notebook.run(0)
    notebook.wait_idle()
    notebook.run(1)
    output = notebook.output(1)
    output.get_by_role("button", name="Stop").wait_for(timeout=20_000)
    expect(output).to_contain_text("running" if what == "bash" else "never ends", timeout=20_000)
    if by == "button":
        stopping_s, ended_s = notebook.page.evaluate(CLICK_STOP, 1)
        assert stopping_s < 0.3
        assert ended_s < 2
    else:
        notebook.interrupt()
        expect(output).to_contain_text(INTERRUPTED, timeout=2_500)
    expect(output).to_contain_text("Stopped by you")
    assert not has_process("sleep 61.25")
    notebook.wait_idle()
    notebook.run(2)
    expect(notebook.output(2)).to_contain_text("still here", timeout=20_000)
    notebook.page.context.close()


def test_five_thousand_quick_deltas_are_all_drawn_while_the_run_goes_on(site: Site) -> None:
    words = " ".join(f"w{number}" for number in range(5000))
    code = (
        f"play(says({words!r}, chunk=4) + calls('bash', {{'command': 'sleep 62.25'}}))\n"
        "%agent --allow bash hi"
    )
    notebook = site.open(SETUP, code)
    notebook.run(0)
    notebook.wait_idle()
    notebook.run(1)
    output = notebook.output(1)
    expect(output).to_contain_text("sleep 62.25", timeout=30_000)
    expect(output).to_contain_text("w4999", timeout=30_000)
    drawn = re.findall(r"w(\d+)\b", output.text_content() or "")
    assert [int(number) for number in drawn] == list(range(5000))
    notebook.page.evaluate(CLICK_STOP, 1)
    notebook.page.context.close()


def test_a_page_reloaded_in_mid_run_shows_the_final_view(site: Site) -> None:
    code = "play(says('word ' * 60 + 'THE END', chunk=5, delay_s=0.1))\n%agent hi"
    notebook = site.open(SETUP, code)
    notebook.run(0)
    notebook.wait_idle()
    notebook.run(1)
    notebook.output(1).get_by_role("button", name="Stop").wait_for(timeout=20_000)
    notebook.save()
    notebook.reload()
    expect(notebook.output(1)).to_contain_text("word word", timeout=20_000)
    expect(notebook.output(1)).to_contain_text("THE END", timeout=20_000)
    notebook.page.context.close()


def test_a_background_run_stays_with_its_cell_while_later_cells_run(site: Site) -> None:
    notebook = site.open(
        SETUP,
        "play(says('word ' * 20 + 'THE END', chunk=5, delay_s=0.05))\n%agent --background hi",
        "import time\ntime.sleep(1)\nprint('later cell')",
    )
    notebook.run(0)
    notebook.wait_idle()
    notebook.run(1)
    notebook.run(2)
    expect(notebook.output(1)).to_contain_text("THE END", timeout=20_000)
    notebook.wait_idle()
    assert notebook.output(2).inner_text().strip() == "later cell"
    notebook.page.context.close()


@pytest.mark.parametrize("reopened", ["trusted", "untrusted", "without a kernel"])
def test_a_saved_file_shows_the_transcript_when_it_is_reopened(
    site: Site, tmp_path: Path, reopened: str
) -> None:
    notebook = site.open("%load_ext agent_nb", ASK)
    name = site.name
    notebook.run_all()
    expect(notebook.output(1)).to_contain_text("Done", timeout=30_000)
    notebook.wait_idle()
    notebook.save()
    notebook.page.context.close()
    if reopened == "trusted":
        again = site.server.open(site.browser, name)
        shown = again.page
        check_transcript(shown)
        shown.context.close()
        return
    if reopened == "without a kernel":
        content = json.loads((site.root / name).read_text())
        content["metadata"]["kernelspec"] = {"name": "nosuch", "display_name": "No such kernel"}
        (site.root / name).write_text(json.dumps(content))
    (tmp_path / "settings").mkdir()
    with serving(site.root, tmp_path, site.server.front_end) as stranger:
        page = site.browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(stranger.url(name))
        check_transcript(page)
        page.context.close()


def check_transcript(page: Any) -> None:
    output = page.locator(".jp-Cell").nth(1).locator(".jp-OutputArea")
    expect(output).to_contain_text(ANSWER, timeout=30_000)
    expect(output.locator("summary", has_text="README.md")).to_have_count(1)
    assert "Error displaying widget" not in output.inner_text()
    assert "Loading widget" not in output.inner_text()


def test_no_key_typed_in_the_view_reaches_the_notebook(site: Site) -> None:
    notebook = site.open(SETUP, "play(SLOW)\n%agent hi", "1 + 1")
    notebook.run(0)
    notebook.wait_idle()
    notebook.run(1)
    stop = notebook.output(1).get_by_role("button", name="Stop")
    stop.wait_for(timeout=20_000)
    expect(notebook.output(1)).to_contain_text("never ends", timeout=20_000)
    stop.focus()
    expect(stop).to_be_focused()
    notebook.page.keyboard.type("ddaabbx")
    expect(stop).to_be_focused()
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == 3
    notebook.page.keyboard.press("Escape")
    expect(notebook.output(1)).to_contain_text("Stopped by you", timeout=5_000)
    notebook.page.context.close()
