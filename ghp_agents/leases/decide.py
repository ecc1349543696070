"""Decide on one snapshot whether a lease is granted. Writes nothing; `transact` does."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.globs import covers
from ghp_agents.core.ids import Timestamp
from ghp_agents.git import ignored_files
from ghp_agents.hotpath import implicit_leases
from ghp_agents.hotpath.quoting import named, reason
from ghp_agents.leases import record
from ghp_agents.leases import service as leases
from ghp_agents.leases.record import LeaseEvent, LeaseHistory
from ghp_agents.leases.request import CheckedRequest, Conflict, conflict_with
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import changing
from ghp_agents.state.codec import order
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace


class Attempt(NamedTuple):
    """The result of one try: a lease or conflicts. With neither, its lock must come first."""

    log: LeaseHistory | None = None
    is_new: bool = False
    obstacles: tuple[Conflict, ...] = ()
    asked_remote: bool = False  # the service that decides locks was asked
    spent: bool = False  # granted and released again; the next try needs a new id


class DecisionInput(NamedTuple):
    """The input of a decision."""

    ctx: Context
    plan: CheckedRequest
    lock: Lock | None = None  # the lock that a strict lease acquired
    in_line: bool = False  # join the queue if it is not free
    elsewhere: tuple[Conflict, ...] = ()  # locks that this clone did not know


def decide(case: DecisionInput, snapshot: Snapshot) -> tuple[Attempt, list[Record]]:
    """Granted, already held, queued, or the conflicts."""
    plan, world = case.plan, LeaseWorld(case.ctx, snapshot)
    _check_not_ended(plan, world.logs)
    logs = [log for log in world.logs if log.is_open]
    mine = (
        [] if plan.is_elsewhere(world.strict_locks) else [log for log in logs if plan.is_same(log)]
    )
    current = next((log for log in mine if world.is_active(log)), None)
    if current:
        return _kept(case, snapshot, current)
    waiting = next((log for log in mine if log.id == plan.id and log.is_waiting), None)
    conflicts = [
        conflict_with(plan, hold)
        for hold in world.holds
        if plan.reach.meets_other(hold, plan.holder, plan.clone)
    ]
    conflicts += _first_in_line(case, world, logs, waiting)
    conflicts += [*edits(world.ws, plan), *_changed(world, plan), *case.elsewhere]
    if conflicts:
        event = _request_event(case, snapshot)
        records = [record.entry(event, event)] if case.in_line and not waiting else []
        return Attempt(obstacles=tuple(conflicts)), records
    if plan.lock_name and case.lock is None:
        return Attempt(), []
    return _granted(case, world, logs, waiting)


def _check_not_ended(plan: CheckedRequest, logs: Sequence[LeaseHistory]) -> None:
    """Refuse a request that somebody has ended: it does not start again."""
    for log in logs:
        if log.id == plan.id and log.released:
            by = named(*log.released.by)
            raise RefusedError(
                f"{by} cancelled this request.{reason(log.released.reason, by)}",
                hint="Ask why, or request the lease again.",
            )


def edits(ws: Workspace, plan: CheckedRequest) -> list[Conflict]:
    """The covered files that another agent of this clone is editing."""
    if plan.wanted.name is not None:
        return []
    limits = ws.settings.dead_after, ws.settings.gone_after
    touches = [
        touch
        for touch in implicit_leases.list_all(ws.folders)
        if (touch.agent != plan.holder.name or plan.holder.is_person)
        and covers(plan.wanted.patterns, touch.path, fold=plan.reach.fold)
        and implicit_leases.is_active(ws.folders, touch, ws.clock.now(), *limits)
    ]
    top = ws.place.toplevel
    spared = ignored_files.among(top, [touch.path for touch in touches]) if touches and top else ()
    return [
        Conflict(touch.path, touch.agent, False, touch.since, "editing")
        for touch in touches
        if touch.path not in spared
    ]


def _changed(world: LeaseWorld, plan: CheckedRequest) -> list[Conflict]:
    """The covered files that another agent is changing, here or in another clone: its edits come
    first, until they are merged."""
    if plan.wanted.name is not None:
        return []
    return [
        Conflict(path, view.name, False, "", "changed")
        for view in changing.reporters(world.agents, world.claims)
        if view.name != plan.holder.name or plan.holder.is_person
        for path in changing.files(view)
        if covers(plan.wanted.patterns, path, fold=plan.reach.fold)
    ]


def _first_in_line(
    case: DecisionInput,
    world: LeaseWorld,
    logs: Sequence[LeaseHistory],
    waiting: LeaseHistory | None,
) -> list[Conflict]:
    """Earlier requests that still wait: nobody jumps the queue."""
    reach, holder = case.plan.reach, case.plan.holder
    return [
        conflict_with(case.plan, log.hold(), "waiting")
        for log in logs
        if log.is_waiting
        and (waiting is None or order(log.request) < order(waiting.request))
        and reach.meets_other(log.hold(), holder)
        and leases.is_still_waiting(world, log)
    ]


def _kept(
    case: DecisionInput, snapshot: Snapshot, current: LeaseHistory
) -> tuple[Attempt, list[Record]]:
    until = until_of(case)
    if until is None or until == current.until:
        return Attempt(current), []
    event = _follow(case, snapshot, current, "renew")._replace(until=until)
    return Attempt(current._replace(until=until)), [record.entry(event, current.request)]


def _granted(
    case: DecisionInput,
    world: LeaseWorld,
    logs: Sequence[LeaseHistory],
    waiting: LeaseHistory | None,
) -> tuple[Attempt, list[Record]]:
    """Grant the lease, and end conflicting leases whose holders are dead or whose time is up. A
    holder that comes back must not find them held."""
    plan, snapshot = case.plan, world.snapshot
    if waiting:
        event = _follow(case, snapshot, waiting, "grant")
    else:
        event = _request_event(case, snapshot)._replace(granted=True)
    event = event._replace(until=until_of(case), nonce=case.lock.nonce if case.lock else "")
    request = waiting.request if waiting else event
    over = [
        log
        for log in logs
        if log.granted
        and (_is_over(world, log) or not world.lives(log.holder))
        and plan.reach.meets_other(log.hold(), plan.holder)
    ]
    ended = [
        leases.ended(world.ws, snapshot, log, plan.by, _why_over(world, log), later)
        for later, log in enumerate(over, 2)
    ]
    log = LeaseHistory(request, event, event.until)
    return Attempt(log, is_new=True), [record.entry(event, request), *ended]


def _is_over(world: LeaseWorld, log: LeaseHistory) -> bool:
    return log.is_over(world.snapshot.clone, world.now) or log.id in world.expired


def _why_over(world: LeaseWorld, log: LeaseHistory) -> str:
    return "its time was up" if world.lives(log.holder) else f"{log.holder} does not live any more"


def _request_event(case: DecisionInput, snapshot: Snapshot) -> LeaseEvent:
    plan, wanted = case.plan, case.plan.wanted
    return LeaseEvent(
        lease=plan.id,
        id=plan.id,
        kind="request",
        clock=snapshot.clock + 1,
        clone=snapshot.clone,
        at=_now(case),
        by=plan.by,
        holder=plan.holder,
        epoch=plan.epoch,
        patterns=wanted.patterns,
        name=wanted.name,
        reason=wanted.reason,
        approved_by=plan.approved_by,
        question=plan.question,
        right=plan.lock_name,
    )


def _follow(case: DecisionInput, snapshot: Snapshot, log: LeaseHistory, kind: str) -> LeaseEvent:
    clock, clone = snapshot.clock + 1, snapshot.clone
    return record.follow(log.request, kind, case.plan.by, _now(case), clock, clone)


def _now(case: DecisionInput) -> Timestamp:
    return Timestamp(to_text(case.ctx.ws.clock.now()))


def until_of(case: DecisionInput) -> Timestamp | None:
    """When it ends, if the request has a TTL."""
    ttl = case.plan.wanted.ttl
    return None if ttl is None else Timestamp(to_text(case.ctx.ws.clock.now() + ttl))
