"""Durable writes, safe paths from stored names, and lock files."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.hotpath import own_file

PROBE = 65_536  # bytes, as much as a small commit takes
LOCK_PATIENCE = 10.0  # seconds; a fold takes about ten milliseconds, so by then the holder is stuck


class LockTimeoutError(GhpError):
    """The lock was held longer than any fold takes."""


def write_durably(path: Path, content: bytes) -> None:
    """Write so that a reader sees the old or the new content, even after a power cut. The file gets
    the mode of git's own files."""
    own_file.replace(str(path), content, mode=own_file.LIKE_GIT, durable=True)
    own_file.sync(str(path.parent))


def write_atomically(path: Path, content: bytes, *, mode: int = own_file.PRIVATE) -> None:
    """Like `write_durably` for rebuildable files: no fsync, and only the owner can read them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own_file.replace(str(path), content, mode=mode)


def random_hex(size: int) -> str:
    """`size` random bytes in hex digits; the module `secrets` would load all of `random`."""
    return os.urandom(size).hex()


def below(root: Path, relative: str) -> Path:
    """The only way from a stored name to a path. It refuses names that leave `root`."""
    if not stays_below(relative):
        raise UsageError(
            f"{relative!r} is not a path inside the repository's state.",
            hint="Use a relative path without `..`, control characters or `.git`.",
        )
    return root.joinpath(*relative.split("/"))


def stays_below(relative: str) -> bool:
    """Whether a stored name is safe as a path: relative, UTF-8, without `..`, `.git`, backslashes
    and control characters."""
    try:
        relative.encode()
    except UnicodeEncodeError:
        return False
    parts = relative.lower().split("/")
    is_plain = "\\" not in relative and min(relative, default=" ") >= " "
    return is_plain and _NO_NAMES.isdisjoint(parts) and not relative.startswith("~")


_NO_NAMES = frozenset(("", ".", "..", ".git"))


@contextlib.contextmanager
def locked(path: Path, *, patience: float = LOCK_PATIENCE) -> Iterator[int]:
    """Hold the lock file at `path`; the kernel frees it when the process dies.

    Yields the lock's descriptor: a child that inherits it keeps the lock until it exits. Raises
    LockTimeoutError after `patience` seconds, OSError if no lock file can be made.
    """
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = own_file.open_lock(str(path))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if patience <= 0:  # without a timeout, do not queue: that would delay the next one
            os.close(descriptor)
            raise _held_too_long(path, patience) from None
        _wait_for_lock(path, descriptor, patience)
    except OSError:  # a file system without locks
        os.close(descriptor)
        raise
    try:
        yield descriptor
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # even if a child still has the descriptor
        os.close(descriptor)


def _wait_for_lock(path: Path, descriptor: int, patience: float) -> None:
    """Wait for the lock at `path`, which another process holds now. Raises LockTimeoutError; then
    the thread that waits closes the descriptor.

    The kernel queues waiting processes. Polling is unfair: of 32 writers the slowest waited four
    times as long.
    """
    import fcntl
    from threading import Event, Lock, Thread

    turn, word = Event(), Lock()  # the first to take `word` decides whether the wait timed out

    def stand_in_line() -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if word.acquire(blocking=False):
            turn.set()
        else:
            os.close(descriptor)

    Thread(target=stand_in_line, daemon=True).start()
    try:
        turn.wait(patience)
    finally:
        left = word.acquire(blocking=False)
    if left:
        raise _held_too_long(path, patience)


def _held_too_long(path: Path, patience: float) -> LockTimeoutError:
    return LockTimeoutError(
        f"Another process has held {path.name} for more than {patience:g} s{_holder(path)}.",
        hint="Try again; `ghp agent-doctor` shows who holds it.",
    )


@contextlib.contextmanager
def locked_for_long(path: Path, *, timeout: float = LOCK_PATIENCE) -> Iterator[None]:
    """Hold the lock file at `path` for a slow task, such as a search index or a host's answer.

    Quick tasks use `locked`, whose waiters take turns and which loads no library. Both exclude each
    other. Raises LockTimeoutError after `timeout` seconds, OSError if no lock file can be made.
    """
    # Every command that writes uses `locked`. To load filelock there would cost each of them half
    # as much processor time again (45 ms beside 90), and waiters that poll do not take turns.
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(own_file.open_lock(str(path)))  # creates it for this user alone
    lock = FileLock(path, timeout=timeout, mode=own_file.PRIVATE)
    try:
        lock.acquire()
    except Timeout:
        raise _held_too_long(path, timeout) from None
    except NotImplementedError as error:  # an older filelock, on a file system without locks
        raise OSError(str(error)) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def locked_if_possible(path: Path, *, patience: float = LOCK_PATIENCE) -> Iterator[list[int]]:
    """Like `locked`, but yields no descriptor if no lock file can be made.

    For callers that are correct without the lock and only lose some work.
    """
    with contextlib.ExitStack() as stack:
        try:
            held = [stack.enter_context(locked(path, patience=patience))]
        except OSError:
            held = []
        yield held


def is_locked(path: Path) -> bool | None:
    """Whether a process holds the lock at `path`; None if the system cannot tell."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        # A shared lock, so that two checks at once do not see each other as the holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False


def lock_holder(path: Path) -> int | None:
    """The process that holds the lock at `path`, if the system tells (Linux)."""
    try:
        inode = path.stat().st_ino
        table = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return None
    for line in table.splitlines():
        fields = line.split()
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5].endswith(f":{inode}"):
            return int(fields[4])
    return None


def _holder(path: Path) -> str:
    process = lock_holder(path)
    return f" (process {process})" if process else ""


def usable(folder: Path) -> bool:
    """Whether files can be created in `folder`. Creates the folder if possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def why_unwritable(folder: Path) -> str:
    """Why nothing can be stored in `folder`, in the system's words: `no space left on device`;
    empty if it can."""
    import tempfile  # loads `random` and `shutil`, and this is asked after a failure only

    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0" * PROBE)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""
