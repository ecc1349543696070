"""Presence: register an agent, renew it, and tell who lives."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import files
from ghp_agents.core.ids import AgentName, CloneId, issue_of_branch
from ghp_agents.hotpath import alive, session_name
from ghp_agents.hotpath import heartbeat as hot_heartbeat
from ghp_agents.ports import Snapshot, StateStore
from ghp_agents.presence.liveness import (
    Liveness,
    Memory,
    Sighting,
    Turns,
    liveness,
    liveness_elsewhere,
    observe,
    silent_for,
    take_turns,
)
from ghp_agents.state import presence as rules
from ghp_agents.state.presence import Presence, issue_of, next_epoch, position
from ghp_agents.workspace import Workspace

SIGHTINGS = "sightings.json"
TURNS = "turns.json"
LEASES = ".ghp/leases/"  # where there are none, nothing that reads them is loaded
WAITERS = "waiters"  # a folder that is there where somebody waits, or has waited
WAITS_FOR = "waitsFor"  # a field that is shown beside those of the presence
LIVING = (Liveness.ACTIVE, Liveness.STALE)
RIVAL_TURNS = 3  # an agent that moves to another clone and back takes two


class AgentView(NamedTuple):
    """An agent as it is seen from here, now."""

    name: str
    presence: Presence
    liveness: Liveness
    silent: float  # seconds for which it is known not to have moved
    is_here: bool  # it lives in this clone
    heard: float | None = None  # seconds since this clone heard of its last beat, if elsewhere
    clone: CloneId | None = None  # where it lives; None: not looked for


class Rivalry(NamedTuple):
    """Two living sessions under one name."""

    agent: str
    where: str  # for people: which sessions or clones


# ------------------------------------------------------------------------------ saying


def heartbeat(
    ws: Workspace,
    store: StateStore,
    agent: AgentName,
    said: Mapping[str, Any],
    *,
    progress: bool = False,
) -> str:
    """Renew `agent`'s presence, and register it first where that is needed.

    `said` has any of status, issue, lastAction. Answers "moved", "beat" or "quiet".
    Raises OSError when no folder can be written.
    """
    if any(Path(folder, WAITERS).is_dir() for folder in ws.folders):
        from ghp_agents.presence import wait_status

        wait_status.restore_status(ws, [agent])
    session = hot_heartbeat.session(ws.environ)[1]
    pid = hot_heartbeat.agent_pid(ws.environ)
    said = {**said, **hot_heartbeat.surroundings(ws.place)}
    throttle = ws.settings.throttle
    beaten = hot_heartbeat.beat(
        ws.folders, agent, said, ws.clock.now(), session=session, progress=progress,
        throttle=throttle, pid=pid, moment=ws.clock.interval(),
    )  # fmt: skip
    return beaten or register(ws, store, agent, said)


def register(
    ws: Workspace, store: StateStore, agent: AgentName, said: Mapping[str, Any] | None = None
) -> str:
    """Start `agent` here, with an epoch above all that anybody knows of it."""
    known = store.snapshot().agents().get(agent, {})
    here = ws.presence(agent) or {}
    epoch = next_epoch(known, here)
    kind, session = hot_heartbeat.session(ws.environ)
    here_branch = ws.branch
    first: dict[str, Any] = {
        "issue": (issue_of_branch(here_branch) if here_branch else None) or _claimed(here),
        "status": "idle",
        "lastAction": "Started",
        "kind": kind,
        "capabilities": list(ws.settings.capabilities.get(agent, ())),
        **hot_heartbeat.surroundings(ws.place),
        **(said or {}),
    }
    if not first["capabilities"]:
        del first["capabilities"]
    beaten = hot_heartbeat.beat(
        ws.folders, agent, first, ws.clock.now(), session=session,
        pid=hot_heartbeat.agent_pid(ws.environ), epoch=epoch, moment=ws.clock.interval(),
    )  # fmt: skip
    assert beaten is not None, "a beat with an epoch always writes"
    return beaten


def _claimed(presence: Presence) -> int | None:
    """The issue that an agent claimed; it still has it when another session begins."""
    return issue_of(presence) if rules.number(presence, "generation") else None


def rename(ws: Workspace, store: StateStore, agent: AgentName) -> None:
    """Make `agent` the name of this worktree, and register it; an earlier name here is stopped."""
    path = ws.git_dir / "ghp-agent"
    before = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    files.write_durably(path, f"{agent}\n".encode())
    if before and before != agent and hot_heartbeat.is_name(before) and _is_ours(ws, before):
        hot_heartbeat.beat(
            ws.folders, before, {"status": "stopped", "lastAction": f"Goes on as {agent}"},
            ws.clock.now(), session=(ws.presence(before) or {}).get("session"),
            moment=ws.clock.interval(),
        )  # fmt: skip
    register(ws, store, agent)


def _is_ours(ws: Workspace, agent: str) -> bool:
    """Whether `agent`'s presence is of this worktree, and of this session if sessions are told."""
    there = ws.presence(agent)
    if there is None:
        return False
    session = hot_heartbeat.session(ws.environ)[1]
    same_session = session is None or there.get("session") in (None, session)
    return same_session and there.get("worktree") == hot_heartbeat.surroundings(ws.place).get(
        "worktree"
    )


