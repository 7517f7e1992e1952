import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent_nb.providers.scripted import SCRIPTED_MODEL, ScriptedProvider, says
from agent_nb.session.create import create_session
from agent_nb.session.session import AgentSession

MakeSession = Callable[..., Awaitable[AgentSession]]


async def test_below_a_running_loop_it_waits_and_other_tasks_go_on(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # to nest a loop replaces this for the whole process, by one that leaves its loop open
    monkeypatch.setattr(asyncio, "run", asyncio.run)
    session = await make_session(says("a b c", chunk=1, delay_s=0.001), says("again"))
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    assert session.prompt_sync("hi").text == "a b c"
    assert ticks > 0
    ticking.cancel()
    assert (await session.prompt("hi")).text == "again"


def test_a_loop_that_is_not_running_is_run(work: Path, environment: dict[str, str]) -> None:
    with asyncio.Runner() as runner:
        session = runner.run(scripted(work, environment))
        assert session.prompt_sync("hi").text == "one"


def test_a_loop_in_another_thread_is_posted_to(work: Path, environment: dict[str, str]) -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    made = asyncio.run_coroutine_threadsafe(scripted(work, environment), loop)
    assert made.result().prompt_sync("hi").text == "one"
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def scripted(work: Path, environment: dict[str, str]) -> AgentSession:
    return await create_session(
        cwd=work,
        environment=environment,
        model=SCRIPTED_MODEL.key,
        models=[SCRIPTED_MODEL],
        providers={"scripted": ScriptedProvider(says("one"))},
        no_session=True,
    )
