"""Whether a lease is granted, on one snapshot: with what `transact` needs, and nothing written."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.globs import covers
from ghp_agents.core.ids import Timestamp
from ghp_agents.git import ignored_files
from ghp_agents.hotpath import implicit_leases
from ghp_agents.hotpath.quoting import named, reason
from ghp_agents.leases import expiry, record
from ghp_agents.leases import service as leases
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import LeaseEvent, LeaseHistory
from ghp_agents.leases.request import CheckedRequest, Conflict, conflict_with
from ghp_agents.leases.service import Lives
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace


class Attempt(NamedTuple):
    """What came of trying: a lease, or what stands in its way. Neither: its right comes first."""

    log: LeaseHistory | None = None
    is_new: bool = False
    obstacles: tuple[Conflict, ...] = ()
    asked: bool = False  # the place that decides rights
    spent: bool = False  # it was granted, and given back; another try needs another id


class DecisionInput(NamedTuple):
    """What there is to decide."""

    ws: Workspace
    store: StateStore
    leaser: LockService
    plan: CheckedRequest
    right: Lock | None = None  # that a strict lease has got
    in_line: bool = False  # who cannot have it now wants a place in the queue
    elsewhere: tuple[Conflict, ...] = ()  # rights of which this clone knew nothing


def decide(case: DecisionInput, snapshot: Snapshot) -> tuple[Attempt, list[Record]]:
    """Granted, held already, put in line, or what stands in the way."""
    ws, plan = case.ws, case.plan
    views = presence.list_agents(ws, case.store, snapshot)
    lives, rights = leases.lives_by(views), leases.known_rights(case.leaser)
    known = leases.read_all(snapshot)[0]
    _check_not_ended(plan, known)
    logs = [log for log in known if log.is_open]
    mine = [] if plan.is_elsewhere(rights) else [log for log in logs if plan.is_same(log)]
    lapsed = expiry.expired(ws, case.store, snapshot, logs)
    parts = (lives, rights, lapsed)
    had = next((log for log in mine if leases.is_active(ws, snapshot, log, *parts)), None)
    if had:
        return _kept(case, snapshot, had)
    waiting = next((log for log in mine if log.id == plan.id and log.is_waiting), None)
    holds = leases.held(ws, case.store, case.leaser, snapshot, views)
    ways = [conflict_with(plan, hold) for hold in holds if _is_in_way(plan, hold)]
    ways += _first_in_line(case, snapshot, logs, waiting, lives)
    ways += [*edits(ws, plan), *case.elsewhere]
    if ways:
        records = [_request(case, snapshot)] if case.in_line and not waiting else []
        return Attempt(obstacles=tuple(ways)), records
    if plan.right and case.right is None:
        return Attempt(), []
    over = [log for log in logs if log.is_over(snapshot.clone, ws.clock.now()) or log.id in lapsed]
    return _granted(case, snapshot, logs, waiting, lives, over)


def _is_in_way(plan: CheckedRequest, hold: Hold) -> bool:
    return bool(plan.reach.meets_other(hold, plan.holder, plan.clone))


def _check_not_ended(plan: CheckedRequest, logs: Sequence[LeaseHistory]) -> None:
    """What a request says is said once: one that somebody has ended does not begin again."""
    for log in logs:
        if log.id == plan.id and log.released:
            by = named(*log.released.by)
            raise RefusedError(
                f"{by} has ended this request.{reason(log.released.reason, by)}",
                hint="Ask why, or ask for the lease again.",
            )


def edits(ws: Workspace, plan: CheckedRequest) -> list[Conflict]:
    """The files that it covers and that another agent of this clone edits."""
    if plan.wanted.name is not None:
        return []
    limits = ws.settings.dead_after, ws.settings.gone_after
    found = [
        touch
        for touch in implicit_leases.list_all(ws.folders)
        if (touch.agent != plan.holder.name or plan.holder.is_person)
        and covers(plan.wanted.patterns, touch.path, fold=plan.reach.fold)
        and implicit_leases.is_active(ws.folders, touch, ws.clock.now(), *limits)
    ]
    top = ws.place.toplevel
    spared = ignored_files.among(top, [each.path for each in found]) if found and top else ()
    return [
        Conflict(each.path, each.agent, False, each.since, "editing")
        for each in found
        if each.path not in spared
    ]


def _first_in_line(
    case: DecisionInput,
    snapshot: Snapshot,
    logs: Sequence[LeaseHistory],
    waiting: LeaseHistory | None,
    lives: Lives,
) -> list[Conflict]:
    """Those who asked earlier and still wait: nobody jumps the queue."""
    reach, holder = case.plan.reach, case.plan.holder
    return [
        conflict_with(case.plan, log.hold(), "waiting")
        for log in logs
        if log.is_waiting
        and (waiting is None or log.request.order < waiting.request.order)
        and reach.meets_other(log.hold(), holder)
        and leases.is_still_waiting(case.ws, snapshot, log, lives)
    ]


def _kept(
    case: DecisionInput, snapshot: Snapshot, had: LeaseHistory
) -> tuple[Attempt, list[Record]]:
    until = until_of(case)
    if until is None or until == had.until:
        return Attempt(had), []
    said = _follow(case, snapshot, had, "renew")._replace(until=until)
    return Attempt(had._replace(until=until)), [record.entry(said, had.request)]


def _granted(
    case: DecisionInput,
    snapshot: Snapshot,
    logs: Sequence[LeaseHistory],
    waiting: LeaseHistory | None,
    lives: Lives,
    past: Sequence[LeaseHistory],
) -> tuple[Attempt, list[Record]]:
    """The lease, and an end to those in its way that nobody holds any more: who comes back must
    not find them held."""
    ws, plan = case.ws, case.plan
    nonce = case.right.nonce if case.right else ""
    if waiting:
        said = _follow(case, snapshot, waiting, "grant")._replace(until=until_of(case), nonce=nonce)
    else:
        said = _asked(case, snapshot)._replace(granted=True, until=until_of(case), nonce=nonce)
    request = waiting.request if waiting else said
    why = {
        log.id: "its time was up" if lives(log.holder) else f"{log.holder} does not live any more"
        for log in logs
        if log.granted
        and (log in past or not lives(log.holder))
        and plan.reach.meets_other(log.hold(), plan.holder)
    }
    over = [log for log in logs if log.id in why]
    ended = [
        leases.ended(ws, snapshot, log, plan.by, why[log.id], later)
        for later, log in enumerate(over, 2)
    ]
    log = LeaseHistory(request, said, said.until)
    return Attempt(log, is_new=True), [record.entry(said, request), *ended]


def _request(case: DecisionInput, snapshot: Snapshot) -> Record:
    said = _asked(case, snapshot)
    return record.entry(said, said)


def _asked(case: DecisionInput, snapshot: Snapshot) -> LeaseEvent:
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
        right=plan.right,
    )


def _follow(case: DecisionInput, snapshot: Snapshot, log: LeaseHistory, kind: str) -> LeaseEvent:
    clock, clone = snapshot.clock + 1, snapshot.clone
    return record.follow(log.request, kind, case.plan.by, _now(case), clock, clone)


def _now(case: DecisionInput) -> Timestamp:
    return Timestamp(to_text(case.ws.clock.now()))


def until_of(case: DecisionInput) -> Timestamp | None:
    """When it ends, if it is wanted for a time."""
    ttl = case.plan.wanted.ttl
    return None if ttl is None else Timestamp(to_text(case.ws.clock.now() + ttl))
