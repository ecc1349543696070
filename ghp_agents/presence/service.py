"""Presence: register agents, record heartbeats, and list agents with their liveness."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ghp_agents.core import files
from ghp_agents.core.ids import AgentName, CloneId, issue_of_branch
from ghp_agents.core.json_file import JsonFile
from ghp_agents.hotpath import alive, own_name
from ghp_agents.hotpath import heartbeat as hot_heartbeat
from ghp_agents.ports import Context, Snapshot, StateStore
from ghp_agents.presence.here import CLIENTS
from ghp_agents.presence.here import STOPPED as STOPPED
from ghp_agents.presence.here import agents_here as agents_here
from ghp_agents.presence.liveness import AgentView as AgentView
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
from ghp_agents.state import observed
from ghp_agents.state import presence as rules
from ghp_agents.state.presence import Presence, issue_of, next_epoch, position
from ghp_agents.workspace import Workspace

T = TypeVar("T")

TURNS = "turns.json"
LEASES = ".ghp/leases/"  # without leases, the modules that read them are not loaded
WAITERS = "waiters"  # a folder that exists where an agent waits, or has waited
WAITS_FOR = "waitsFor"  # a field that is shown in addition to the presence
REGISTERED = "Started"  # the last action of an agent that has done nothing yet
LIVING = (Liveness.ACTIVE, Liveness.STALE)
RIVAL_WINDOW = 600.0  # seconds in which moves are counted
RIVAL_TURNS = 3  # an agent that moves to another clone and back takes two


class Rivalry(NamedTuple):
    """Two live sessions under one name."""

    agent: str
    where: str  # for people: which clones


def heartbeat(
    ws: Workspace,
    store: StateStore,
    agent: AgentName,
    fields: Mapping[str, Any],
    *,
    progress: bool = False,
) -> str:
    """Renew `agent`'s presence; register the agent first if needed.

    `fields` has any of status, issue, lastAction. Returns "moved", "beat" or "quiet".
    Raises OSError when no folder can be written.
    """
    if any(Path(folder, WAITERS).is_dir() for folder in ws.folders):
        from ghp_agents.presence import wait_status

        wait_status.restore_status(ws, [agent])
    session = hot_heartbeat.session(ws.environ)[1]
    pid = hot_heartbeat.agent_pid(ws.environ)
    fields = {**fields, **hot_heartbeat.surroundings_of(ws.place, agent, ws.presence(agent))}
    if fields.get("status") not in STOPPED and _has_stopped(ws, agent):
        return register(ws, store, agent, fields)
    throttle = ws.settings.throttle
    beaten = hot_heartbeat.beat(
        ws.folders, agent, fields, ws.clock.now(), session=session, progress=progress,
        throttle=throttle, pid=pid, moment=ws.clock.interval(),
    )  # fmt: skip
    return beaten or register(ws, store, agent, fields)


def is_at_work(view: AgentView) -> bool:
    """Whether more than its registration is known: of an agent that only registered, nobody knows
    whether it comes back. The start of a session is more, and so is a second heartbeat."""
    is_registration = view.presence.get("lastAction") == REGISTERED
    has_beaten = bool(view.presence.get("session")) or rules.number(view.presence, "seq") > 1
    return not is_registration or has_beaten


def _has_stopped(ws: Workspace, agent: AgentName) -> bool:
    """Whether it stopped; after a new start, an earlier order to stop does not apply."""
    return (ws.presence(agent) or {}).get("status") == "stopped"


def register(
    ws: Workspace, store: StateStore, agent: AgentName, fields: Mapping[str, Any] | None = None
) -> str:
    """Start `agent` here, with an epoch above all known ones."""
    committed = store.snapshot().agents().get(agent, {})
    here = ws.presence(agent) or {}
    epoch = next_epoch(committed, here)
    kind, session = hot_heartbeat.session(ws.environ)
    here_branch = ws.branch
    first: dict[str, Any] = {
        "issue": (issue_of_branch(here_branch) if here_branch else None) or _claimed(here),
        "status": "idle",
        "lastAction": REGISTERED,
        "kind": kind,
        "metadata": here.get("metadata"),
        "capabilities": [*ws.settings.capabilities.get(agent, ())] or here.get("capabilities"),
        **hot_heartbeat.surroundings(ws.place),
        **(fields or {}),
    }
    for name in ("capabilities", "metadata"):
        if not first[name]:
            del first[name]
    beaten = hot_heartbeat.beat(
        ws.folders, agent, first, ws.clock.now(), session=session,
        pid=hot_heartbeat.agent_pid(ws.environ), epoch=epoch, moment=ws.clock.interval(),
    )  # fmt: skip
    assert beaten is not None, "a heartbeat with an epoch always writes"
    return beaten


def _claimed(presence: Presence) -> int | None:
    """The issue that an agent claimed; a new session keeps it."""
    return issue_of(presence) if rules.number(presence, "generation") else None


def rename(ws: Workspace, store: StateStore, agent: AgentName) -> str:
    """Make `agent` the name of this worktree and register it; an earlier agent here stops.

    Returns the name of the caller: another one while a session in another worktree has this one,
    and none if the caller is not a session.
    """
    session, pid = hot_heartbeat.session(ws.environ)[1], hot_heartbeat.agent_pid(ws.environ)
    mine = own_name.own(ws.folders, agent, session, pid) if session else agent
    if not session and _is_elsewhere(ws, agent):
        mine = ""
    path = ws.git_dir / "ghp-agent"
    before = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    files.write_durably(path, f"{agent}\n".encode())
    if before and before != agent and hot_heartbeat.is_name(before) and _is_ours(ws, before):
        hot_heartbeat.beat(
            ws.folders, before, {"status": "stopped", "lastAction": f"{agent} took its worktree"},
            ws.clock.now(), session=(ws.presence(before) or {}).get("session"),
            moment=ws.clock.interval(),
        )  # fmt: skip
    if session and ws.environ.get("GHP_AGENT") in (None, "", agent):
        own_name.keep(ws.folders, [session], mine, ws.clock.now())
    if mine:
        register(ws, store, AgentName(mine))
    return mine


def _is_elsewhere(ws: Workspace, agent: str) -> bool:
    """Whether a living session in another worktree has this name."""
    fields = ws.presence(agent) or {}
    here = hot_heartbeat.surroundings(ws.place).get("worktree")
    return fields.get("worktree") != here and own_name.is_in_use(ws.folders, agent, fields, None)


def _is_ours(ws: Workspace, agent: str) -> bool:
    """Whether `agent`'s presence is of this worktree and, if known, of this session."""
    presence = ws.presence(agent)
    if presence is None:
        return False
    session = hot_heartbeat.session(ws.environ)[1]
    same_session = session is None or presence.get("session") in (None, session)
    return same_session and presence.get("worktree") == hot_heartbeat.surroundings(ws.place).get(
        "worktree"
    )


