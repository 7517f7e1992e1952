"""An IPython shell in this process, and sessions that play prepared answers."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from agent_nb.kernel.notebook_session import DEFAULT_NAME, NotebookSession
from agent_nb.kernel.runtime import RUNTIME
from agent_nb.providers.scripted import SCRIPTED_MODEL, ScriptedAnswer, ScriptedProvider
from agent_nb.session.create import SessionOptions, create_session
from agent_nb.session.session import AgentSession

Play = Callable[..., NotebookSession]


@pytest.fixture(scope="session")
def ipython_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ipython")


@pytest.fixture
def shell(ipython_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("IPYTHONDIR", str(ipython_directory))
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.run_cell("%load_ext agent_nb")
    yield shell
    shell.run_cell("%unload_ext agent_nb")
    InteractiveShell.clear_instance()


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """Make the notebook's session play prepared answers."""

    def start(*answers: ScriptedAnswer, name: str = DEFAULT_NAME) -> NotebookSession:
        provider = ScriptedProvider(*answers)

        async def create(options: SessionOptions) -> AgentSession:
            scripted = replace(
                options,
                model=options.model or SCRIPTED_MODEL.key,
                providers={"scripted": provider},
                models=[SCRIPTED_MODEL],
                no_session=True,
                environment={"AGENT_NB_DIR": str(tmp_path / "agent")},
            )
            return await create_session(scripted)

        session = NotebookSession(name, tmp_path, runtime=RUNTIME, create=create)
        RUNTIME.sessions[name] = session
        return session

    yield start
    for session in RUNTIME.sessions.values():
        session.dispose().result()
    RUNTIME.sessions.clear()
