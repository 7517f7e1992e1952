"""Process groups: commands ended with all they started, and never left behind."""

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

from agent_nb.tools.children import Child, start_child

_GRACE_S = 0.4
_KILLED_S = 0.1
_POLL_S = 0.02
_MARK = "AGENT_NB_COMMAND_ID"


class ProcessGroups:
    """The process groups that commands started, and the promise that none outlives us.

    What a command leaves running in the background may stay until `close`, until this object is
    garbage, or until our process ends, in whatever way: a small watcher waits on a pipe that the
    system closes with us, and then ends the groups. (A parent-death signal would not do: it comes
    when the *thread* that started the child ends, and reaches no grandchildren.) On Linux even a
    process that has left its group (`setsid`) is found, by a variable in its environment. It
    is out of reach elsewhere, and if it has cleared its environment or changed its user.
    """

    def __init__(self) -> None:
        self._id = secrets.token_hex(8)
        self._count = count()
        self._marks: dict[Child, bytes] = {}
        self._watcher = _Watcher(self._id)
        weakref.finalize(self, self._watcher.close)

    async def start(
        self, shell: str, command: bytes, *, cwd: Path, environment: Mapping[str, str]
    ) -> Child:
        """Start a shell command as the leader of a new group; stdout and stderr are one.

        Raises:
            OSError: If it cannot be started.
        """
        argv: tuple[str | bytes, ...] = (shell, "-c", command)
        mark = f"{self._id}.{next(self._count)}."
        environment = {**environment, _MARK: mark}
        line = self._watcher.line()
        if line is None:
            child = await start_child(argv, cwd=cwd, environment=environment, merge_errors=True)
        else:
            # The child tells the watcher of itself, so that there is no moment in which we could
            # die and leave it behind. Called `sh`, bash does not read BASH_ENV twice.
            child = await start_child(
                ("sh", "-c", _ENROL, *argv),
                cwd=cwd,
                environment=environment,
                merge_errors=True,
                executable=shell,
                stdin=line,
            )
        self._watcher.watch(child.pid)
        self._marks[child] = f"{_MARK}={mark}".encode()
        return child

    def release(self, child: Child) -> None:
        """Stop following a command; what it left in the background is still watched."""
        child.close()
        self._marks.pop(child, None)
        if not _is_alive(child.pid):
            self._watcher.drop(child.pid)

    async def stop(self, child: Child) -> None:
        """End all that the command started: ask, and after half a second force."""
        _signal_group(child.pid, signal.SIGTERM)
        _signal_marked(self._marks[child], signal.SIGTERM)
        if await _group_ended(child.pid, _GRACE_S):
            _signal_marked(self._marks[child], _KILL)
        else:
            self.kill(child)
            await _group_ended(child.pid, _KILLED_S)

    def kill(self, child: Child) -> None:
        """End all that the command started at once."""
        _signal_group(child.pid, _KILL)
        _signal_marked(self._marks[child], _KILL)

    def close(self) -> None:
        """End all that was left in the background; takes up to half a second if it resists."""
        self._watcher.close()


if sys.platform == "win32":
    _KILL = signal.SIGTERM

    def _signal_group(group: int, number: int) -> bool:
        """End a process with all its descendants; Windows has no gentle way and no groups."""
        if number == 0:
            return False
        argv = ["taskkill", "/F", "/T", "/PID", str(group)]
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
else:
    _KILL = signal.SIGKILL

    def _signal_group(group: int, number: int) -> bool:
        """Send a signal to a group; False if it has no members. 0 just asks."""
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def _signal_marked(mark: bytes, number: int) -> None:
    """Send a signal to whoever has `mark` in its environment, where the system tells."""
    if sys.platform != "linux":
        return
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # not ours, or it has ended meanwhile
            if mark not in file.read_bytes():
                continue
            process = os.pidfd_open(int(file.parent.name))
            try:
                if mark in file.read_bytes():  # the number has not become somebody else's
                    signal.pidfd_send_signal(process, number)
            finally:
                os.close(process)


async def _group_ended(group: int, within_s: float) -> bool:
    """Wait a short while for a group's last member to go; no event tells of it."""
    for _attempt in range(int(within_s / _POLL_S)):
        if not _is_alive(group):
            return True
        await asyncio.sleep(_POLL_S)
    return False


def _is_alive(group: int) -> bool:
    """Say whether a group has members, not counting dead ones nobody has asked after.

    Those stay for ever in a container whose first process is no init.
    """
    if not _signal_group(group, 0):
        return False
    states = list(_states(group))
    return not states or any(state not in {"Z", "X"} for state in states)


def _states(group: int) -> Iterator[str]:
    """Yield the states of a group's members, where the system tells. Source: proc(5)."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, member_of, *_rest = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(member_of) == group:
            yield state


_ENROL = 'echo "add $$" >&0 && exec "$0" "$@" </dev/null'

_WATCH = r"""
trap '' HUP INT TERM
marked() { grep -Fls -- "$mark" /proc/[0-9]*/environ; }
strike() {
  for group in $live; do kill -s "$1" -- "-$group"; done
  for file in $(marked); do file=${file#/proc/}; kill -s "$1" -- "${file%/environ}"; done
}
mark=$1 live=' '
while read -r word group; do
  case $word in
    add) live="$live$group " ;;
    drop) live="${live%% $group *} ${live#* $group }" ;;
    end) break ;;
  esac
done
strike TERM
for _ in 1 2 3 4 5; do
  left=
  for group in $live; do kill -s 0 -- "-$group" && left="$left $group"; done
  live=$left
  [ "$left" ] || [ "$(marked)" ] || exit
  sleep 0.1 || sleep 1
done
strike KILL
"""


class _Watcher:
    """A shell script that ends the groups it was told of when its input ends."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._live: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def line(self) -> int | None:
        """Return the descriptor of the script's input, starting it if it does not run.

        None if there is no shell for it.
        """
        with self._lock:
            for group in [group for group in self._live if not _is_alive(group)]:
                self._drop(group)
            if self._process is None or self._process.poll() is not None:
                self._start()
            pipe = self._process.stdin if self._process else None
            return pipe.fileno() if pipe else None

    def watch(self, group: int) -> None:
        """Remember a group that has told the script of itself."""
        with self._lock:
            self._live.add(group)

    def drop(self, group: int) -> None:
        """Forget a group that has ended, before its number can be somebody else's."""
        with self._lock:
            self._drop(group)

    def close(self) -> None:
        """End all groups."""
        if os.getpid() != self._owner:  # a fork of us has nothing to end
            return
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                for group in self._live:
                    _signal_group(group, _KILL)
            else:
                _tell(process, "end")
                process.communicate()
            self._live.clear()

    def _start(self) -> None:
        shell = shutil.which("sh", path=os.defpath)
        if shell is None:
            return
        if self._process is not None:
            self._process.communicate()  # it has ended; this closes our end of its pipe
        self._process = subprocess.Popen(
            [shell, "-c", _WATCH, "sh", f"{_MARK}={self._mark}."],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.defpath},
            bufsize=0,
            start_new_session=True,
        )
        for group in self._live:
            self._tell(f"add {group}")

    def _drop(self, group: int) -> None:
        self._live.discard(group)
        self._tell(f"drop {group}")

    def _tell(self, line: str) -> None:
        if self._process is not None:
            _tell(self._process, line)


def _tell(process: subprocess.Popen[bytes], line: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # somebody ended it; `ready` starts another
        process.stdin.write(f"{line}\n".encode())
