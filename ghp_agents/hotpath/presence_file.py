"""An agent's presence file: one writer, replaced atomically, in a writable folder."""

import os

from ghp_agents.hotpath import fastjson, own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

TIMEOUT_S = 2.0  # seconds; heartbeats take ten microseconds, so by then the holder is stopped
LOOK_EVERY = 0.002
UNREADABLE = ".unreadable"  # suffix for an unreadable presence file


def hold(folders: "Sequence[str]", agent: str, *, patience: float = TIMEOUT_S) -> "tuple[int, int]":
    """Serialise the parallel processes of one agent, if the system has locks; closing frees it.

    After `patience` seconds it continues without the lock: no agent hangs in its heartbeat. Returns
    the index of the writable folder, and the descriptor to close; -1 if there is none.
    """
    for number, folder in enumerate(folders):
        try:
            held = _open_lock(folder, agent)
        except OSError:
            continue
        try:
            take_turn(held, patience)
        except (ImportError, OSError):
            pass
        return number, held
    return 0, -1


def _open_lock(folder: str, agent: str) -> int:
    lock = folder + "/agents/." + agent + ".lock"
    try:
        return own_file.open_lock(lock)
    except FileNotFoundError:
        os.makedirs(folder + "/agents", exist_ok=True)
        return own_file.open_lock(lock)


def take_turn(held: int, patience: float = TIMEOUT_S) -> None:
    """Lock an open file; after `patience` seconds continue without. Raises ImportError or OSError
    if the system has no locks."""
    import fcntl

    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    except BlockingIOError:
        from ghp_agents.hotpath import boot_clock
    for _ in range(int(patience / LOOK_EVERY)):  # not by a clock, which may be set back meanwhile
        boot_clock.wait(LOOK_EVERY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            continue


def write(
    folders: "Sequence[str]",
    presences: "Sequence[dict[str, Any] | None]",
    agent: str,
    content: bytes,
) -> None:
    """Write to the first of `folders` that works: a disk may be full as well as read-only."""
    own_file.presences += 1
    failure: OSError | None = None
    for folder, previous in zip(folders, presences, strict=True):
        path = folder + "/agents/" + agent + ".json"
        try:
            if previous is None:
                os.makedirs(folder + "/agents", exist_ok=True)
                _set_aside(path)
            own_file.replace(path, content)
        except OSError as error:
            failure = failure or error
            continue
        return
    if failure:
        raise failure


def _set_aside(path: str) -> None:
    """Keep an unreadable file under another name; it is reported, and a person may need it."""
    if os.path.lexists(path) and read_presence(path) is None:
        os.replace(path, path + UNREADABLE)


def newest(folders: "Sequence[str]", agent: str) -> "dict[str, Any] | None":
    """The presence of `agent` on its machine; None if none can be read."""
    return newest_of([presence(folder, agent) for folder in folders])


def newest_of(presences: "Sequence[dict[str, Any] | None]") -> "dict[str, Any] | None":
    """The presence with the highest position."""
    best: dict[str, Any] | None = None
    for presence in presences:
        if presence is not None and (best is None or _position(presence) > _position(best)):
            best = presence
    return best


def _position(record: "Mapping[str, Any]") -> "tuple[int, int]":
    return record["epoch"], record["seq"]


def presence(folder: str, agent: str) -> "dict[str, Any] | None":
    """The presence of `agent` in one folder; None if missing or unreadable."""
    return read_presence(folder + "/agents/" + agent + ".json")


def read_presence(path: str) -> "dict[str, Any] | None":
    """The presence in a file; None if missing or without a position."""
    record = fastjson.read_object(path)
    if record is None or type(record.get("epoch")) is not int or type(record.get("seq")) is not int:
        return None
    local = record.get("local")
    if local is not None and not _is_local(local):
        del record["local"]  # the machine's private memory of sessions
    return record


def _is_local(value: "Any") -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("left", []), list)
        and isinstance(value.get("former", {}), dict)
        and {int}.issuperset(map(type, value.get("former", {}).values()))
        and isinstance(value.get("session", ""), str)
        and isinstance(value.get("space", ""), str)
        and isinstance(value.get("started", ""), str)
    )
