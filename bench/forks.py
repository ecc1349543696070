"""Runs many processes that start at the same moment, and collects their results."""

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Work = Callable[[], Any]
CONTEXT = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Span:
    """One process's work: its start and end by the machine's clock, and its result."""

    began: float
    ended: float
    result: Any
    before: Any = None  # the result of the warm-up


def together(works: Sequence[Work], warm_up: Sequence[Work] = ()) -> list[Span]:
    """Run each of `works` in its own process, all at once; their spans, in order.

    Each first runs its own of `warm_up`, because copying shared pages slows the first steps of a
    forked process. All wait on one pipe and start when it is closed, which favours none. Raises
    RuntimeError if one fails.
    """
    gate, release = os.pipe()
    running = []
    for work, before in zip(works, warm_up or [_nothing] * len(works), strict=True):
        ours, theirs = CONTEXT.Pipe(duplex=False)
        pipes = (gate, release, theirs)
        process = CONTEXT.Process(target=_wait_and_work, args=(*pipes, before, work))
        process.start()
        theirs.close()
        running.append((process, ours))
    os.close(gate)
    os.close(release)
    try:
        return [ours.recv() for _, ours in running]
    except EOFError:
        raise RuntimeError("a process of the benchmark failed; its words are above") from None
    finally:
        for process, ours in running:
            process.join()
            ours.close()


def elapsed(spans: Sequence[Span]) -> float:
    """The seconds from the first start to the last end."""
    return max(span.ended for span in spans) - min(span.began for span in spans)


def _nothing() -> None:
    """The default warm-up."""


def _wait_and_work(gate: int, release: int, results: Any, warm_up: Work, work: Work) -> None:
    os.close(release)
    before = warm_up()
    os.read(gate, 1)  # returns when the last writer is closed
    began = time.monotonic()
    result = work()
    results.send(Span(began, time.monotonic(), result, before))
    results.close()


@contextlib.contextmanager
def meanwhile(*works: Work) -> Iterator[Callable[[], list[int]]]:
    """Repeat each of `works` in its own process until the block ends.

    Yields a function that returns how often each was done so far. Raises RuntimeError if one fails.
    """
    stop = CONTEXT.Event()
    counters = [CONTEXT.Value("i", 0) for _ in works]
    running = [
        CONTEXT.Process(target=_repeat, args=(work, stop, counter))
        for work, counter in zip(works, counters, strict=True)
    ]
    for process in running:
        process.start()
    try:
        yield lambda: [counter.value for counter in counters]
    finally:
        stop.set()
        for process in running:
            process.join()
    if any(process.exitcode for process in running):
        raise RuntimeError("what ran meanwhile failed; its words are above")


def _repeat(work: Work, stop: Any, counter: Any) -> None:
    while not stop.is_set():
        work()
        counter.value += 1
