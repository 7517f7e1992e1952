import asyncio
from collections.abc import AsyncIterator

import pytest

from agent_nb.core.abort import Aborted, AbortSignal


async def forever() -> None:
    await asyncio.Event().wait()


async def test_guard_ends_with_aborted_and_leaves_the_task_usable() -> None:
    signal = AbortSignal()
    asyncio.get_running_loop().call_soon(signal.abort)
    with pytest.raises(Aborted):
        await signal.guard(forever())
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_real_cancellation_passes_through_guard() -> None:
    signal = AbortSignal()
    task = asyncio.create_task(signal.guard(forever()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_wins_when_both_happen() -> None:
    signal = AbortSignal()
    task = asyncio.create_task(signal.guard(forever()))
    await asyncio.sleep(0)
    task.cancel()
    signal.abort()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_nested_guards_end_together() -> None:
    signal = AbortSignal()

    async def inner() -> None:
        await signal.guard(forever())

    asyncio.get_running_loop().call_soon(signal.abort)
    with pytest.raises(Aborted):
        await signal.guard(inner())


async def test_every_guarded_task_wakes() -> None:
    signal = AbortSignal()
    tasks = [asyncio.create_task(signal.guard(forever())) for _ in range(3)]
    await asyncio.sleep(0)
    signal.abort()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(error) for error in done] == [Aborted] * 3


async def test_guard_refuses_at_once_after_abort() -> None:
    signal = AbortSignal()
    signal.abort()
    with pytest.raises(Aborted):
        await signal.guard(forever())


async def test_until_abort_ends_a_silent_source() -> None:
    signal = AbortSignal()
    seen = []

    async def source() -> AsyncIterator[int]:
        yield 1
        await forever()

    async def read() -> None:
        async for item in signal.until_abort(source()):
            seen.append(item)
            asyncio.get_running_loop().call_soon(signal.abort)

    with pytest.raises(Aborted):
        await read()
    assert seen == [1]


def test_callbacks_run_once_and_can_be_taken_back() -> None:
    signal = AbortSignal()
    called = []
    forget = signal.on_abort(lambda: called.append("forgotten"))
    signal.on_abort(lambda: called.append("kept"))
    forget()
    signal.abort()
    signal.abort()
    signal.on_abort(lambda: called.append("late"))
    assert called == ["kept", "late"]
