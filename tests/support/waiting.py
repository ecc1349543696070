"""Waiting for what another process does."""

from collections.abc import Callable

from ghp_agents.core.clock import SystemClock

PAUSE = 0.002  # seconds


def until(is_so: Callable[[], object]) -> None:
    """Wait until something is so. Between two looks the other process has the processor."""
    while not is_so():
        SystemClock().wait(PAUSE)
