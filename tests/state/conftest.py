"""Processes of a clone that do not outlive their test."""

from collections.abc import Callable, Iterator

import pytest

from tests.state import worker
from tests.support.fork_server import Forked

Start = Callable[..., Forked]


@pytest.fixture
def start() -> Iterator[Start]:
    """`start(folder, "say:one", "fold", env={…})` is a process; see `worker`."""
    started: list[Forked] = []

    def begin(*args: object, **options: object) -> Forked:
        started.append(worker.start(*args, **options))  # type: ignore[arg-type]
        return started[-1]

    yield begin
    for process in started:
        with process:
            process.kill()
