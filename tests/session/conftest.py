from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_nb.providers.scripted import SCRIPTED_MODEL, ScriptedAnswer, ScriptedProvider
from agent_nb.session.create import create_session
from agent_nb.session.session import AgentSession

MakeSession = Callable[..., Awaitable[AgentSession]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    agent_dir = tmp_path / "agent"
    agent_dir.mkdir()
    (agent_dir / "settings.json").write_text('{"retry": {"baseDelayMs": 1}}')
    return {"AGENT_NB_DIR": str(agent_dir), "PATH": "/usr/bin:/bin"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


@pytest.fixture
def make_session(work: Path, environment: dict[str, str]) -> MakeSession:
    async def make(*answers: ScriptedAnswer, **changes: Any) -> AgentSession:
        provider = ScriptedProvider(*answers)
        options = {
            "cwd": work,
            "model": SCRIPTED_MODEL.key,
            "providers": {"scripted": provider},
            "models": [SCRIPTED_MODEL],
            "environment": environment,
            **changes,
        }
        session = await create_session(**options)
        session.script = provider  # type: ignore[attr-defined]  # for the test to look at
        return session

    return make