# ------------------------------------------------------------------------------ looking


def list_agents(
    ws: Workspace, store: StateStore, snapshot: Snapshot, *, processes: bool = True
) -> list[AgentView]:
    """Every agent that is known, with its liveness; also renews the observer's memory.

    What this clone says of its own agents counts, as long as they live. Any other lives if
    anybody's presence of it moves: nobody can make it dead by what they say of it.
    `processes` asks whether this machine's agents still run, which reads their files.
    """
    eyes = _Eyes(ws, store, snapshot, processes=processes)
    told: dict[str, list[tuple[CloneId, Presence]]] = {}
    for clone in _clones(snapshot):
        for name, presence in snapshot.agents_of(clone).items():
            told.setdefault(name, []).append((clone, presence))
    return [eyes.best(name, told[name]) for name in sorted(told)]


class _Eyes:
    """This clone as an observer, at one moment."""

    def __init__(
        self, ws: Workspace, store: StateStore, snapshot: Snapshot, *, processes: bool
    ) -> None:
        self.ws, self.processes = ws, processes
        self.own, self.beaten = snapshot.clone, snapshot.beaten()
        self.limits = ws.settings.thresholds
        self.now = ws.clock.now()
        self.memory, self.steady = _observe(ws, snapshot)
        self.news = news_at(ws, store) if _others(snapshot) else None

    def best(self, name: str, told: list[tuple[CloneId, Presence]]) -> AgentView:
        """The agent where it lives: in this clone, if it does; else where it is furthest on."""
        views = [self.view(name, clone, presence) for clone, presence in told]
        if len(views) == 1:
            return views[0]
        alive = [view for view in views if view.liveness in LIVING]
        here = next((view for view in alive if view.is_here and name in self.beaten), None)
        return here or max(alive or views, key=lambda view: position(view.presence))

    def view(self, name: str, clone: CloneId, presence: Presence) -> AgentView:
        """The agent by what one clone tells of it."""
        sighting = self.memory.get(f"{clone}/{name}")
        if clone == self.own:
            silent = self._silence_here(name, presence, sighting)
            lives = _process_lives(self.ws, name) if self.processes else None
            verdict = liveness(presence, silent, self.limits, process_lives=lives)
            return AgentView(name, presence, verdict, silent, True, None, clone)
        silent = silent_for(sighting, self.news)
        verdict = liveness_elsewhere(presence, silent, self.limits)
        heard = max(0.0, self.steady - sighting.first_seen) if sighting else None
        return AgentView(name, presence, verdict, silent, False, heard, clone)

    def _silence_here(self, name: str, presence: Presence, sighting: Sighting | None) -> float:
        if name not in self.beaten:
            # It may have been absorbed with its clone: then the time stamp is another machine's.
            seen = self.steady - sighting.first_seen if sighting else 0.0
            return max(_age(presence, self.now), seen)
        silent = self.now - self.beaten[name]
        if 0 <= silent < self.limits.stale:
            return silent
        here = self.ws.presence(name) or {}
        return alive.silence(here, self.beaten[name], self.now, self.ws.clock.interval())


def news_at(ws: Workspace, store: StateStore) -> float | None:
    """When this clone last had news of the others, on its own steady clock; None: never."""
    age = store.news_age()
    return None if age is None else ws.steady() - age


def others_live(ws: Workspace, store: StateStore, snapshot: Snapshot) -> bool:
    """Whether an agent of another clone lives, as far as this one knows."""
    if not _others(snapshot):
        return False
    views = list_agents(ws, store, snapshot, processes=False)
    return any(not x.is_here and x.liveness in LIVING for x in views)


def look_back(ws: Workspace, snapshot: Snapshot, at: float) -> list[AgentView]:
    """Every agent as it was at a time, in the snapshot of that time.

    Nobody can observe the past, so each agent's own time stamp decides, and nothing is remembered.
    """
    origin = _origins(snapshot)
    views: list[AgentView] = []
    for name, presence in sorted(snapshot.agents().items()):
        silent = _age(presence, at)
        verdict = liveness(presence, silent, ws.settings.thresholds)
        is_here = origin.get(name, snapshot.clone) == snapshot.clone
        views.append(AgentView(name, presence, verdict, silent, is_here))
    return views