def list_agents(ctx: Context, snapshot: Snapshot, *, processes: bool = True) -> list[AgentView]:
    """All known agents with their liveness; also updates the observer's memory.

    For a live agent of this clone, this clone's presence counts. Any other agent is alive if any
    clone's presence of it moves: nobody can make it dead by publishing an old presence.
    `processes` checks whether this machine's agents still run, which reads their files.
    """
    observer = _Observer(ctx, snapshot, processes=processes)
    presences: dict[str, list[tuple[CloneId, Presence]]] = {}
    for clone in _clones(snapshot):
        for name, presence in snapshot.agents_of(clone).items():
            presences.setdefault(name, []).append((clone, presence))
    views = [observer.best(name, presences[name]) for name in sorted(presences)]
    return _with_clients(ctx.ws, views) if processes else views


def _with_clients(ws: Workspace, views: list[AgentView]) -> list[AgentView]:
    """The same views; those of this clone show it if their client has ended."""
    if not Path(ws.home_folder, CLIENTS).is_dir():
        return views
    from ghp_agents.presence import client_process

    dead, limit = Liveness.DEAD, ws.settings.thresholds.dead
    local = [x for x in views if x.is_here and (x.liveness is not dead or x.silent < limit)]
    here = [x.name for x in local if x.liveness in (*LIVING, dead)]
    over = client_process.ended(ws, here)
    return [x._replace(has_no_client=x.name in over) if x.is_here else x for x in views]


