"""Report whether the processes of silent agents run.

An agent in a long test run sends no heartbeats, and other machines cannot see its process. So its
own machine reports with a sync that the process runs. The report is valid for `BELIEVED` seconds.
"""

import os

from ghp_agents.hotpath import alive
from ghp_agents.presence.amend import amend
from ghp_agents.workspace import Workspace

QUIET = 300.0  # seconds without a heartbeat before a report
RETRY_AFTER_S = 600.0  # seconds until the next report of a running process
BELIEVED = 1_800  # seconds for which a report is valid


def report_processes(ws: Workspace) -> list[str]:
    """Write to the presence of silent agents here whether their processes run; return the names."""
    quiet = {name for folder in ws.folders for name in _quiet(folder, ws.clock.now())}
    return [name for name in sorted(quiet) if _report(ws, name)]


def _quiet(folder: str, now: float) -> list[str]:
    try:
        with os.scandir(folder + "/agents") as entries:
            return [
                entry.name.removesuffix(".json")
                for entry in entries
                if entry.name.endswith(".json") and not 0 <= now - entry.stat().st_mtime < QUIET
            ]
    except OSError:
        return []


def _report(ws: Workspace, name: str) -> bool:
    newest = alive.newest_presence(ws.folders, name)
    if newest is None or newest[0].get("status") == "stopped":
        return False
    presence, beaten = newest
    lives = alive.process_lives(presence)
    silent = alive.silence(presence, beaten, ws.clock.now(), ws.clock.interval())
    if lives is None or not QUIET <= silent < ws.settings.gone_after:
        return False
    if not _is_due(presence, lives, ws.clock.interval()):
        return False
    boot, seconds = ws.clock.interval()

    def vouch(record: dict[str, object]) -> bool:
        if record != presence:  # a heartbeat came meanwhile
            return False
        local = {**presence.get("local", {}), "vouched": [boot, round(seconds, 1)]}
        fields = {"processRunsFor": BELIEVED if lives else 0, "silentFor": int(silent)}
        record.update(fields, local=local)
        return True

    try:
        return amend(ws, name, vouch)
    except OSError:
        return False  # nothing can be written now


def _is_due(presence: "dict[str, object]", lives: bool, moment: tuple[str, float]) -> bool:
    if (presence.get("processRunsFor") or 0) != (BELIEVED if lives else 0):
        return True
    match (presence.get("local") or {}, lives):
        case [{"vouched": [str(boot), int() | float() as at]}, True]:
            return boot != moment[0] or moment[1] - at >= RETRY_AFTER_S
        case [_, True]:
            return True
    return "processRunsFor" not in presence