def rivalries(ws: Workspace, snapshot: Snapshot) -> list[Rivalry]:
    """Names under which two living sessions work, here or in two clones."""
    now = ws.clock.now()
    found: list[Rivalry] = []
    for name in sorted(hot_heartbeat.rivals(ws.folders) & snapshot.beaten().keys()):
        local = (ws.presence(name) or {}).get("local") or {}
        rival = local.get("rival")
        if isinstance(rival, dict) and now - rival.get("seen", 0) < hot_heartbeat.RIVAL_WINDOW:
            sessions = " and ".join(
                session_name.short(str(one)) for one in rival.get("sessions", ())
            )
            found.append(Rivalry(name, f"sessions {sessions} of this clone"))
    known = _read_turns(ws)
    steady = ws.steady() if known else 0.0
    for name, turns in known.items():
        if turns.changes >= RIVAL_TURNS and steady - turns.last < hot_heartbeat.RIVAL_WINDOW:
            found.append(Rivalry(name, f"clone {turns.mover} and another clone"))
    return found


def _observe(ws: Workspace, snapshot: Snapshot) -> tuple[Memory, float]:
    """Look at the agents of other clones, and at those of ours that others know, too, or that have
    no presence here but in commits; and when that was, on this clone's steady clock."""
    others = _others(snapshot)
    elsewhere = {name for clone in others for name in snapshot.agents_of(clone)}
    elsewhere |= snapshot.agents_of(snapshot.clone).keys() - snapshot.beaten().keys()
    if not elsewhere:
        return {}, 0.0
    known = {
        f"{clone}/{name}": presence
        for clone in _clones(snapshot)
        for name, presence in snapshot.agents_of(clone).items()
        if name in elsewhere
    }
    now = ws.steady()
    memory, turns = _read_memory(ws)
    seen = observe(memory, known, now)
    if seen != memory:
        _write_memory(ws, seen, take_turns(turns, memory, seen, now, hot_heartbeat.RIVAL_WINDOW))
    return seen, now


def _clones(snapshot: Snapshot) -> list[CloneId]:
    return [*({tip.clone: None for tip in snapshot.tips()} | {snapshot.clone: None})]


def _others(snapshot: Snapshot) -> list[CloneId]:
    return [tip.clone for tip in snapshot.tips() if tip.clone != snapshot.clone]


def _origins(snapshot: Snapshot) -> dict[str, CloneId]:
    """The clone in which each agent lives: the one that knows it furthest on."""
    best: dict[str, tuple[tuple[int, int], CloneId]] = {}
    for clone in _clones(snapshot):
        for name, presence in snapshot.agents_of(clone).items():
            here = (position(presence), clone)
            if name not in best or here[0] > best[name][0]:
                best[name] = here
    return {name: clone for name, (_, clone) in best.items()}


def _age(presence: Presence, now: float) -> float:
    """The age of a presence by its own time stamp; only for what this machine wrote."""
    from ghp_agents.core.clock import to_seconds

    try:
        return max(0.0, now - to_seconds(str(presence.get("timestamp"))))
    except ValueError:
        return 0.0


def _process_lives(ws: Workspace, name: str) -> bool | None:
    return alive.process_lives(ws.presence(name) or {})


def _read_memory(ws: Workspace) -> tuple[dict[str, Sighting], dict[str, Turns]]:
    try:
        noted = _read_noted(ws, SIGHTINGS)
        return {key: Sighting(*fields) for key, fields in noted.items()}, _read_turns(ws)
    except TypeError:
        return {}, {}


def _read_turns(ws: Workspace) -> dict[str, Turns]:
    try:
        return {agent: Turns(*fields) for agent, fields in _read_noted(ws, TURNS).items()}
    except TypeError:
        return {}


def _read_noted(ws: Workspace, name: str) -> dict[str, Any]:
    try:
        noted = json.loads((ws.cache_dir / name).read_bytes())
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _write_memory(ws: Workspace, seen: Memory, turns: Mapping[str, Turns]) -> None:
    try:
        files.write_atomically(ws.cache_dir / SIGHTINGS, json.dumps(seen).encode())
        files.write_atomically(ws.cache_dir / TURNS, json.dumps(turns).encode())
    except OSError:
        return  # only memory of this clone; a read-only one observes anew each time


def may_wait(snapshot: Snapshot, views: Iterable[AgentView]) -> bool:
    """Whether anybody could wait for another; `leases/deadlocks.py` tells, and is loaded only where
    somebody has claimed an issue, or leased anything."""
    claims = any("generation" in view.presence for view in views)
    return claims or bool(snapshot.files(LEASES))


def document(views: list[AgentView]) -> dict[str, Any]:
    """The joined document: every agent that is not gone."""
    agents = {view.name: view.presence for view in views if view.liveness is not Liveness.GONE}
    return {"schemaVersion": rules.SCHEMA_VERSION, "agents": agents}
