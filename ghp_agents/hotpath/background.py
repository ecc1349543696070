"""Background work: starts a detached process that folds and syncs when needed.

`ring` starts it before a command confirms a record, so that the record is sent whatever becomes of
the command, its terminal and its process group. The process begins when the command has ended.
"""

import os
import sys
import time

from ghp_agents.hotpath import own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any
LONGEST_PAUSE = 7_200.0  # seconds; the longest that the background may be told to wait
RUNG = "/cache/rung"  # a file; its timestamp is when a record was last confirmed
RUN = "GHP_RUN"  # the run that a process belongs to: it ends with the run
# Set for what is in a sandbox: the file of what its supervisor sends later. It reaches no remote.
BOX = "GHP_FINISH_LATER"
BOX_FILE = "finish.json"  # the name of that file
SPAWNED = "GHP_SPAWNED"  # set for processes in the background, to our folder in their clone
SPAWN_PAUSE = 2.0  # seconds between two background processes of a clone
STARTED = "/cache/started"  # a file; its timestamp is when the last one was started
WORDS = ("-P", "-m", "ghp_agents", "agent-sync", "--background")

_ends: "list[int]" = []  # of the pipe by which a process that was rung for sees our end


def start_sync(
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    now: float,
    settings: "Mapping[str, Any]",
    *,
    urgent: bool,
    pause: float = SPAWN_PAUSE,
    waits: bool = False,
) -> bool:
    """Start one detached fold-and-sync if needed, unless one was started just now: it stays for
    longer than `pause`, and looks again. With `waits`, it begins when this process has ended, or
    after SPAWN_PAUSE."""
    if is_off(environ, settings) or environ.get(BOX):
        return False
    cache = folders[0] + "/cache"
    # The timestamp of `due` is when the background is next needed; folds and syncs set it. A
    # timestamp far in the future means that the clock was set back.
    if not urgent and now < _mtime(cache + "/due") < now + LONGEST_PAUSE:
        return False
    started = folders[0] + STARTED
    if 0 <= now - _mtime(started) < pause:
        return False
    try:
        os.makedirs(cache, exist_ok=True)
        own_file.touch(started)
        os.utime(started, (now, now))
        spawn([sys.executable, *WORDS], environ, clone=folders[0], waits=waits)
    except OSError:
        return False
    return True


def ring(
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    now: float,
    settings: "Mapping[str, Any]",
) -> None:
    """Before a record is confirmed: have it sent by the process that stays in the background, which
    looks at the time of the file, or else by a new one."""
    if is_off(environ, settings):
        return
    try:
        os.makedirs(folders[0] + "/cache", exist_ok=True)
        own_file.touch(folders[0] + RUNG)
        moment = time.time_ns()  # no two are equal, as those of the file system's clock can be
        os.utime(folders[0] + RUNG, ns=(moment, moment))
    except OSError:
        return  # the record waits in a folder for sandboxes, which nobody sends from here
    if not environ.get(SPAWNED):  # a process in the background sends what it writes
        start_sync(folders, environ, now, settings, urgent=True, waits=True)


def rung_at(folders: "Sequence[str]") -> int:
    """When a record was last confirmed in this clone, as a timestamp to compare."""
    try:
        return os.stat(folders[0] + RUNG).st_mtime_ns
    except OSError:
        return 0


def started_at(folders: "Sequence[str]") -> float:
    """When the last process in the background was started, in seconds; 0: never."""
    return _mtime(folders[0] + STARTED)


def await_command(limit: float = SPAWN_PAUSE) -> None:
    """In the background: wait for the end of the command that started us, `limit` seconds at
    most. Whatever ends it closes the pipe that is our standard input."""
    import select

    select.select([0], [], [], limit)


def is_off(environ: "Mapping[str, str]", settings: "Mapping[str, Any]") -> bool:
    """Whether background processes are disabled here."""
    return environ.get("GHP_BACKGROUND") == "0" or settings.get("background") is False


def leaves_to_people(environ: "Mapping[str, str]") -> bool:
    """Whether the process works for nobody who waits: in a run, or in the background."""
    return bool(environ.get(RUN) or environ.get(SPAWNED))


def spawn(
    command: "Sequence[str]",
    environ: "Mapping[str, str]",
    *,
    clone: str = "1",
    waits: bool = False,
) -> None:
    """Start a process that outlives us and shares none of our pipes. With `waits`, its standard
    input ends when we do. Raises OSError."""
    environ = {name: value for name, value in environ.items() if name != RUN} | {SPAWNED: clone}
    actions: list[Any] = [
        (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)
    ]
    reader = -1
    if waits:
        while _ends:
            os.close(_ends.pop())
        reader, writer = os.pipe()
        _ends.append(writer)
        actions[0] = (os.POSIX_SPAWN_DUP2, reader, 0)
    try:
        os.posix_spawn(command[0], list(command), environ, file_actions=actions, setsid=True)
    finally:
        if waits:
            os.close(reader)


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
