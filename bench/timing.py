"""Timing on a shared machine: rounds of all cases in turn, the best of each."""

import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.figure import Figure, count, milliseconds


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds that a case took. The minimum is its cost; the rest is noise of the machine."""

    minimum: float
    median: float
    worst: float

    def as_detail(self, name: str) -> dict[str, float]:
        """The times in milliseconds, for a figure's detail."""
        return {
            f"{name}Ms": milliseconds(self.minimum),
            f"{name}MedianMs": milliseconds(self.median),
        }


def ratio(row: str, name: str, times: Times, base: Times, unit: str, bound: float | None) -> Figure:
    """The ratio of `times` to `base`, as a figure with an optional upper bound."""
    detail = times.as_detail("this") | base.as_detail("base")
    detail["ratioOfMedians"] = round(times.median / base.median, 3)
    note = f"{count(times.minimum * 1000)} / {count(base.minimum * 1000)} ms"
    figure = times.minimum / base.minimum
    return Figure(row, name, figure, unit, bound, note=note, detail=detail)


def interleave(cases: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, Times]:
    """Run every case once in each round, so that a busy moment affects all of them.

    A case returns the seconds it took, without its preparation.
    """
    taken: dict[str, list[float]] = {name: [] for name in cases}
    names = list(cases)
    for number in range(rounds):
        turn = number % len(names)  # vary which case follows which
        for name in names[turn:] + names[:turn]:
            taken[name].append(cases[name]())
    return {name: times_of(some) for name, some in taken.items()}


def times_of(taken: Sequence[float]) -> Times:
    """The summary of several measurements."""
    return Times(min(taken), statistics.median(taken), max(taken))


def took(action: Callable[[], Any]) -> float:
    """The seconds that `action` takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def process(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout: Path | None = None,
    stdin: Path | None = None,
) -> float:
    """The seconds that a process takes. Raises RuntimeError if it does not exit with 0."""
    started = time.perf_counter()
    _run(command, cwd, env, stdout, stdin)
    return time.perf_counter() - started


def processor(
    command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], stdin: Path | None = None
) -> float:
    """The processor seconds of a process and of the children that it waited for: what else the
    machine does counts little. Raises as `process`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(command, cwd, env, None, stdin)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(
    command: Sequence[str | Path],
    cwd: Path,
    env: Mapping[str, str],
    stdout: Path | None,
    stdin: Path | None,
) -> None:
    with (
        (stdout or Path("/dev/null")).open("wb") as out,
        (stdin or Path("/dev/null")).open() as given,
    ):
        done = subprocess.run(
            command, cwd=cwd, env=dict(env), stdin=given, stdout=out, stderr=subprocess.PIPE
        )
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace")
        raise RuntimeError(
            f"{[str(word) for word in command]} ended with {done.returncode}: {words}"
        )
