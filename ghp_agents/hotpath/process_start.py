"""When a process started, from /proc: with its number, it names one process. Imports only `os`."""

import os

LONGEST = 65_536  # bytes that are read of one file of /proc


def read(path: str) -> bytes | None:
    """The content of a file of /proc; None if it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(file, LONGEST)
    except OSError:
        return None
    finally:
        os.close(file)


def fields(pid: int) -> "list[bytes]":
    """The fields of /proc/PID/stat after the program's name: the state, the parent, …; empty if
    there is no such process, or no /proc."""
    stat = (read(f"/proc/{pid}/stat") or b"").rpartition(b")")[2].split()
    return stat if len(stat) >= 20 else []


def started(pid: int) -> str:
    """When a running process started, in ticks since the boot; empty if unknown."""
    stat = fields(pid)
    return stat[19].decode("ascii", "replace") if stat and stat[0] not in b"ZX" else ""


def key(pid: int | None) -> str:
    """The id of a running process as a session; empty if unknown."""
    start = started(pid) if pid else ""
    return f"{pid}-{start}" if start else ""
