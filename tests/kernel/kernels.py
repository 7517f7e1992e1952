"""A real kernel for tests: run cells, interrupt them, send what a page would send."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.manager import KernelManager

import agent_nb

Message = dict[str, Any]
TIMEOUT_S = 30.0

SETUP = """
import dataclasses, agent_nb
from agent_nb.kernel.conversation import Question
from agent_nb.kernel.notebook_session import NotebookSession
from agent_nb.kernel.runtime import RUNTIME
from agent_nb.providers.scripted import (
    SCRIPTED_MODEL, ScriptedProvider, breaks_off, calls, fails, says,
)
from agent_nb.session.create import create_session

def play(*answers):
    async def create(options):
        return await create_session(dataclasses.replace(
            options, model=options.model or SCRIPTED_MODEL.key, no_session=True,
            providers={"scripted": ScriptedProvider(*answers)}, models=[SCRIPTED_MODEL]))
    directory = agent_nb.session("elsewhere").directory
    session = NotebookSession("main", directory, runtime=RUNTIME, create=create)
    RUNTIME.sessions["main"] = session
    return session

QUIETLY = Question("hi", shown="nothing")
SLOW = says("never ends " * 2000, chunk=4, delay_s=0.02)
%load_ext agent_nb
"""


@dataclass
class Cell:
    """What came of a cell: its reply and everything published for it."""

    reply: Message = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    duration_s: float = 0

    @property
    def status(self) -> str:
        return str(self.reply["status"])

    @property
    def traceback(self) -> list[str]:
        errors = self.contents("error")
        return [line for error in errors for line in error["traceback"]]

    @property
    def text(self) -> str:
        return "".join(content["text"] for content in self.contents("stream"))

    @property
    def values(self) -> list[str]:
        return [content["data"]["text/plain"] for content in self.contents("execute_result")]

    def contents(self, *kinds: str) -> list[Message]:
        return [m["content"] for m in self.messages if m["header"]["msg_type"] in kinds]


class Kernel:
    """A kernel process and one client of it."""

    def __init__(self, manager: KernelManager, client: Any) -> None:
        self._manager = manager
        self.client = client
        self._published: list[Message] = []

    def send(self, code: str, *, allow_stdin: bool = True, in_notebook: bool = True) -> str:
        """Send a cell as a notebook does, or a line as a console does; return its message id."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": allow_stdin,
            "stop_on_error": True,
        }
        metadata = {"cellId": "a cell"} if in_notebook else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        message_id: str = message["header"]["msg_id"]
        return message_id

    def finish(self, message_id: str) -> Cell:
        """Wait until a cell has ended and return what came of it."""
        began = time.monotonic()
        cell = Cell()
        self.wait_for(lambda m: _is_idle(m) and m["parent_header"].get("msg_id") == message_id)
        while cell.reply.get("msg_id") != message_id:
            reply = self.client.get_shell_msg(timeout=TIMEOUT_S)
            cell.reply = {**reply["content"], "msg_id": reply["parent_header"].get("msg_id")}
        cell.duration_s = time.monotonic() - began
        cell.messages = self.published_for(message_id)
        return cell

    def run(self, code: str, *, allow_stdin: bool = True) -> Cell:
        """Run a cell to its end."""
        return self.finish(self.send(code, allow_stdin=allow_stdin))

    def forget(self) -> None:
        """Forget what was published so far."""
        self._published.clear()

    def published(self, kind: str) -> list[Message]:
        """Return what was published since `forget`, of one kind, for whatever cell."""
        return [m for m in self._published if m["header"]["msg_type"] == kind]

    def published_for(self, message_id: str) -> list[Message]:
        """Return what was published so far for a cell."""
        return [m for m in self._published if m["parent_header"].get("msg_id") == message_id]

    def wait_for(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the first message that is wanted, of those published since `forget`."""
        for message in self._published:
            if wanted(message):
                return message
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except Empty:
                continue
            self._published.append(message)
            if wanted(message):
                return message
        raise TimeoutError("The kernel did not publish what was waited for")

    def interrupt(self) -> None:
        """Interrupt the kernel as a front end does."""
        self._manager.interrupt_kernel()

    def say(self, comm_id: str, content: Message, *, subshell_id: str | None = None) -> None:
        """Send a widget's message as a page does, to a subshell of its own if it has one."""
        data = {"method": "custom", "content": content}
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        if subshell_id is not None:
            message["header"]["subshell_id"] = subshell_id
        self.client.shell_channel.send(message)

    @property
    def is_alive(self) -> bool:
        return bool(self._manager.is_alive())


def _is_idle(message: Message) -> bool:
    return bool(message["content"].get("execution_state") == "idle")


@contextmanager
def kernel_in(directory: Path, **variables: str) -> Iterator[Kernel]:
    """Start a kernel whose home and working directory are below `directory`."""
    work = directory / "work"
    work.mkdir()
    root = str(Path(agent_nb.__file__).parents[1])
    environment = {
        **{name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")},
        "HOME": str(directory),
        "IPYTHONDIR": str(directory / "ipython"),
        "AGENT_NB_DIR": str(directory / "agent"),
        "PYTHONPATH": os.pathsep.join(filter(None, (variables.pop("FIRST", ""), root))),
        **variables,
    }
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(work), env=environment)
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=TIMEOUT_S)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
        manager.cleanup_resources()
        manager.context.destroy()
