"""Draw 100,000 deltas in Chromium; print the longest task in ms, and bytes sent and of the HTML."""

import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent), str(HERE.parent / "ui")]

from playwright.sync_api import sync_playwright  # noqa: E402 - after the path is set
from test_view_page import DRAW, START, Page, long_answer  # noqa: E402

from agent_nb.ui.patch import snapshot  # noqa: E402


def main() -> None:
    """Measure once."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        view = Page(browser, START)
        _text, messages, state = long_answer(view.state, 400_000)
        longest_ms, _drawn = view.page.evaluate(DRAW, messages)
        browser.close()
    html = snapshot(state).body["turns"][0]["blocks"][0]["html"]
    sent = sum(len(json.dumps(message)) for message in messages)
    json.dump([longest_ms, sent, sum(map(len, html))], sys.stdout)


if __name__ == "__main__":
    main()
