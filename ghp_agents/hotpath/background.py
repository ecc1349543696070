"""Background work: starts a detached process that folds and syncs when needed."""

import os
import sys

from ghp_agents.hotpath import own_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any
LONGEST_PAUSE = 7_200.0  # seconds; the longest that the background may be told to wait
RUN = "GHP_RUN"  # the run that a process belongs to: it ends with the run
SPAWNED = "GHP_SPAWNED"  # set for processes in the background
SPAWN_PAUSE = 2.0  # seconds between two background processes of a clone
STARTED = "/cache/started"  # a file; its timestamp is when the last one was started


def start_sync(
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    now: float,
    settings: "Mapping[str, Any]",
    *,
    urgent: bool,
    pause: float = SPAWN_PAUSE,
) -> bool:
    """Start one detached fold-and-sync if needed, unless one was started just now."""
    if is_off(environ, settings):
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
        spawn([sys.executable, "-P", "-m", "ghp_agents", "agent-sync", "--background"], environ)
    except OSError:
        return False
    return True


def is_off(environ: "Mapping[str, str]", settings: "Mapping[str, Any]") -> bool:
    """Whether background processes are disabled here."""
    return environ.get("GHP_BACKGROUND") == "0" or settings.get("background") is False


def leaves_to_people(environ: "Mapping[str, str]") -> bool:
    """Whether the process works for nobody who waits: in a run, or in the background."""
    return bool(environ.get(RUN) or environ.get(SPAWNED))


def spawn(command: "Sequence[str]", environ: "Mapping[str, str]") -> None:
    """Start a process that outlives us and shares none of our pipes."""
    environ = {name: value for name, value in environ.items() if name != RUN} | {SPAWNED: "1"}
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    os.posix_spawn(command[0], list(command), environ, file_actions=nowhere, setsid=True)


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
