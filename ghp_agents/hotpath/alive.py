"""Whether an agent is alive; the fast path of edit checks asks that by its presence file.

`presence/liveness.py` uses the same verdict for the agents of all clones.
"""

import os

from ghp_agents.hotpath import boot_clock, heartbeat, presence_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

DEAD_AFTER, GONE_AFTER = 1_800.0, 86_400.0
PATIENT = ("waiting", "blocked")  # statuses of an agent that waits for others
PATIENCE = 4  # times the limits, for one that waits
STEP = 5.0  # seconds; a larger difference between two clocks means that someone set one


def lives(
    folders: "Sequence[str]",
    agent: str,
    now: float,
    dead_after: float = DEAD_AFTER,
    gone_after: float = GONE_AFTER,
) -> bool | None:
    """Whether `agent` may still be at work here; None if its file does not show it."""
    newest = newest_presence(folders, agent)
    if newest is None:
        return None
    presence, beaten = newest
    silent = silence(presence, beaten, now, boot_clock.read())
    return verdict(
        presence, silent, process_lives(presence), dead_after, dead_after, gone_after
    ) in ("active", "stale")


def verdict(
    presence: "Mapping[str, Any]",
    silent: float,
    process: bool | None,
    stale_after: float,
    dead_after: float,
    gone_after: float,
) -> str:
    """The liveness of an agent after `silent` seconds without a heartbeat.

    `process` is whether its process runs, which its machine knows and reports. If the process
    ended, the agent is dead at once. If it runs, the agent is at most stale: it may be in a long
    test run. One that waits for others has longer limits, and none while its process runs.
    """
    status = presence.get("status")
    patience = PATIENCE if status in PATIENT else 1
    waits = process is True and patience > 1
    if silent >= gone_after * patience and not waits:
        return "gone"
    if status == "stopped":
        return "stopped"
    if process is False or (silent >= dead_after * patience and process is None):
        return "dead"
    return "stale" if silent >= stale_after * patience and not waits else "active"


def newest_presence(folders: "Sequence[str]", agent: str) -> "tuple[dict[str, Any], float] | None":
    """The presence of `agent` on its machine, and the time of its last heartbeat."""
    presence = presence_file.newest(folders, agent) if heartbeat.is_name(agent) else None
    if presence is None:
        return None
    beaten = 0.0
    for folder in folders:
        try:
            beaten = max(beaten, os.stat(folder + "/agents/" + agent + ".json").st_mtime)
        except OSError:
            continue
    return (presence, beaten) if beaten else None


def silence(
    presence: "Mapping[str, Any]", beaten: float, now: float, moment: "tuple[str, float]"
) -> float:
    """Seconds since the last heartbeat of an agent on this machine. The file's timestamp counts,
    unless the monotonic clock shows that the machine's clock was set since."""
    match (presence.get("local") or {}).get("boot"):
        case [str(boot), int() | float() as at, int() | float() as wall] if boot == moment[0]:
            passed = moment[1] - at
            if abs(now - wall - passed) > STEP:
                return max(0.0, passed)
    return max(0.0, now - beaten)


def process_lives(presence: "Mapping[str, Any]") -> bool | None:
    """Whether the process whose life is the agent's life runs; None if unknown."""
    local = presence.get("local") or {}
    pid = local.get("pid")
    if type(pid) is not int or local.get("space") != heartbeat.process_space():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    started = local.get("started")
    if not started:
        return True
    from ghp_agents.hotpath import process_start

    return process_start.started(pid) == str(started)  # not another one with its number
