"""`ghp agent-status --watch` on a terminal, with a team of thirty agents in six clones: the
processor time until the team is drawn, how long a change of this clone takes to be seen, and what
a minute without changes costs."""

import contextlib
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from fcntl import ioctl
from importlib.util import find_spec
from pathlib import Path

from bench import team
from bench.figure import Figure
from bench.place import Place
from ghp_agents.api import connect

SECONDS, CORE, MEGABYTES, SEEN = 0.5, 1.0, 60.0, 1.0  # the bounds
MINUTE = 60.0
PATIENCE = 30.0  # seconds
TICKS = os.sysconf("SC_CLK_TCK")


def measure(place: Place) -> list[Figure]:
    """Nothing without the extra `tui`."""
    if find_spec("textual") is None:
        place.say("the extra `tui` is not installed: the watch is not measured")
        return []
    clone = team.team(place, team.BUSY)
    name = f"agent-status --watch, {team.BUSY} agents in {team.CLONES} clones"
    with _terminal(clone) as (process, leader):
        _read_until(leader, f"{team.BUSY} agents")
        begun = _used(process.pid)
        _read(leader, 5.0)  # the first exchange, and modules that are loaded late
        seen = _until_seen(clone, leader)
        _read(leader, 5.0)
        span = 5.0 if place.quick else MINUTE
        before = _used(process.pid)
        _read(leader, span)
        idle = (_used(process.pid) - before) / span * 100
        memory = _resident(process.pid)
    return [
        Figure("watching", f"{name}: until drawn", begun, "s of processor time", SECONDS),
        Figure("watching", f"{name}: a change here is seen after", seen, "s", SEEN),
        Figure("watching", f"{name}: {span:.0f} s without changes", idle, "% of a core", CORE),
        Figure("watching", f"{name}: memory", memory, "MB", MEGABYTES),
    ]


@contextlib.contextmanager
def _terminal(clone: Path) -> "Iterator[tuple[subprocess.Popen[bytes], int]]":
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", "agent-status", "--watch"],
        cwd=clone,
        env={**os.environ, "TERM": "xterm-256color", "GHP_BACKGROUND": "1"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    try:
        yield process, leader
    finally:
        process.terminate()
        _read(leader, 1.0)
        process.kill()
        process.wait()
        os.close(leader)
        os.close(follower)


def _until_seen(clone: Path, leader: int) -> float:
    """The longest of some changes, from the command's end to the new word on the screen."""
    spans: list[float] = []
    for status in ("rested", "walking", "running", "sitting", "reading"):
        connect(clone, agent="worker-7").heartbeat(status=status)
        begun = time.monotonic()
        _read_until(leader, status)
        spans.append(time.monotonic() - begun)
        _read(leader, 1.3)
    return max(spans)


def _read_until(leader: int, text: str) -> None:
    shown, end = b"", time.monotonic() + PATIENCE
    while text.encode() not in shown:
        if not select.select([leader], [], [], max(0.0, end - time.monotonic()))[0]:
            raise RuntimeError(f"{text!r} was not shown")
        shown += os.read(leader, 65_536)


def _read(leader: int, seconds: float) -> None:
    """Take what is written meanwhile, so that the writer does not wait."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([leader], [], [], left)[0]:
            os.read(leader, 65_536)


def _used(pid: int) -> float:
    """Seconds of processor time of a process and its children that ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def _resident(pid: int) -> float:
    """Megabytes of memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1000
