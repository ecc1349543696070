"""Runs several git processes at once: as many as there are cores, and few on a large machine."""

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

MOST = 8  # at once; more wait for the disk

T = TypeVar("T")
U = TypeVar("U")


def cores() -> int:
    """How many processes are useful at once."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return min(MOST, len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1)


def each(action: Callable[[T], U], items: Iterable[T]) -> list[U]:
    """The results of `action` for each item, in order. `action` waits for a process, so threads are
    enough. Raises what the first failing one raised."""
    listed = [*items]
    if len(listed) < 2:
        return [action(item) for item in listed]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(cores() + 1, len(listed))) as pool:
        return [*pool.map(action, listed)]