def elsewhere(ctx: Context, snapshot: Snapshot, name: str) -> list[AgentView]:
    """An agent as each other clone that has it reports it."""
    clones = [clone for clone in _others(snapshot) if name in snapshot.agents_of(clone)]
    if not clones:
        return []
    observer = _Observer(ctx, snapshot, processes=False)
    return [observer.view(name, clone, snapshot.agents_of(clone)[name]) for clone in clones]


def epoch_of(ctx: Context, agent: str) -> int:
    """The agent's epoch here; if it has none yet, the one that it would get."""
    here = ctx.ws.presence(agent)
    if here is not None:
        return rules.number(here, "epoch")
    return next_epoch(ctx.store.snapshot().agents().get(agent, {}))


class _Observer:
    """This clone as an observer, at one moment."""

    def __init__(self, ctx: Context, snapshot: Snapshot, *, processes: bool) -> None:
        ws = ctx.ws
        self.ws, self.processes = ws, processes
        self.own, self.beaten = snapshot.clone, snapshot.beaten()
        self.limits = ws.settings.thresholds
        self.now = ws.clock.now()
        self.memory, self.steady = _observe(ws, snapshot)
        self.news = news_at(ctx) if _others(snapshot) else None

    def best(self, name: str, presences: list[tuple[CloneId, Presence]]) -> AgentView:
        """The agent where it lives: in this clone, else in the clone with its newest presence."""
        views = [self.view(name, clone, presence) for clone, presence in presences]
        if len(views) == 1:
            return views[0]
        quiet = min(view.quiet for view in views)
        return self._newest(name, views)._replace(quiet=quiet)

    def _newest(self, name: str, views: list[AgentView]) -> AgentView:
        alive = [view for view in views if view.liveness in LIVING]
        here = next((view for view in alive if view.is_here and name in self.beaten), None)
        return here or max(alive or views, key=lambda view: position(view.presence))

    def view(self, name: str, clone: CloneId, presence: Presence) -> AgentView:
        """The agent by one clone's presence of it."""
        sighting = self.memory.get(f"{clone}/{name}")
        if clone == self.own:
            silent = self._silence_here(name, presence, sighting)
            lives = alive.process_lives(self.ws.presence(name) or {}) if self.processes else None
            verdict = liveness(presence, silent, self.limits, process_lives=lives)
            return AgentView(name, presence, verdict, silent, True, None, clone, silent)
        silent = silent_for(sighting, self.news)
        verdict = liveness_elsewhere(presence, silent, self.limits)
        heard = max(0.0, self.steady - sighting.first_seen) if sighting else None
        quiet = silent + max(0, rules.number(presence, "silentFor"))
        over = presence.get("clientEnded") is True and verdict in (*LIVING, Liveness.DEAD)
        return AgentView(name, presence, verdict, silent, False, heard, clone, quiet, over)

    def _silence_here(self, name: str, presence: Presence, sighting: Sighting | None) -> float:
        if name not in self.beaten:
            # It may be of an absorbed clone; then the time stamp is of another machine.
            since_seen = self.steady - sighting.first_seen if sighting else 0.0
            return max(_age(presence, self.now), since_seen)
        silent = self.now - self.beaten[name]
        if 0 <= silent < self.limits.stale:
            return silent
        here = self.ws.presence(name) or {}
        return alive.silence(here, self.beaten[name], self.now, self.ws.clock.interval())


def news_at(ctx: Context) -> float | None:
    """When this clone last had news of others, by its steady clock; None: never."""
    age = ctx.store.news_age()
    return None if age is None else ctx.ws.steady() - age


def others_live(ctx: Context, snapshot: Snapshot) -> bool:
    """Whether an agent of another clone is alive, as far as known here."""
    if not _others(snapshot):
        return False
    views = list_agents(ctx, snapshot, processes=False)
    return any(not x.is_here and x.liveness in LIVING for x in views)


