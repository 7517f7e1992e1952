"""Errors a person meets first: one clear line, with what to do, and the session goes on."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from kernels import Kernel, kernel_in

pytestmark = pytest.mark.slow

README = "# Tidepool\n\nTidepool counts crabs.\n"


class Refusing(BaseHTTPRequestHandler):
    """Says 401 to every request, and repeats the key it was sent."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        key = self.headers["authorization"].removeprefix("Bearer ")
        body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}}).encode()
        self.send_response(401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    home = tmp_path_factory.mktemp("kernel")
    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    models = [{"id": "m"}]
    common = {"api": "openai-completions", "apiKey": "not-a-real-key-at-all", "models": models}
    providers = {
        "down": {**common, "baseUrl": "http://127.0.0.1:9/v1"},
        "refusing": {**common, "baseUrl": f"http://127.0.0.1:{server.server_port}/v1"},
    }
    (home / "agent").mkdir()
    (home / "agent" / "models.json").write_text(json.dumps({"providers": providers}))
    (home / "agent" / "settings.json").write_text('{"retry": {"baseDelayMs": 1}}')
    with kernel_in(home) as kernel:
        kernel.run("%load_ext agent_nb")
        kernel.run(f"open('README.md', 'w').write({README!r})")
        yield kernel
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%agent --model demo/nosuch hi", ["no model 'nosuch' at demo", "reader"]),
        ("%agent --model nowhere/x hi", ["no model 'nowhere/x'"]),
        ("%agent --model anthropic/claude-sonnet-4-5 hi", ["Set ANTHROPIC_API_KEY", "demo/reader"]),
        ("%agent --model down/m hi", ["http://127.0.0.1:9", "cannot be reached"]),
        ("%agent --model refusing/m hi", ["401", "Incorrect API key"]),
        ("%agent --modle demo/reader hi", ["--modle", "--model"]),
        ("%agent --thinking loud hi", ["loud", "high"]),
        ("%agent --tools hammer hi", ["hammer", "read"]),
        ("%agent --timeout soon hi", ["--timeout", "soon"]),
        (
            "import agent_nb\nawait agent_nb.session('x', directory='nowhere').prompt('hi')",
            ["nowhere", "directory"],
        ),
        ("# a remark\n%%agent\nhi", ["first line"]),
    ],
)
def test_an_error_is_one_clear_line_and_the_session_is_still_usable(
    kernel: Kernel, cell: str, said: list[str]
) -> None:
    failed = kernel.run(cell)
    assert failed.status == "error"
    [line] = failed.traceback
    assert "\n" not in line.strip()
    assert [word for word in said if word not in line] == []
    assert "not-a-real-key" not in str(failed.messages)
    after = kernel.run("r = %agent --model demo/reader introduce README.md in one sentence\nr.text")
    assert after.values == ["'Tidepool counts crabs.'"]


def test_loading_twice_says_so_and_changes_nothing(kernel: Kernel) -> None:
    again = kernel.run("%load_ext agent_nb")
    assert again.status == "ok"
    assert "already loaded" in again.text
    assert kernel.run("r = %agent --quiet hello\nr.outcome").values == ["'done'"]


def test_nothing_of_a_key_is_in_any_file(kernel: Kernel, tmp_path_factory: object) -> None:
    home = Path(kernel.run("import os\nos.environ['HOME']").values[0].strip("'"))
    kernel.run("%agent --model refusing/m hi")
    files = [path for path in (home / "agent").rglob("*") if path.is_file()]
    holding = [path.name for path in files if "not-a-real-key" in path.read_text("utf-8", "ignore")]
    assert holding == ["models.json"]


def test_a_key_of_models_json_is_masked_in_results_shown_again(kernel: Kernel) -> None:
    kernel.run("open('leak.txt', 'w').write('the key is not-a-real-key-at-all')")
    kernel.run("r = %agent --quiet --model demo/reader show line 1 of leak.txt")
    assert "not-a-real-key-at-all" in kernel.run("print(r.text)").text
    for code in ("r", "import agent_nb\nagent_nb.session().show()"):
        shown = str(kernel.run(code).messages)
        assert "the key is" in shown
        assert "not-a-real-key-at-all" not in shown
