"""Tests with work in the background, as users have it: marked `background`."""

import contextlib
import os
import signal
from collections.abc import Iterator

import pytest

from ghp_agents.core import running

# "1": every test has it, to see what only works without; but not those marked `no_background`.
ALL = "TESTS_BACKGROUND"


def is_on(item: pytest.Item) -> bool:
    """Whether a test has work in the background."""
    if item.get_closest_marker("no_background"):
        return False
    return item.get_closest_marker("background") is not None or os.environ.get(ALL) == "1"


@contextlib.contextmanager
def on(test: str) -> Iterator[None]:
    """Work in the background for the test of this name; what it started ends with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GHP_BACKGROUND", "1")
        yield
    while pids := [*_processes(test)]:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _processes(test: str) -> Iterator[int]:
    """The processes in the background that a test started."""
    name = f"PYTEST_CURRENT_TEST={test} ".encode()
    for pid, variables in running.environments():
        is_spawned = any(word.startswith(b"GHP_SPAWNED=") for word in variables)
        if is_spawned and any(word.startswith(name) for word in variables):
            yield pid
