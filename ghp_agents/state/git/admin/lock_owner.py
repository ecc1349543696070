"""Which process holds a lock, for people, if the system tells."""

from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.ids import one_line
from ghp_agents.core.remote_url import masked

_PROC = Path("/proc")


def holder(lock: Path) -> tuple[int | None, str]:
    """The process that holds `lock`, and its description.

    The system names the process that took the lock. If it was killed, a git child may still hold
    the lock: then it is one of those that have the file open.
    """
    taker = files.lock_holder(lock)
    if taker is None or taker <= 0:  # processes of other containers have no id here
        return None, "a process that cannot be seen from here"
    if (_PROC / str(taker)).exists():
        return taker, f"process {taker} ({_command(taker)})"
    heirs = [pid for pid in _processes() if _has_open(pid, lock)]
    if not heirs:
        return None, f"process {taker}, which has ended"
    heir = f"process {heirs[0]} ({_command(heirs[0])})"
    return heirs[0], f"{heir}, started by a process that has ended"


def _processes() -> list[int]:
    return sorted(int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())


def _has_open(pid: int, path: Path) -> bool:
    try:
        return any(
            Path(entry).resolve() == path.resolve() for entry in (_PROC / str(pid) / "fd").iterdir()
        )
    except OSError:
        return False


def _command(pid: int) -> str:
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return "its command is hidden"
    return one_line(masked(" ".join(words)), 120)
