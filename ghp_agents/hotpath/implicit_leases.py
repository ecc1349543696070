"""Implicit leases: which agent edits which file in which worktree of this clone.

One small file per path and worktree. In one worktree the first editor creates the file; the file
system decides races. The lease is valid while that agent is alive here, in the same epoch. Then
the next editor replaces it. Editors in other worktrees have leases of their own.
"""

import os

from ghp_agents.hotpath import alive, fastjson, heartbeat, own_file, presence_file
from ghp_agents.hotpath.light_dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = "touched"
LOCK = ".lock"
_MODULUS = 2**127 - 1  # two paths with the same remainder would share a lease


@dataclass
class ImplicitLease:
    """One implicit lease."""

    agent: str
    epoch: int  # of the agent when it acquired the lease
    since: str
    path: str  # relative to the worktree's top
    git_dir: str  # the worktree's own git folder, absolute

    def is_in(self, git_dir: str) -> bool:
        """Whether the lease is of a file in this worktree."""
        return _worktree(self.git_dir) == _worktree(git_dir)


def find(folders: "Sequence[str]", path: str, git_dir: str) -> ImplicitLease | None:
    """The implicit lease of `path` in one worktree, whether or not its holder is alive."""
    name = file_name(path, git_dir)
    for folder in folders:
        lease = _read(f"{folder}/{FOLDER}/{name}")
        if lease is not None:
            return lease
    return None


def list_all(folders: "Sequence[str]") -> list[ImplicitLease]:
    """Every implicit lease of this clone, by path and age, whether or not its holder is alive."""
    leases: dict[str, ImplicitLease] = {}
    for folder in reversed(folders):
        for name in _names(folder):
            touch = _read(f"{folder}/{FOLDER}/{name}")
            if touch is not None:
                leases[name] = touch
    return sorted(leases.values(), key=lambda touch: (touch.path, touch.since, touch.agent))


def elsewhere(
    folders: "Sequence[str]", path: str, git_dir: str, now: float, limits: "tuple[float, float]"
) -> list[ImplicitLease]:
    """The living editors of `path` in other worktrees of this clone, oldest first."""
    prefix, here = f"{_digest(path)}-", file_name(path, git_dir)
    leases: dict[str, ImplicitLease] = {}
    for folder in folders:
        for name in _names(folder):
            if name.startswith(prefix) and name != here and name not in leases:
                touch = _read(f"{folder}/{FOLDER}/{name}")
                if touch is not None:
                    leases[name] = touch
    living = [touch for touch in leases.values() if is_active(folders, touch, now, *limits)]
    return sorted(living, key=lambda touch: (touch.since, touch.agent))


def is_active(
    folders: "Sequence[str]",
    touch: ImplicitLease,
    now: float,
    dead_after: float = alive.DEAD_AFTER,
    gone_after: float = alive.GONE_AFTER,
) -> bool:
    """Whether the lease is valid: its agent is alive here, in the same epoch."""
    newest = alive.newest_presence(folders, touch.agent)
    return (
        newest is not None
        and newest[0]["epoch"] == touch.epoch
        and alive.lives(folders, touch.agent, now, dead_after, gone_after) is True
    )


def other(
    folders: "Sequence[str]",
    agent: str,
    key: str,
    git_dir: str,
    now: float,
    limits: "tuple[float, float]",
) -> "tuple[str, str] | None":
    """The other agent that edits a path in this worktree, and since when."""
    existing = find(folders, key, git_dir)
    if (
        existing is None
        or existing.agent == agent
        or not is_active(folders, existing, now, *limits)
    ):
        return None
    return existing.agent, existing.since


def take_lease(
    folders: "Sequence[str]",
    agent: str,
    epoch: int,
    path: str,
    git_dir: str,
    now: float,
    dead_after: float = alive.DEAD_AFTER,
    gone_after: float = alive.GONE_AFTER,
) -> str | None:
    """Lease `path` in one worktree for `agent`; if another living agent has it, return its name.

    Raises OSError if no folder can be written; then there is no lease.
    """
    existing = find(folders, path, git_dir)
    if existing is not None:
        if (existing.agent, existing.epoch) == (agent, epoch):
            return None
        if existing.agent != agent and is_active(folders, existing, now, dead_after, gone_after):
            return existing.agent
    touch = ImplicitLease(agent, epoch, heartbeat.to_text(now), path, git_dir)
    failure: OSError | None = None
    for folder in folders:
        try:
            os.makedirs(folder + "/" + FOLDER, exist_ok=True)
            if existing is not None or not _make(folder, touch):
                rival = _replace(folder, folders, touch, now, (dead_after, gone_after))
                if rival is not None:
                    return rival
        except OSError as error:
            failure = failure or error
            continue
        return _recheck_rival(folder, folders, touch, now, (dead_after, gone_after))
    raise failure or FileNotFoundError(FOLDER)


