"""Report whether the processes of silent agents run.

An agent that thinks, waits for its person or is in a long test run sends no heartbeats, and other
machines cannot see its process. So its own machine reports with a sync that the process runs.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.hotpath import alive, heartbeat
from ghp_agents.presence import claude_sessions, client_process
from ghp_agents.presence.amend import amend
from ghp_agents.workspace import Workspace

Record = dict[str, Any]


class ProcessReport(NamedTuple):
    """What is to be reported about the process of a silent agent."""

    agent: str
    presence: Record
    lives: bool
    silent: float
    due_in: float  # seconds; 0: now


def report_processes(ws: Workspace, *, asks_clients: bool = False) -> list[str]:
    """Write to the presence of silent agents here whether their processes run; return the names.
    If one is due, others that will be soon go along: each report costs an exchange with the remote.

    With `asks_clients`, also what they wait for: that takes seconds, so nobody may wait for it.
    """
    soon = ws.settings.stale_after / 2
    over = _report_ended(ws)
    silent = _known(ws, soon)
    if all(report.due_in > 0 for report in silent):
        return over
    due = [report for report in silent if report.due_in <= soon]
    asks = asks_clients and any(
        report.lives and report.presence.get("kind") == "claude" for report in due
    )
    waits = claude_sessions.waits(ws) if asks else {}
    return over + [report.agent for report in due if _write(ws, report, waits)]


def _report_ended(ws: Workspace) -> list[str]:
    """Write to the presence of agents whose client was started here that it has ended, so that all
    clones know it; return the names."""
    new = [name for name in client_process.noted(ws) if _may_have_ended(ws.presence(name))]
    return [name for name in client_process.ended(ws, new) if _write_ended(ws, name)]


def _may_have_ended(presence: Mapping[str, Any] | None) -> bool:
    if presence is None or presence.get("clientEnded"):
        return False
    return presence.get("status") != "stopped"


def _write_ended(ws: Workspace, name: str) -> bool:
    def change(record: Record) -> bool:
        record["clientEnded"] = True
        return True

    try:
        return amend(ws, name, change)
    except OSError:
        return False  # nothing can be written now


def next_in(ws: Workspace) -> float | None:
    """Seconds until a report about a running process is due; None if none runs here."""
    return min((report.due_in for report in _known(ws, 0.0) if report.lives), default=None)


def _known(ws: Workspace, silent: float) -> list[ProcessReport]:
    """The facts about the agents whose files are as old as `silent` seconds."""
    names = {name for folder in ws.folders for name in _old(folder, ws.clock.now(), silent)}
    return [report for report in (_look(ws, name) for name in sorted(names)) if report]


def _old(folder: str, now: float, silent: float) -> list[str]:
    try:
        with os.scandir(folder + "/agents") as entries:
            return [
                entry.name.removesuffix(".json")
                for entry in entries
                if entry.name.endswith(".json") and not 0 <= now - entry.stat().st_mtime < silent
            ]
    except OSError:
        return []


def _look(ws: Workspace, name: str) -> ProcessReport | None:
    newest = alive.newest_presence(ws.folders, name)
    if newest is None or newest[0].get("status") == "stopped":
        return None
    presence, moment = newest[0], ws.clock.interval()
    silent = alive.silence(*newest, ws.clock.now(), moment)
    lives = alive.process_lives(presence)
    patience = alive.PATIENCE if presence.get("status") in alive.PATIENT else 1
    if lives is None or silent >= ws.settings.gone_after * patience:
        return None
    due_in = ws.settings.stale_after / 2 - silent
    if due_in <= 0:
        due_in = _due_in(ws, presence, lives, moment)
    return ProcessReport(name, presence, lives, silent, due_in)


def _due_in(ws: Workspace, presence: Record, lives: bool, moment: tuple[str, float]) -> float:
    reported = presence.get("processRunsFor")
    if not lives:
        return 0.0 if reported != 0 else float("inf")
    match presence.get("local"):
        case {"vouched": [str(boot), int() | float() as at]} if reported and boot == moment[0]:
            return at + ws.settings.stale_after - moment[1]
    return 0.0


def _write(ws: Workspace, report: ProcessReport, waits: Mapping[str, str]) -> bool:
    boot, seconds = ws.clock.interval()
    runs_for = int(ws.settings.dead_after) if report.lives else 0

    def vouch(record: Record) -> bool:
        if record != report.presence:  # a heartbeat came meanwhile
            return False
        local = {**report.presence.get("local", {}), "vouched": [boot, round(seconds, 1)]}
        record.update(processRunsFor=runs_for, silentFor=int(report.silent), local=local)
        what = waits.get(str(record.get("session")))
        if what is not None and record.get("status") != "blocked":
            record.update(status="waiting", lastAction=heartbeat.WAITS + (what and f": {what}"))
        return True

    try:
        return amend(ws, report.agent, vouch)
    except OSError:
        return False  # nothing can be written now
