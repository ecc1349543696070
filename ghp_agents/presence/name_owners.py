"""Which clone owns an agent's name: the one where it was first seen. Changes are reported.

An agent may move to another clone. But anyone who can push can use its name, so people get a note.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ghp_agents.core.clock import ago
from ghp_agents.core.finding import Finding, info
from ghp_agents.core.ids import CloneId
from ghp_agents.core.json_file import JsonFile
from ghp_agents.ports import Snapshot
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.workspace import Workspace

HOMES = "homes.json"
TOLD_FOR = 86_400.0  # seconds for which the doctor reports a change


class NameOwner(NamedTuple):
    """The clone in which an agent lives, since when, and where it lived before."""

    clone: str
    since: float
    before: str = ""


def observe(ws: Workspace, snapshot: Snapshot, views: Iterable[AgentView]) -> list[str]:
    """Note in which clones agents live; return a note for each agent that moved."""
    clones = {tip.clone for tip in snapshot.tips()} | {snapshot.clone}
    alive = [view for view in views if view.clone and view.liveness in LIVING]
    if not alive or len(clones) == 1:
        return []
    before, now = _file(ws).read(), ws.steady()
    owners = dict(before)
    notes: list[str] = []
    for view in alive:
        home = before.get(view.name)
        if home is None or CloneId(home.clone) not in clones:  # that clone has a new id
            owners[view.name] = NameOwner(str(view.clone), now)
        elif home.clone != view.clone:
            owners[view.name] = NameOwner(str(view.clone), now, home.clone)
            notes.append(f"{_change(snapshot, view.name, owners[view.name])}. {_HINT}")
    if owners != before:
        _file(ws).write(owners)
    return notes


_HINT = "If you did not start it there, somebody else uses its name."


def check(ws: Workspace, snapshot: Snapshot) -> Iterator[Finding]:
    """Report the agents that moved to another clone recently."""
    owners = _file(ws).read()
    now = ws.steady() if owners else 0.0
    for name, home in sorted(owners.items()):
        if home.before and 0 <= now - home.since < TOLD_FOR:
            when = f"{ago(now - home.since)} ago"
            yield info("home", f"{_change(snapshot, name, home)} ({when}).", _HINT)


def _change(snapshot: Snapshot, name: str, home: NameOwner) -> str:
    before, after = (
        "this clone" if clone == snapshot.clone else f"clone {clone}"
        for clone in (home.before, home.clone)
    )
    return f"{name} moved from {before} to {after}"


def _file(ws: Workspace) -> JsonFile[dict[str, NameOwner]]:
    return JsonFile(ws.cache_dir / HOMES, _decode, dict)


def _decode(value: Any) -> dict[str, NameOwner]:
    owners: dict[str, NameOwner] = {}
    for name, fields in value.items():
        match fields:
            case [str(clone), int() | float() as since, str(before)]:
                owners[name] = NameOwner(clone, since, before)
    return owners
