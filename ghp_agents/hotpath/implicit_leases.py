"""Implicit leases: who edits which file of this clone, as one small file for each path.

The first to edit a path makes its file, and the file system decides who that was. It counts as
long as that agent lives here, in the same life; then whoever comes next takes its place.
"""

import os

from ghp_agents.hotpath import alive, fastjson, heartbeat, own_file, presence_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = "touched"
LOCK = ".lock"
_MODULUS = 2**127 - 1  # two paths that meet in it would share one lease


class ImplicitLease:
    """One implicit lease. A plain class: `typing.NamedTuple` would cost half of the fast road."""

    __slots__ = ("agent", "epoch", "path", "since")

    def __init__(self, agent: str, epoch: int, since: str, path: str) -> None:
        self.agent = agent
        self.epoch = epoch  # of the agent when it took it
        self.since = since
        self.path = path  # from the top of the repository

    def __repr__(self) -> str:
        return f"Touch({self.agent!r}, {self.epoch}, {self.since!r}, {self.path!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImplicitLease) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


# ------------------------------------------------------------------------------- looking


def find(folders: "Sequence[str]", path: str) -> ImplicitLease | None:
    """The implicit lease of `path`, whether its holder lives or not."""
    name = _name(path)
    for folder in folders:
        found = _read(f"{folder}/{FOLDER}/{name}")
        if found is not None:
            return found
    return None


def list_all(folders: "Sequence[str]") -> list[ImplicitLease]:
    """Every implicit lease of this clone, by path, whether its holder lives or not."""
    found: dict[str, ImplicitLease] = {}
    for folder in reversed(folders):
        for name in _names(folder):
            touch = _read(f"{folder}/{FOLDER}/{name}")
            if touch is not None:
                found[touch.path] = touch
    return [found[path] for path in sorted(found)]


def is_active(
    folders: "Sequence[str]",
    touch: ImplicitLease,
    now: float,
    dead_after: float = alive.DEAD_AFTER,
    gone_after: float = alive.GONE_AFTER,
) -> bool:
    """Whether the lease still holds: its agent lives here, in the life in which it took it."""
    found = alive.newest_presence(folders, touch.agent)
    return (
        found is not None
        and found[0]["epoch"] == touch.epoch
        and alive.lives(folders, touch.agent, now, dead_after, gone_after) is True
    )


def other(
    folders: "Sequence[str]", agent: str, key: str, now: float, limits: "tuple[float, float]"
) -> "tuple[str, str] | None":
    """Who else edits a path in this clone, and since when."""
    had = find(folders, key)
    if had is None or had.agent == agent or not is_active(folders, had, now, *limits):
        return None
    return had.agent, had.since


# -------------------------------------------------------------------------------- taking


def take_lease(
    folders: "Sequence[str]",
    agent: str,
    epoch: int,
    path: str,
    now: float,
    dead_after: float = alive.DEAD_AFTER,
    gone_after: float = alive.GONE_AFTER,
) -> str | None:
    """Let `agent` have `path`, unless another has it who lives here: then that one's name.

    Raises OSError where no folder can be written; then there is no lease.
    """
    had = find(folders, path)
    if had is not None:
        if (had.agent, had.epoch) == (agent, epoch):
            return None
        if had.agent != agent and is_active(folders, had, now, dead_after, gone_after):
            return had.agent
    touch = ImplicitLease(agent, epoch, heartbeat.to_text(now), path)
    failure: OSError | None = None
    for folder in folders:
        try:
            os.makedirs(folder + "/" + FOLDER, exist_ok=True)
            if had is not None or not _make(folder, touch):
                rival = _replace(folder, folders, touch, now, (dead_after, gone_after))
                if rival is not None:
                    return rival
        except OSError as error:
            failure = failure or error
            continue
        return _give_way(folder, folders, touch, now, (dead_after, gone_after))
    raise failure or FileNotFoundError(FOLDER)


def drop_all(folders: "Sequence[str]", agent: str) -> int:
    """Give up all that `agent` has; how many there were."""
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


def drop(folders: "Sequence[str]", agent: str, path: str) -> None:
    """Give up one path, if `agent` has it."""
    for folder in folders:
        place = f"{folder}/{FOLDER}/{_name(path)}"
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
    """Make the lease's file with its content, if there is none."""
    path = f"{folder}/{FOLDER}/{_name(touch.path)}"
    temporary = own_file.make_beside(path, _encoded(touch))
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # no links here: then somebody may see the file before its content
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
    """Take the place of one who does not live any more; one at a time, so that only one does."""
    path = f"{folder}/{FOLDER}/{_name(touch.path)}"
    with _Alone(folder):
        while True:
            had = find(folders, touch.path)
            if (
                had is not None
                and had.agent != touch.agent
                and is_active(folders, had, now, *limits)
            ):
                return had.agent
            if os.path.lexists(path):
                own_file.replace(path, _encoded(touch))  # nobody makes what is there
                return None
            if _make(folder, touch):
                return None


def _give_way(
    chosen: str,
    folders: "Sequence[str]",
    touch: ImplicitLease,
    now: float,
    limits: "tuple[float, float]",
) -> str | None:
    """Some can write where others cannot. Each writes first and looks then, so of two who meet
    at least one gives way."""
    for folder in folders:
        other = None if folder == chosen else _read(f"{folder}/{FOLDER}/{_name(touch.path)}")
        if other and other.agent != touch.agent and is_active(folders, other, now, *limits):
            os.unlink(f"{chosen}/{FOLDER}/{_name(touch.path)}")
            return other.agent
    return None


class _Alone:
    """The lock of those who replace or drop. Where the system has none, or who has it was stopped,
    they go without: no agent hangs before an edit."""

    def __init__(self, folder: str) -> None:
        self._file = own_file.open_lock(f"{folder}/{FOLDER}/{LOCK}")

    def __enter__(self) -> None:
        try:
            presence_file.take_turn(self._file)
        except (ImportError, OSError):
            pass

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


# --------------------------------------------------------------------------------- files


def _name(path: str) -> str:
    """What the file of a path is called; `hashlib` would cost as much as the rest."""
    total = 0
    for char in path:
        total = (total * 1_114_123 + ord(char) + 1) % _MODULUS
    return f"{total:032x}"


def _names(folder: str) -> "list[str]":
    try:
        return [name for name in os.listdir(f"{folder}/{FOLDER}") if len(name) == 32]
    except OSError:
        return []


def _encoded(touch: ImplicitLease) -> bytes:
    return fastjson.encode(
        {"agent": touch.agent, "epoch": touch.epoch, "since": touch.since, "path": touch.path}
    )


def _read(path: str) -> ImplicitLease | None:
    found = fastjson.read_object(path)
    if found is None:
        return None
    agent, since, where = found.get("agent"), found.get("since"), found.get("path")
    epoch = found.get("epoch")
    if type(epoch) is not int or not all(isinstance(x, str) for x in (agent, since, where)):
        return None
    return ImplicitLease(agent, epoch, since, where)  # type: ignore[arg-type]