def look_back(ws: Workspace, snapshot: Snapshot, at: float) -> list[AgentView]:
    """All agents as they were at a time, in the snapshot of that time.

    The past cannot be observed, so each agent's own time stamp decides. Nothing is stored.
    """
    origin = origins(snapshot)
    views: list[AgentView] = []
    for name, presence in sorted(snapshot.agents().items()):
        silent = _age(presence, at)
        verdict = liveness(presence, silent, ws.settings.thresholds)
        clone = origin.get(name, snapshot.clone)
        views.append(
            AgentView(name, presence, verdict, silent, clone == snapshot.clone, silent, clone)
        )
    return views


def rivalries(ws: Workspace) -> list[Rivalry]:
    """Names with two live sessions in two clones; in one clone, each session has its own name."""
    rivalries: list[Rivalry] = []
    counts = _noted(ws, TURNS, Turns).read()
    steady = ws.steady() if counts else 0.0
    for name, turns in counts.items():
        if turns.changes >= RIVAL_TURNS and steady - turns.last < RIVAL_WINDOW:
            rivalries.append(Rivalry(name, f"clone {turns.mover} and another clone"))
    return rivalries


def _observe(ws: Workspace, snapshot: Snapshot) -> tuple[Memory, float]:
    """Observe the agents of other clones, our agents that others also know, and ours with a
    presence only in commits. Returns the memory and the time, by this clone's steady clock."""
    others = _others(snapshot)
    elsewhere = {name for clone in others for name in snapshot.agents_of(clone)}
    elsewhere |= snapshot.agents_of(snapshot.clone).keys() - snapshot.beaten().keys()
    if not elsewhere:
        return {}, 0.0
    presences = {
        f"{clone}/{name}": presence
        for clone in _clones(snapshot)
        for name, presence in snapshot.agents_of(clone).items()
        if name in elsewhere
    }
    now = ws.steady()
    memory, turns = _noted(ws, observed.SIGHTINGS, Sighting).read(), _noted(ws, TURNS, Turns).read()
    sightings = observe(memory, presences, now)
    if sightings != memory:
        _noted(ws, observed.SIGHTINGS, Sighting).write(sightings)
        _noted(ws, TURNS, Turns).write(take_turns(turns, memory, sightings, now, RIVAL_WINDOW))
    return sightings, now


def _clones(snapshot: Snapshot) -> list[CloneId]:
    return [*({tip.clone: None for tip in snapshot.tips()} | {snapshot.clone: None})]


def _others(snapshot: Snapshot) -> list[CloneId]:
    return [tip.clone for tip in snapshot.tips() if tip.clone != snapshot.clone]


def origins(snapshot: Snapshot) -> dict[str, CloneId]:
    """The clone in which each agent lives: the one with the newest presence of it."""
    best: dict[str, tuple[tuple[int, int], CloneId]] = {}
    for clone in _clones(snapshot):
        for name, presence in snapshot.agents_of(clone).items():
            here = (position(presence), clone)
            if name not in best or here[0] > best[name][0]:
                best[name] = here
    return {name: clone for name, (_, clone) in best.items()}


def _age(presence: Presence, now: float) -> float:
    """The age of a presence by its time stamp; only for presence that this machine wrote."""
    from ghp_agents.core.clock import to_seconds

    try:
        return max(0.0, now - to_seconds(str(presence.get("timestamp"))))
    except ValueError:
        return 0.0


def _noted(ws: Workspace, name: str, kind: Callable[..., T]) -> JsonFile[dict[str, T]]:
    return JsonFile(
        ws.cache_dir / name,
        lambda noted: {key: kind(*fields) for key, fields in noted.items()},
        dict,
    )


def may_wait(snapshot: Snapshot, views: Iterable[AgentView]) -> bool:
    """Whether an agent could wait for another: there are claims or leases. Only then is
    `leases/deadlocks.py` loaded."""
    claims = any("generation" in view.presence for view in views)
    return claims or bool(snapshot.present(LEASES))


def document(views: list[AgentView]) -> dict[str, Any]:
    """The joined document: every agent that is not gone."""
    living = [view for view in views if view.liveness is not Liveness.GONE]
    return {"agents": {view.name: rules.typed(view.presence) for view in living}}
