"""Processes of a clone that do not outlive their test."""

import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.state import worker

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """`start(folder, "say:one", "fold", env={…})` is a process; see `worker`."""
    started: list[subprocess.Popen[str]] = []

    def begin(*args: object, **options: object) -> "subprocess.Popen[str]":
        started.append(worker.start(*args, **options))  # type: ignore[arg-type]
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            worker.kill(process)
