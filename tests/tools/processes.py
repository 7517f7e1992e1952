"""Looking at processes from outside, for the tests of what starts them."""

import os
import select

import psutil


def is_gone(pid: int) -> bool:
    """Say whether a process has ended; a zombie has."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def ends(pid: int) -> bool:
    """Wait for the end of any process; it may stay a zombie where nobody asks after orphans."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 5)[0])
    finally:
        os.close(descriptor)


def running(command: str) -> list[int]:
    """The living processes whose command line is `command`."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if " ".join(process.info["cmdline"] or ()) == command and not is_gone(process.pid)
    ]
