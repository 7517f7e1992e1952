"""Waiting for the agent thread, awaited and blocking."""

import asyncio
import contextvars
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from agent_nb.core.errors import ConfigError
from agent_nb.kernel.failure import AgentRunError
from agent_nb.kernel.handle import Handle
from agent_nb.kernel.runtime import AgentThread


@pytest.fixture
def thread() -> Iterator[AgentThread]:
    thread = AgentThread()
    yield thread
    thread.close()


class Work:
    """A run that goes on until it is stopped."""

    def __init__(self, thread: AgentThread) -> None:
        self._thread = thread
        self.going = threading.Event()
        self.stopped = threading.Event()
        self.handle = Handle(thread.submit(self._run()), "The run", stop=self._stop)

    async def _run(self) -> str:
        self._end = asyncio.Event()
        self.going.set()
        await self._end.wait()
        self.stopped.set()
        return "stopped"

    def _stop(self) -> None:
        self._thread.post(self._end.set)


async def _value(value: str) -> str:
    await asyncio.sleep(0)
    return value


async def _failing(error: Exception) -> str:
    raise error


async def test_a_handle_gives_the_same_value_each_time(thread: AgentThread) -> None:
    handle = Handle(thread.submit(_value("ok")), "It")
    assert await handle == "ok"
    assert await handle == "ok"
    assert handle.result() == "ok"
    assert handle.done()


async def test_a_handle_raises_what_was_raised_as_one_line(thread: AgentThread) -> None:
    handle = Handle(thread.submit(_failing(ConfigError("No key. Set it."))), "It")
    with pytest.raises(ConfigError) as caught:
        await handle
    assert caught.value._render_traceback_() == ["ConfigError: No key. Set it."]  # type: ignore[attr-defined]
    with pytest.raises(ConfigError):
        handle.result()


async def test_a_fault_of_the_program_keeps_its_traceback(thread: AgentThread) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        await Handle(thread.submit(_failing(ZeroDivisionError())), "It")
    assert not hasattr(caught.value, "_render_traceback_")


async def test_a_cancelled_wait_stops_the_work_and_shows_one_line(thread: AgentThread) -> None:
    work = Work(thread)
    waiting = asyncio.create_task(work.handle._awaited())
    await asyncio.to_thread(work.going.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await waiting
    assert work.stopped.is_set()
    assert caught.value._render_traceback_() == [  # type: ignore[attr-defined]
        "KeyboardInterrupt: The run was interrupted and has stopped."
    ]


async def test_a_time_limit_around_a_wait_is_still_one(thread: AgentThread) -> None:
    work = Work(thread)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await work.handle
    assert work.stopped.is_set()


def test_an_interrupt_of_a_blocking_wait_stops_the_work(thread: AgentThread) -> None:
    work = Work(thread)

    main = threading.main_thread().ident or 0

    def interrupt_the_wait() -> None:
        if sys._current_frames()[main].f_code.co_qualname.startswith("Condition.wait"):
            signal.pthread_kill(main, signal.SIGINT)
        else:
            thread.loop.call_soon(interrupt_the_wait)

    def wait_and_be_interrupted() -> None:
        thread.post(interrupt_the_wait)
        work.handle.result()

    work.going.wait()
    with pytest.raises(KeyboardInterrupt) as caught:
        wait_and_be_interrupted()
    assert work.stopped.is_set()
    assert caught.value._render_traceback_() == [  # type: ignore[attr-defined]
        "KeyboardInterrupt: The run was interrupted and has stopped."
    ]


async def test_the_waiting_loop_wakes_up_on_its_own(thread: AgentThread) -> None:
    """A signal handler may only set something; without a heartbeat nothing would look at it."""
    work = Work(thread)
    loop = asyncio.get_running_loop()
    waiting = asyncio.create_task(work.handle._awaited())
    await asyncio.sleep(0)
    began = loop.time()
    threading.Timer(0.01, lambda: loop.call_soon(waiting.cancel)).start()  # wakes nothing
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert loop.time() - began < 1


async def test_stop_ends_the_work_in_its_own_way(thread: AgentThread) -> None:
    work = Work(thread)
    work.going.wait()
    work.handle.stop()
    assert await work.handle == "stopped"


async def test_without_a_way_to_stop_the_work_is_cancelled(thread: AgentThread) -> None:
    handle = Handle(thread.submit(asyncio.sleep(60)), "Waiting")
    handle.stop()
    assert handle.done()
    assert repr(handle) == "<Waiting, cancelled>"


async def test_a_repr_says_what_goes_on(thread: AgentThread) -> None:
    work = Work(thread)
    assert repr(work.handle) == "<The run, going on: await it, or call .result() or .stop()>"
    work.going.wait()
    work.handle.stop()
    await work.handle
    assert repr(work.handle) == "<The run, done: 'stopped'>"


async def test_work_sees_the_context_of_who_asked(thread: AgentThread) -> None:
    cell = contextvars.ContextVar("cell", default=0)
    cell.set(7)

    async def read() -> int:
        return cell.get()

    assert await Handle(thread.submit(read()), "It") == 7


async def test_the_agent_thread_cannot_wait_for_itself(thread: AgentThread) -> None:
    async def ask_again() -> str:
        return Handle(thread.submit(_value("never")), "It").result()

    with pytest.raises(AgentRunError, match="its own thread"):
        await Handle(thread.submit(ask_again()), "It")


def test_a_closed_thread_takes_no_more_posts(thread: AgentThread) -> None:
    thread.close()
    thread.post(pytest.fail, "posted to a closed loop")
    assert not thread.is_alive
