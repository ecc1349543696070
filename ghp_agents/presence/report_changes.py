"""Writes into the presence of this clone's agents which files and lines they have changed.

Other clones decide by it whether an edit would conflict. Only a sync does this, never a heartbeat
or a hook, and only for worktrees in which something moved since the last look.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ghp_agents.core.errors import GhpError
from ghp_agents.core.json_file import object_file
from ghp_agents.git import changed_lines, worktree_admin
from ghp_agents.git import process as git
from ghp_agents.git.changed_lines import FileChange
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.hotpath import alive, heartbeat, implicit_leases
from ghp_agents.hotpath.locate import Location, walk_up
from ghp_agents.ports import Context
from ghp_agents.presence.amend import amend
from ghp_agents.state import changes, default_branch
from ghp_agents.state.changes import FIELD, ChangedFields
from ghp_agents.state.coordination import coordination_remote
from ghp_agents.state.presence import Presence
from ghp_agents.workspace import Workspace, agent_named_in

FILE = "changes.json"  # in the folder of caches
SETTLED = 10.0  # seconds since the last heartbeat; by then an edit after it has had its own
SILENT = 30.0  # seconds without a heartbeat after which a report says so

Found = Sequence[FileChange]


class LivingAgent(NamedTuple):
    """A living agent of this clone."""

    name: str
    presence: Presence
    beaten: float  # the time of its last heartbeat


def report_changes(ctx: Context) -> list[str]:
    """Update the presence of each agent here, if its changes are not as published; return the
    names. Without a remote nobody else reads it."""
    ws = ctx.ws
    workers, idle = _workers(ws)
    shares = ws.settings.share_changes and coordination_remote(ws) is not None
    wanted: dict[str, list[ChangedFields]] = {name: [] for name in idle}
    if not shares:
        wanted |= {worker.name: [] for worker in workers}
    elif workers:
        with suppress(GhpError, OSError):  # then they stay as they are
            wanted |= _wanted(ws, workers)
    return [name for name in sorted(wanted) if _publish(ws, name, wanted[name])]


def _workers(ws: Workspace) -> tuple[list[LivingAgent], list[str]]:
    """The living agents of this clone, and the others that still have changes in their presence."""
    now = ws.clock.now()
    names = {name for folder in ws.folders for name in _recent(folder, now - alive.GONE_AFTER)}
    workers: list[LivingAgent] = []
    idle: list[str] = []
    limits = ws.settings.dead_after, ws.settings.gone_after
    for name in sorted(names):
        newest = alive.newest_presence(ws.folders, name)
        if newest and alive.lives(ws.folders, name, now, *limits):
            workers.append(LivingAgent(name, *newest))
        elif newest and FIELD in newest[0]:
            idle.append(name)
    return workers, idle


def _recent(folder: str, since: float) -> list[str]:
    try:
        with os.scandir(folder + "/agents") as entries:
            names = [
                entry.name.removesuffix(".json")
                for entry in entries
                if entry.name.endswith(".json") and entry.stat().st_mtime >= since
            ]
    except OSError:
        return []
    return [name for name in names if heartbeat.is_name(name)]


def _wanted(ws: Workspace, workers: Sequence[LivingAgent]) -> dict[str, list[ChangedFields]]:
    """The changes of each agent, by the worktree that it works in. Raises GhpError."""
    checkouts = worktree_admin.listed(ws.folder)
    owners = {name: checkout for checkout in checkouts for name in _owner(checkout)}
    by_branch = {checkout.branch: checkout for checkout in checkouts if checkout.branch}
    teams: dict[Checkout, list[LivingAgent]] = {}
    wanted: dict[str, list[ChangedFields]] = {}
    for worker in workers:
        branch = str(worker.presence.get("branch") or "")
        checkout = by_branch.get(branch) or owners.get(worker.name)
        if checkout and checkout.head and checkout.path.is_dir():
            teams.setdefault(checkout, []).append(worker)
        else:
            wanted[worker.name] = []
    memory = object_file(ws.cache_dir / FILE)
    before, after = memory.read(), dict[str, Any]()
    refs = default_branch.trunk_places(ws)
    for checkout, team in teams.items():
        with suppress(GhpError, OSError):
            place, files = _files(ws, checkout, team, refs, before, after)
            wanted |= {x.name: _without_others(ws, place, x, team, files) for x in team}
    if after != before:
        memory.write(after)
    return wanted


def _owner(checkout: Checkout) -> list[str]:
    """The agent whose name was written into a worktree, if there is one."""
    place = walk_up(str(checkout.path)) if checkout.path.is_dir() else None
    name = agent_named_in(place.git_dir) if place else ""
    return [name] if name else []


def _files(
    ws: Workspace,
    checkout: Checkout,
    team: Sequence[LivingAgent],
    refs: Sequence[str],
    before: Mapping[str, Any],
    after: dict[str, Any],
) -> tuple[Location, Found]:
    """A worktree and its changed files; as remembered, if nothing has moved. Raises GhpError and
    OSError."""
    place = walk_up(str(checkout.path))
    if place is None or place.toplevel is None:
        raise FileNotFoundError(checkout.path)
    main = worktree_admin.tip(ws.folder, refs[-1]) if refs else ""
    remembered = before.get(place.git_dir)
    remembered = remembered if isinstance(remembered, dict) else {}
    beaten = max(worker.beaten for worker in team)
    marks = [
        checkout.head, main, _stat(f"{place.git_dir}/index"), beaten,
        ws.clock.now() - beaten >= SETTLED,
    ]  # fmt: skip
    if remembered.get("seen") == marks and remembered.get("files") == _stats(place, remembered):
        kept = {FIELD: remembered.get(FIELD)}
    else:
        base = _fork_point(checkout, main)
        changed = changed_lines.in_worktree(place, base, main or base)
        kept = {FIELD: changes.encode(changed)}
    after[place.git_dir] = {"seen": marks, "files": _stats(place, kept), **kept}
    return place, changes.decode(kept)


def _fork_point(checkout: Checkout, main: str) -> str:
    """The last common commit with the main branch. Without one, only uncommitted work counts."""
    if not main:
        return checkout.head
    done = git.run(["merge-base", checkout.head, main], cwd=checkout.path)
    return done.text if done.code == 0 else checkout.head


def _stats(place: Location, remembered: Mapping[str, Any]) -> list[Any]:
    """The state of the remembered files on the disk."""
    return [_stat(f"{place.toplevel}/{x.path}") for x in changes.decode(remembered)]


def _stat(path: str) -> list[int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size, status.st_ino]


def _without_others(
    ws: Workspace,
    place: Location,
    worker: LivingAgent,
    team: Sequence[LivingAgent],
    files: Found,
) -> list[ChangedFields]:
    """An agent's own changes in a worktree: not those of files that another agent there edits."""
    others = {other.name for other in team} - {worker.name}
    leases = implicit_leases.list_all(ws.folders) if others else []
    theirs = {x.path for x in leases if x.agent in others and x.is_in(place.git_dir)}
    return changes.encode(x for x in files if theirs.isdisjoint((x.path, x.path.lower())))


def _publish(ws: Workspace, agent: str, wanted: list[ChangedFields]) -> bool:
    newest = alive.newest_presence(ws.folders, agent)
    if newest is None or newest[0].get(FIELD, []) == wanted:
        return False
    silent = alive.silence(*newest, ws.clock.now(), ws.clock.interval())

    def change(record: dict[str, Any]) -> bool:
        for field in heartbeat.VOUCHED:  # reported again afterwards, if it still is so
            record.pop(field, None)
        record.pop(FIELD, None)
        if wanted:
            record[FIELD] = wanted
        if silent >= SILENT:  # a new report is not a sign of life
            record["silentFor"] = int(silent)
        return True

    try:
        return amend(ws, agent, change)
    except OSError:
        return False  # nothing can be written now
