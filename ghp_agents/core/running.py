"""Recognize a running process later, and end it: never another one that got the same number."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath import boot_clock

PR_SET_CHILD_SUBREAPER = 36  # `linux/prctl.h`
STATUS = "/proc/{pid}/stat"
GRACE_S = 5.0  # seconds to end after SIGTERM
LOOK_EVERY = 0.05
PS_TIMEOUT_S = 5.0


def identity(pid: int) -> str | None:
    """The boot and the start time of a running process of this user; None for any other."""
    try:
        if Path(f"/proc/{pid}").stat().st_uid != os.getuid():
            return None
        fields = Path(STATUS.format(pid=pid)).read_text("utf-8", "replace").rpartition(")")[2]
        state, start = fields.split()[0], fields.split()[19]
        return None if state in "ZX" else f"{boot_clock.read()[0]} {start}"
    except (OSError, IndexError):
        return None if Path(STATUS.format(pid="self")).exists() else _by_ps(pid)


def environments() -> Iterator[tuple[int, list[bytes]]]:
    """The other processes of this user that run, each with its variables. Only Linux tells."""
    with suppress(OSError), os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with suppress(OSError):
                    variables = Path(entry.path, "environ").read_bytes().split(b"\0")
                    if identity(int(entry.name)) is not None:
                        yield int(entry.name), variables


def descendants(pid: int) -> list[int]:
    """The processes that run and descend from this one. Only Linux tells."""
    children: dict[int, list[int]] = {}
    ended: set[int] = set()
    with suppress(OSError), os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                with suppress(OSError, IndexError):
                    text = Path(entry.path, "stat").read_text("utf-8", "replace")
                    state, parent = text.rpartition(")")[2].split()[:2]
                    children.setdefault(int(parent), []).append(int(entry.name))
                    if state in "ZX":
                        ended.add(int(entry.name))
    running, todo = [], [pid]
    while todo:
        below = children.pop(todo.pop(), [])
        running += [child for child in below if child not in ended]
        todo += below
    return running


def orphan_keeper() -> Callable[[], None]:
    """What makes all that a process starts from then on stay its descendant, also when a parent in
    between ends. Only Linux can do that; elsewhere it does nothing."""
    if sys.platform != "linux":
        return lambda: None
    import ctypes  # before a fork

    change = ctypes.CDLL(None).prctl

    def keep() -> None:
        change(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    return keep


def is_used(folder: Path, but: Sequence[str] = ()) -> bool:
    """Whether another process of this user works in a folder or below, except for commands that
    end with the words `but`. Only Linux tells."""
    real, end = folder.resolve(), "".join(f"\0{word}" for word in but).encode() + b"\0"
    for pid, _ in environments():
        with suppress(OSError):
            is_in = Path(f"/proc/{pid}/cwd").readlink().is_relative_to(real)
            if is_in and not (but and Path(f"/proc/{pid}/cmdline").read_bytes().endswith(end)):
                return True
    return False


def _by_ps(pid: int) -> str | None:
    """The same on a system without /proc."""
    command = ["ps", "-o", "uid=,state=,lstart=", "-p", str(pid)]
    try:
        shown = process.run(command, cwd=Path("/"), env={"LC_ALL": "C"}, timeout=PS_TIMEOUT_S)
    except (OSError, GhpError):
        return None
    uid, state, *start = shown.out.split() or ["", ""]
    return " ".join(start) if uid == str(os.getuid()) and state[:1] != "Z" else None


def end(pid: int, expected: str, wait: Callable[[float], None]) -> bool:
    """End the process whose `identity` was `expected`, and its group if it leads one:
    SIGTERM, then SIGKILL after GRACE_S. Returns whether it still ran. Raises GhpError."""
    if identity(pid) != expected:
        return False
    # A shell sends this command's own group a signal, too, if an agent ends its own client.
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        _send(pid, signal.SIGTERM)
        for _ in range(int(GRACE_S / LOOK_EVERY)):
            if identity(pid) != expected:
                return True
            wait(LOOK_EVERY)
        _send(pid, signal.SIGKILL)
    finally:
        signal.signal(signal.SIGTERM, before)
    return True


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        try:
            is_leader = os.getpgid(pid) == pid
            (os.killpg if is_leader else os.kill)(pid, number)
        except PermissionError as error:
            raise GhpError(
                f"Process {pid} cannot be ended: {error.strerror}.",
                hint=f"End it by hand: `kill {pid}`.",
            ) from None
