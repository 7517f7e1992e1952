"""JupyterLab and Notebook on loopback, and pages in Chromium that drive them.

State is read from the front end's own application object, not from pixels, so the same code serves
both front ends. `Server` keeps configuration, data, settings and workspaces in a folder of its own.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Locator, Page, sync_playwright

import agent_nb

FrontEnd = Literal["lab", "notebook"]

START_S = 60.0
_PANEL = "window.jupyterapp.shell.currentWidget"
_MODULES: Mapping[FrontEnd, str] = {"lab": "jupyterlab", "notebook": "notebook"}
_CHROMIUM_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


class Server:
    """A `jupyter lab` or `jupyter notebook` process that serves `root`."""

    def __init__(self, root: Path, state: Path, front_end: FrontEnd = "lab") -> None:
        self.front_end = front_end
        self.root = root
        self._token = secrets.token_hex(16)
        self._port = _free_port()
        self._log = (state / "server.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", _MODULES[front_end], *self._options()],
            env=_environment(state),
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def wait(self) -> None:
        """Wait until the server answers."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                self._api("status")
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
            else:
                return
        raise RuntimeError(f"The server did not start: {Path(self._log.name).read_text()[-3000:]}")

    def open(self, browser: Browser, notebook: str) -> "NotebookPage":
        """Open a notebook in a new page and wait for its kernel."""
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        opened = NotebookPage(page)
        page.goto(self.url(notebook))
        opened.wait_ready()
        return opened

    def url(self, notebook: str) -> str:
        """Return the address of a notebook."""
        workspace = notebook.removesuffix(".ipynb")  # one each: a reload brings back no other tab
        lab = f"/lab/workspaces/{workspace}/tree/{notebook}?reset&token={self._token}"
        path = lab if self.front_end == "lab" else f"/notebooks/{notebook}?token={self._token}"
        return f"http://127.0.0.1:{self._port}{path}"

    def stop(self) -> None:
        """End the kernels, then the server."""
        for kernel in self._api("kernels"):
            self._api(f"kernels/{kernel['id']}", method="DELETE")
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _options(self) -> Sequence[str]:
        return (
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={self._port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={self._token}",
            f"--ServerApp.root_dir={self.root}",
            "--expose-app-in-browser",
            "--LabApp.news_url=None",
        )

    def _api(self, path: str, *, method: str = "GET") -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/api/{path}",
            method=method,
            headers={"Authorization": f"token {self._token}"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.loads(response.read() or b"null")


class NotebookPage:
    """A notebook in a page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def wait_ready(self) -> None:
        """Wait until the notebook is drawn and its kernel is connected and idle."""
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=START_S * 1000)
        self.page.wait_for_function(
            f"""() => {{
                const kernel = window.jupyterapp && {_PANEL}?.sessionContext?.session?.kernel;
                return kernel?.connectionStatus === "connected" && kernel.status === "idle";
            }}""",
            timeout=START_S * 1000,
        )

    def wait_idle(self, timeout_s: float = 60) -> None:
        """Wait until no cell runs or waits to run."""
        self.page.wait_for_function(
            f"""() => {{
                const panel = {_PANEL};
                const busy = cell => cell.model.executionState === "running";
                return panel.sessionContext.session.kernel.status === "idle"
                    && !panel.content.widgets.some(busy);
            }}""",
            timeout=timeout_s * 1000,
        )

    def run_all(self) -> None:
        """Start all cells; does not wait."""
        self.command("notebook:run-all-cells")

    def run(self, index: int) -> None:
        """Start one cell; does not wait."""
        self.page.evaluate(
            f"""index => {{
                {_PANEL}.content.deselectAll();
                {_PANEL}.content.activeCellIndex = index;
                window.jupyterapp.commands.execute("notebook:run-cell");
            }}""",
            index,
        )

    def interrupt(self) -> None:
        """Interrupt the kernel as the stop button of the toolbar does."""
        self.command("notebook:interrupt-kernel")

    def save(self) -> None:
        """Save the notebook to its file."""
        self.page.evaluate(f"async () => {{ await {_PANEL}.context.save(); }}")

    def reload(self) -> None:
        """Reload the page and wait for the notebook; the kernel may be busy."""
        self.page.reload()
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=START_S * 1000)

    def output(self, index: int) -> Locator:
        """Return the outputs of a cell."""
        cell = f'.jp-Cell[data-windowed-list-index="{index}"]'
        return self.page.locator(f".jp-NotebookPanel:not(.lm-mod-hidden) {cell} .jp-OutputArea")

    def command(self, name: str) -> None:
        """Execute a command of the front end; does not wait."""
        self.page.evaluate("name => { window.jupyterapp.commands.execute(name); }", name)


def write_notebook(path: Path, *cells: str) -> None:
    """Write a notebook of code cells."""
    content = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{index}",
                "metadata": {},
                "execution_count": None,
                "outputs": [],
                "source": source,
            }
            for index, source in enumerate(cells)
        ],
    }
    path.write_text(json.dumps(content, ensure_ascii=False))


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a headless Chromium: the one `CHROMIUM` names, else the system's."""
    executable = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=list(_CHROMIUM_OPTIONS)
        )
        yield browser
        browser.close()


@contextmanager
def serving(root: Path, state: Path, front_end: FrontEnd = "lab") -> Iterator[Server]:
    """Run a server for the time of a `with` block; `state` is a folder for what it keeps."""
    server = Server(root, state, front_end)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def _environment(state: Path) -> dict[str, str]:
    keyless = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {
        **keyless,
        "JUPYTER_CONFIG_DIR": str(state / "config"),
        "JUPYTER_DATA_DIR": str(state / "data"),
        "JUPYTER_RUNTIME_DIR": str(state / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(state / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(state / "workspaces"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "IPYTHONDIR": str(state / "ipython"),
        "AGENT_NB_DIR": str(state / "agent"),
        "PYTHONPATH": str(Path(agent_nb.__file__).parents[1]),
    }


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
