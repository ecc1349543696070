"""The file of an agent's presence: one writer, replaced whole, where it can be written."""

import os

from ghp_agents.hotpath import fastjson, own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

PATIENCE = 2.0  # seconds; a beat holds its lock for some ten microseconds, so that one is stopped
LOOK_EVERY = 0.002
UNREADABLE = ".unreadable"  # what a presence file that cannot be read is called from then on


def hold(folders: "Sequence[str]", agent: str, *, patience: float = PATIENCE) -> "tuple[int, int]":
    """Serialise the parallel processes of one agent, where the system can; closing frees it.

    Who holds it for longer than `patience` seconds is not waited for: no agent hangs in its beat.
    Answers which folder can be written, and the descriptor to close; -1 where none can.
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


def take_turn(held: int, patience: float = PATIENCE) -> None:
    """Have the lock of an open file, unless somebody keeps it for longer than `patience` seconds:
    then go on without it. Raises ImportError, OSError where the system has no locks."""
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
    folders: "Sequence[str]", known: "Sequence[dict[str, Any] | None]", agent: str, content: bytes
) -> None:
    """Into the first of `folders` that takes it: a disk may be full as well as read-only."""
    failure: OSError | None = None
    for folder, had in zip(folders, known, strict=True):
        path = folder + "/agents/" + agent + ".json"
        try:
            if had is None:
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
    """Keep what is there and cannot be read; it is reported, and a person may want it back."""
    if os.path.lexists(path) and read_presence(path) is None:
        os.replace(path, path + UNREADABLE)


def newest(folders: "Sequence[str]", agent: str) -> "dict[str, Any] | None":
    """The presence of `agent` as its machine has it; None if there is none that can be read."""
    return newest_of([presence(folder, agent) for folder in folders])


def newest_of(known: "Sequence[dict[str, Any] | None]") -> "dict[str, Any] | None":
    """The presence that is furthest on."""
    best: dict[str, Any] | None = None
    for found in known:
        if found is not None and (best is None or _position(found) > _position(best)):
            best = found
    return best


def _position(record: "Mapping[str, Any]") -> "tuple[int, int]":
    return record["epoch"], record["seq"]


def presence(folder: str, agent: str) -> "dict[str, Any] | None":
    """The presence of `agent` in one folder; None if it is not there or cannot be read."""
    return read_presence(folder + "/agents/" + agent + ".json")


def read_presence(path: str) -> "dict[str, Any] | None":
    """The presence in a file; None when it is not there, or has no position to go on from."""
    record = fastjson.read_object(path)
    if record is None or type(record.get("epoch")) is not int or type(record.get("seq")) is not int:
        return None
    local = record.get("local")
    if local is not None and not _is_local(local):
        del record["local"]  # only this machine's memory of sessions
    return record


def _is_local(value: "Any") -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("left", []), list)
        and isinstance(value.get("returned", 0), int)
        and all(isinstance(value.get(key, ""), str) for key in ("session", "space"))
        and isinstance(value.get("rival", {}), dict)
    )
