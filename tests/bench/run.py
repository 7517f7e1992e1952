"""Measure the package against its floors: `python tests/bench/run.py [ROW …]`.

Each figure is the median of `--repeat` runs of whole processes, package and floor in turn. The
ratios are what counts; seconds are of this machine. Targets that are missed are marked, nothing
fails.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Cost:
    """What a process took."""

    cpu_s: float
    peak_bytes: int


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    ours: str
    floor: str
    ratio: float
    limit: float

    def __str__(self) -> str:
        mark = "ok" if self.ratio <= self.limit else "MISSED"
        numbers = f"{self.ratio:6.2f}  {self.limit:6.2f}"
        return f"{self.name:<34} {self.ours:>12} {self.floor:>12} {numbers}  {mark}"


class Bench:
    """The server, a working directory, and how processes are run and measured."""

    def __init__(self, base: str, work: Path, repeat: int) -> None:
        self.base, self.work, self.repeat = base, work, repeat
        (work / "file.txt").write_text(("x" * 39 + "\n") * 50)

    def run(self, command: list[str], url: str = "") -> Cost:
        """Run a process to its end and return what it took."""
        agent = self.work / f"agent-{uuid.uuid4().hex}"
        agent.mkdir()
        model = {"id": "m", "contextWindow": 100_000_000, "maxTokens": 1000}
        provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "k", "models": [model]}
        (agent / "models.json").write_text(json.dumps({"providers": {"bench": provider}}))
        environment = {**os.environ, "AGENT_NB_DIR": str(agent), "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command} ended with {process.returncode}")
        return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)

    def ours(self, url: str, *options: str) -> Cost:
        """Run the package."""
        command = [sys.executable, "-m", "agent_nb", "--model", "bench/m", "--tools", "read"]
        return self.run([*command, *options, "go"], url)

    def floor(self, *arguments: str) -> Cost:
        """Run a floor."""
        return self.run([sys.executable, str(HERE / "floors.py"), *arguments])

    def medians(self, *measures: Callable[[], float]) -> list[float]:
        """Run the measures in turn and return their medians."""
        rounds = [[measure() for measure in measures] for _ in range(self.repeat)]
        return [statistics.median(values) for values in zip(*rounds, strict=True)]

    def turn_times(self, run: str) -> list[float]:
        """Return the seconds between the requests of a run."""
        with urllib.request.urlopen(f"{self.base}/times/{run}") as response:
            times = json.load(response)
        return [after - before for before, after in pairwise(times)]


def deltas(bench: Bench) -> Iterator[Row]:
    """One answer of many deltas in JSON mode: CPU per delta, beyond starting up."""
    many, few = 100_000, 1_000
    ours_many, ours_few, floor_many, floor_few = bench.medians(
        lambda: bench.ours(f"{bench.base}/deltas/{many}/v1", "--mode", "json").cpu_s,
        lambda: bench.ours(f"{bench.base}/deltas/{few}/v1", "--mode", "json").cpu_s,
        lambda: bench.floor("deltas", f"{bench.base}/deltas/{many}/v1").cpu_s,
        lambda: bench.floor("deltas", f"{bench.base}/deltas/{few}/v1").cpu_s,
    )
    ours, floor = ours_many - ours_few, floor_many - floor_few
    scale = 1e6 / (many - few)
    yield Row(
        "100,000 deltas, CPU per delta",
        f"{ours * scale:.1f} us",
        f"{floor * scale:.1f} us",
        ours / floor,
        1.3,
    )


def tools(bench: Bench) -> Iterator[Row]:
    """A loop of 200 turns that reads a file, session on disk: CPU of the whole process."""

    def url() -> str:
        return f"{bench.base}/tools/200/{uuid.uuid4().hex}/v1"

    ours, floor = bench.medians(
        lambda: bench.ours(url()).cpu_s,
        lambda: bench.floor("tools", url(), str(bench.work)).cpu_s,
    )
    yield Row("tool loop of 200 turns, CPU", f"{ours:.2f} s", f"{floor:.2f} s", ours / floor, 2.5)


def growth(bench: Bench) -> Iterator[Row]:
    """Turn 800 against turn 50, and the peak memory of such a loop."""
    growths: dict[str, list[float]] = {"ours": [], "floor": []}
    peaks = []
    for _ in range(bench.repeat):
        for who in growths:
            run = uuid.uuid4().hex
            url = f"{bench.base}/tools/820/{run}/v1"
            if who == "ours":
                peaks.append(bench.ours(url).peak_bytes)
            else:
                bench.floor("tools", url, str(bench.work))
            times = bench.turn_times(run)
            late, early = statistics.median(times[780:820]), statistics.median(times[30:70])
            growths[who].append(late / early)
    ours, floor = (statistics.median(growths[who]) for who in ("ours", "floor"))
    yield Row("turn 800 / turn 50, wall", f"{ours:.2f}", f"{floor:.2f}", ours / floor, 1.3)
    imports = bench.ours(f"{bench.base}/tools/0/{uuid.uuid4().hex}/v1").peak_bytes
    history = 820 * (bench.work / "file.txt").stat().st_size
    least = imports + 2 * history
    peak = statistics.median(peaks)
    yield Row(
        "peak memory at 800 turns",
        f"{peak / 1e6:.0f} MB",
        f"{least / 1e6:.0f} MB",
        peak / least,
        1.2,
    )


def start(bench: Bench) -> Iterator[Row]:
    """From nothing to an answer: CPU against importing httpx, pydantic and asyncio."""
    ours, floor = bench.medians(
        lambda: bench.ours(f"{bench.base}/deltas/1/v1", "--no-session").cpu_s,
        lambda: bench.floor("imports").cpu_s,
    )
    yield Row("start to the first answer, CPU", f"{ours:.2f} s", f"{floor:.2f} s", ours / floor, 2)
    imported, bare = bench.medians(
        lambda: bench.run([sys.executable, "-c", "import asyncio, agent_nb"]).cpu_s,
        lambda: bench.run([sys.executable, "-c", "import asyncio"]).cpu_s,
    )
    extra = imported - bare
    yield Row(
        "import agent_nb, CPU over asyncio", f"{extra * 1e3:.0f} ms", "60 ms", extra / 0.06, 1
    )


def page(bench: Bench) -> Iterator[Row]:
    """100,000 deltas drawn in Chromium: the longest task, and bytes against the final HTML."""
    command = [sys.executable, str(HERE / "page.py")]
    runs = [json.loads(subprocess.check_output(command)) for _ in range(bench.repeat)]
    longest, sent, html = (statistics.median(values) for values in zip(*runs, strict=True))
    yield Row("longest task in the page", f"{longest:.0f} ms", "100 ms", longest / 100, 1)
    yield Row("bytes to the page", f"{sent / 1e6:.2f} MB", f"{html / 1e6:.2f} MB", sent / html, 1.5)


ROWS = {"deltas": deltas, "tools": tools, "growth": growth, "start": start, "page": page}


@contextmanager
def serving() -> Iterator[str]:
    """Run the scripted server; yield its address."""
    process = subprocess.Popen([sys.executable, str(HERE / "server.py")], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Measure the rows that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    header = f"{'workload':<34} {'ours':>12} {'floor':>12} {'ratio':>6}  {'at most':>6}"
    sys.stdout.write(f"{header}\n")
    with serving() as base, tempfile.TemporaryDirectory() as work:
        bench = Bench(base, Path(work), options.repeat)
        for name in options.rows or ROWS:
            for row in ROWS[name](bench):
                sys.stdout.write(f"{row}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