def drop_all(folders: "Sequence[str]", agent: str) -> int:
    """Release all leases of `agent`; returns their number."""
    dropped = 0
    for folder in folders:
        names = _names(folder)
        if not names:
            continue
        try:
            with _Alone(folder):
                for name in names:
                    path = f"{folder}/{FOLDER}/{name}"
                    touch = _read(path)
                    if touch is not None and touch.agent == agent:
                        os.unlink(path)
                        dropped += 1
        except OSError:
            continue
    return dropped


def drop(folders: "Sequence[str]", agent: str, path: str, git_dir: str) -> None:
    """Release one path in one worktree, if `agent` leases it."""
    name = file_name(path, git_dir)
    for folder in folders:
        place = f"{folder}/{FOLDER}/{name}"
        if _read(place) is None:
            continue
        try:
            with _Alone(folder):
                touch = _read(place)
                if touch is not None and touch.agent == agent:
                    os.unlink(place)
        except OSError:
            continue


def _make(folder: str, touch: ImplicitLease) -> bool:
    """Create the lease's file with its content, unless it exists."""
    path = f"{folder}/{FOLDER}/{file_name(touch.path, touch.git_dir)}"
    temporary = own_file.make_beside(path, _encoded(touch))
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # without hard links, others may see the file before its content
        return _make_bare(path, touch)
    finally:
        os.unlink(temporary)
    return True


def _make_bare(path: str, touch: ImplicitLease) -> bool:
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    try:
        os.write(file, _encoded(touch))
    finally:
        os.close(file)
    return True


def _replace(
    folder: str,
    folders: "Sequence[str]",
    touch: ImplicitLease,
    now: float,
    limits: "tuple[float, float]",
) -> str | None:
    """Replace the lease of a dead agent, one process at a time."""
    path = f"{folder}/{FOLDER}/{file_name(touch.path, touch.git_dir)}"
    with _Alone(folder):
        while True:
            existing = find(folders, touch.path, touch.git_dir)
            if (
                existing is not None
                and existing.agent != touch.agent
                and is_active(folders, existing, now, *limits)
            ):
                return existing.agent
            if os.path.lexists(path):
                own_file.replace(path, _encoded(touch))  # nobody creates an existing file
                return None
            if _make(folder, touch):
                return None


def _recheck_rival(
    chosen: str,
    folders: "Sequence[str]",
    touch: ImplicitLease,
    now: float,
    limits: "tuple[float, float]",
) -> str | None:
    """Some processes can write folders that others cannot. Each writes first and then looks, so of
    two rivals at least one gives way."""
    for folder in folders:
        other = (
            None
            if folder == chosen
            else _read(f"{folder}/{FOLDER}/{file_name(touch.path, touch.git_dir)}")
        )
        if other and other.agent != touch.agent and is_active(folders, other, now, *limits):
            os.unlink(f"{chosen}/{FOLDER}/{file_name(touch.path, touch.git_dir)}")
            return other.agent
    return None


class _Alone:
    """The lock for replacing and dropping. If locks are not supported, or its holder was stopped,
    callers continue without it: no agent waits before an edit."""

    def __init__(self, folder: str) -> None:
        self._file = own_file.open_lock(f"{folder}/{FOLDER}/{LOCK}")

    def __enter__(self) -> None:
        try:
            presence_file.take_turn(self._file)
        except (ImportError, OSError):
            pass

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def file_name(path: str, git_dir: str) -> str:
    """The file name for a path in a worktree."""
    return f"{_digest(path)}-{_digest(_worktree(git_dir))}"


def _worktree(git_dir: str) -> str:
    """The name of a worktree in its clone; empty for the main one."""
    rest, _, name = git_dir.rstrip("/").rpartition("/")
    return name if rest.endswith("/worktrees") else ""


def git_dir_of(touch: ImplicitLease, common_dir: str) -> str:
    """The git folder of the lease's worktree, which is always one of this clone."""
    name = _worktree(touch.git_dir)
    return f"{common_dir}/worktrees/{name}" if name not in ("", ".", "..") else common_dir


def _digest(text: str) -> str:
    """32 hexadecimal digits; `hashlib` would cost as much as the rest."""
    total = 0
    for char in text:
        total = (total * 1_114_123 + ord(char) + 1) % _MODULUS
    return f"{total:032x}"


def _names(folder: str) -> "list[str]":
    try:
        return [name for name in os.listdir(f"{folder}/{FOLDER}") if len(name) == 65]
    except OSError:
        return []


def _encoded(touch: ImplicitLease) -> bytes:
    return fastjson.encode(
        {
            "schemaVersion": 1,
            "agent": touch.agent,
            "epoch": touch.epoch,
            "since": touch.since,
            "path": touch.path,
            "gitDir": touch.git_dir,
        }
    )


def _read(path: str) -> ImplicitLease | None:
    fields = fastjson.read_object(path)
    if fields is None:
        return None
    texts = [fields.get(name) for name in ("since", "path", "gitDir")]
    agent, epoch = fields.get("agent"), fields.get("epoch")
    if fields.get("schemaVersion", 1) != 1:
        return None  # a newer version of this program wrote it
    if type(epoch) is not int or not all(isinstance(x, str) for x in (agent, *texts)):
        return None
    return ImplicitLease(agent, epoch, *texts)  # type: ignore[arg-type]
