"""How a user stops a run: a signal that work watches, so the run still ends in ordinary events."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class Aborted(Exception):  # noqa: N818 - not a failure: the user asked for it
    """Raised where work in progress was stopped by its `AbortSignal`."""


class AbortSignal:
    """A flag that is set once, and wakes what waits under `guard`. Belongs to one event loop."""

    def __init__(self) -> None:
        self._aborted = False
        self._waiting: set[asyncio.Task[object]] = set()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def aborted(self) -> bool:
        """Whether `abort` was called."""
        return self._aborted

    def abort(self) -> None:
        """Set the flag, call the callbacks, and wake every guarded wait with `Aborted`."""
        if self._aborted:
            return
        self._aborted = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()
        for task in self._waiting:
            task.cancel()

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` on abort, at once if that has happened; return how to take it back."""
        if self._aborted:
            callback()
            return lambda: None
        self._callbacks.append(callback)

        def remove() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

        return remove

    def check(self) -> None:
        """Raise `Aborted` if the flag is set."""
        if self._aborted:
            raise Aborted

    async def guard(self, awaitable: Awaitable[T]) -> T:
        """Await, raising `Aborted` once the flag is set; a real cancellation passes through."""
        if self._aborted:
            if asyncio.iscoroutine(awaitable):
                awaitable.close()
            raise Aborted
        task = asyncio.current_task()
        assert task is not None, "guard needs a task"
        cancelling = task.cancelling()
        nested = task in self._waiting
        self._waiting.add(task)
        try:
            return await awaitable
        except asyncio.CancelledError:
            if self.aborted and not nested and task.uncancel() <= cancelling:
                raise Aborted from None
            raise
        finally:
            if not nested:
                self._waiting.discard(task)

    async def until_abort(self, source: AsyncIterable[T]) -> AsyncIterator[T]:
        """Yield from `source`, raising `Aborted` as soon as the flag is set."""
        iterator = aiter(source)
        while True:
            try:
                item = await self.guard(anext(iterator))
            except StopAsyncIteration:
                return
            yield item

    async def sleep(self, seconds: float) -> None:
        """Sleep, or raise `Aborted`."""
        await self.guard(asyncio.sleep(seconds))
