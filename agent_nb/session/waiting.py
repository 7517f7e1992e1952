"""Wait for a session's work in code that cannot await."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
    """Run `work` on `loop`, the session's own, and return its result.

    A loop that runs in another thread is posted to. One that runs here, below this very call, is
    run nested: cells or callbacks that come meanwhile wait until the work is done.
    """
    if not loop.is_running():
        return loop.run_until_complete(work)
    try:
        here = asyncio.get_running_loop() is loop
    except RuntimeError:
        here = False
    if not here:
        return asyncio.run_coroutine_threadsafe(work, loop).result()
    import nest_asyncio2

    nest_asyncio2.apply(loop)
    return loop.run_until_complete(work)
