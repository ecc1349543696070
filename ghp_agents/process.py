"""Other programs as child processes: with `git.py` the only place that starts any."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.errors import GhpError


class Ended(NamedTuple):
    """How a program ended, and what it printed."""

    code: int
    out: str
    err: str


class Child:
    """A program that runs in a session of its own."""

    def __init__(self, popen: "subprocess.Popen[bytes]") -> None:
        self._popen = popen

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._popen.pid

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._popen.poll()

    def kill(self) -> None:
        """End it at once, as a crash would: nothing of it can react."""
        self._popen.kill()
        self._popen.wait()


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float) -> Ended:
    """Run a program to its end. Raises GhpError when it takes longer than `timeout` seconds."""
    try:
        done = subprocess.run(
            command, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, errors="replace", timeout=timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise GhpError(
            f"`{' '.join(command)}` did not end within {timeout:.0f} s.",
            hint="Try again on a machine with less to do.",
        ) from None
    return Ended(done.returncode, done.stdout, done.stderr)


def start(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> Child:
    """Start a program; what it prints goes to the file `log`."""
    with log.open("wb") as sink:
        popen = subprocess.Popen(
            command, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL,
            stdout=sink, stderr=sink, start_new_session=True,
        )  # fmt: skip
    return Child(popen)
