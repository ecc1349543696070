"""Leases as they count now: who holds what, who waits for it, and giving back."""

from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims import holder_liveness
from ghp_agents.core import files
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import NotFoundError, RefusedError, UsageError
from ghp_agents.core.ids import Actor, Timestamp, one_line
from ghp_agents.hotpath import implicit_leases
from ghp_agents.hotpath.quoting import named, when
from ghp_agents.leases import expiry, record, select
from ghp_agents.leases.hold import Hold, Waiter
from ghp_agents.leases.record import LeaseHistory, what
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.join import Problem
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace

PATHS, NAMES = "path/", "name/"  # the kinds of rights that strict leases are
LIVING = (Liveness.ACTIVE, Liveness.STALE)
WAITING = "waiting"  # a folder with one locked file for each process of this clone that waits

Lives = Callable[[Actor], bool]


class LeaseListing(NamedTuple):
    """All that is leased."""

    held: list[Hold]
    waiting: list[Waiter]
    edits: list[implicit_leases.ImplicitLease]  # implicit leases of this clone
    problems: list[Problem]  # what could not be read
    logs: list[LeaseHistory]  # what was said of all leases


class ReleasedLeases(NamedTuple):
    """What was given back, and by whom."""

    holds: tuple[Hold, ...]
    by: Actor


# -------------------------------------------------------------------------------- reading


def read_all(snapshot: Snapshot) -> tuple[list[LeaseHistory], list[Problem]]:
    """All leases that ever were, in the order of their requests, and what could not be read."""
    return record.read_leases(snapshot.files(record.FOLDER))


def listing(
    ws: Workspace, store: StateStore, leaser: LockService, *, implicit: bool = False
) -> LeaseListing:
    """All that is leased now, as this clone knows it."""
    snapshot = store.snapshot()
    views = presence.list_agents(ws, store, snapshot)
    limits = ws.settings.dead_after, ws.settings.gone_after
    touches = implicit_leases.list_all(ws.folders) if implicit else []
    logs, problems = read_all(snapshot)
    return LeaseListing(
        held(ws, store, leaser, snapshot, views),
        queue(ws, store, leaser, snapshot, views),
        [
            each
            for each in touches
            if implicit_leases.is_active(ws.folders, each, ws.clock.now(), *limits)
        ],
        problems,
        logs,
    )


def lives_by(views: Sequence[AgentView]) -> Lives:
    """Who lives: an agent that nobody here has heard of yet, and every person."""
    liveness = {view.name: view.liveness for view in views}
    return lambda who: who.is_person or liveness.get(who.name, Liveness.ACTIVE) in LIVING


def held(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    snapshot: Snapshot,
    views: Sequence[AgentView],
) -> list[Hold]:
    """All leases that are held now: the rights first, then the others as they were asked for.

    Where two overlap, because clones had not heard of each other, the first in this list counts.
    """
    logs = read_all(snapshot)[0]
    lives, rights = lives_by(views), known_rights(leaser)
    lapsed = expiry.expired(ws, store, snapshot, logs)
    mine = [log for log in logs if is_active(ws, snapshot, log, lives, rights, lapsed)]
    said = {log.nonce for log in logs}
    bare = [
        as_hold(right)
        for right in rights.values()
        if right.is_taken
        and right.nonce not in said
        and not holder_liveness.is_over(ws, right, leaser.clone)
        and (
            lives(holder_of(right))
            or holder_liveness.holders_of(ws, store, [right])[right.name].lives
        )
    ]
    strict = [hold_of(log, rights) for log in mine if log.request.right]
    ordinary = [log.hold() for log in mine if not log.request.right]
    return [*sorted([*bare, *strict], key=lambda hold: (hold.since, hold.id)), *ordinary]


def is_active(
    ws: Workspace,
    snapshot: Snapshot,
    log: LeaseHistory,
    lives: Lives,
    rights: Mapping[str, Lock],
    lapsed: Container[str],
) -> bool:
    """Whether a lease is held now; `lapsed` are those of other clones whose time is up."""
    return (
        log.is_open
        and log.granted is not None
        and not log.is_over(snapshot.clone, ws.clock.now())
        and log.id not in lapsed
        and lives(log.holder)
        and lock_is_current(log, rights)
    )


def lock_is_current(log: LeaseHistory, rights: Mapping[str, Lock]) -> bool:
    """Whether a strict lease still has its right, by what is known here."""
    right = rights.get(log.request.right)
    return right is None or right.nonce == log.nonce


def known_rights(leaser: LockService) -> dict[str, Lock]:
    """The rights of strict leases as this clone knows them, by name."""
    return {right.name: right for kind in (PATHS, NAMES) for right in leaser.known(kind)}


def holder_of(right: Lock) -> Actor:
    """Who holds a right."""
    return Actor(right.holder or "", right.is_person)


def holder_in(hold: Hold) -> Actor:
    """Who holds a lease."""
    return Actor(hold.holder, hold.is_person)


def as_hold(right: Lock) -> Hold:
    """A right as a lease; its record is not here (yet)."""
    kind, _, word = right.name.partition("/")
    return Hold(
        id=word,
        holder=right.holder or ("nobody, in dispute," if right.is_disputed else ""),
        is_person=right.is_person,
        patterns=right.patterns,
        name=word if f"{kind}/" == NAMES else None,
        since=right.acquired_at,
        until=right.until,
        reason=right.reason,
        strict=True,
        clone=right.clone,
    )


def hold_of(log: LeaseHistory, rights: Mapping[str, Lock]) -> Hold:
    """A lease as it counts, with the clone of who has its right."""
    right = rights.get(log.request.right)
    return log.hold()._replace(clone=right.clone) if right else log.hold()


def queue(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    snapshot: Snapshot,
    views: Sequence[AgentView],
) -> list[Waiter]:
    """Who waits for a lease, in the order in which they get it, and behind whom."""
    logs = read_all(snapshot)[0]
    lives = lives_by(views)
    waiting = [log for log in logs if log.is_waiting and is_still_waiting(ws, snapshot, log, lives)]
    if not waiting:
        return []
    from ghp_agents.leases.coverage import WorktreeFiles

    ground, had = WorktreeFiles(ws), held(ws, store, leaser, snapshot, views)
    found: list[Waiter] = []
    for number, log in enumerate(waiting):
        asked = log.request
        reach = ground.reach(asked.patterns, asked.name)
        before = [*had, *(each.hold() for each in waiting[:number])]
        behind = tuple(hold for hold in before if reach.meets_other(hold, log.holder))
        found.append(
            Waiter(
                log.id, log.holder.name, log.holder.is_person, asked.patterns, asked.name,
                asked.at, asked.reason, behind, bool(asked.right),
            )
        )  # fmt: skip
    return found


def is_still_waiting(ws: Workspace, snapshot: Snapshot, log: LeaseHistory, lives: Lives) -> bool:
    """Whether a waiting request still stands in the queue: its holder lives, and where that can be
    told, in this clone, the process that waits."""
    if not lives(log.holder):
        return False
    return log.request.clone != snapshot.clone or is_waited_for(ws, log.id)


def is_waited_for(ws: Workspace, lease: str) -> bool:
    """Whether a process of this clone waits for the lease."""
    found = [path for path in waiting_places(ws, lease) if path.exists()]
    return any(files.is_locked(path) is not False for path in found)


def waiting_places(ws: Workspace, lease: str) -> list[Path]:
    """Where the file of the process that waits may be, best first."""
    return [Path(folder, WAITING, f"{lease}.lock") for folder in ws.folders]


# ----------------------------------------------------------------------------- giving back


def release(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    words: Sequence[str] = (),
    *,
    name: str | None = None,
    cwd: Path | None = None,
    reason: str = "",
) -> ReleasedLeases:
    """Give leases back: by id (`L-3f9a`), by the patterns that were leased, or by name.

    Its holder may; a person or an orchestrator always; others only if the holder does not live.
    Raises NotFoundError, UsageError, RefusedError, UnknownError for a right of all clones.
    """
    by = ws.actor()
    snapshot = store.snapshot()
    lives = lives_by(presence.list_agents(ws, store, snapshot))
    chosen = _chosen(ws, snapshot, leaser, by, words, name, cwd)
    for hold in chosen:
        right = _right_of(leaser, store, hold) if hold.strict else None
        living = lives(holder_in(hold))
        if right is not None:  # an agent of that name elsewhere may be another
            hold = hold._replace(clone=right.clone)
            living = living or holder_liveness.holders_of(ws, store, [right])[right.name].lives
        _check_release(ws, by, hold, living, leaser.clone)
    for hold in chosen:
        give_back(ws, store, leaser, by, hold, reason)
    return ReleasedLeases(tuple(chosen), by)


def _chosen(
    ws: Workspace,
    snapshot: Snapshot,
    leaser: LockService,
    by: Actor,
    words: Sequence[str],
    name: str | None,
    cwd: Path | None,
) -> list[Hold]:
    logs = [log for log in read_all(snapshot)[0] if log.is_open]
    said = {log.nonce for log in logs}
    rights = known_rights(leaser)
    bare = [x for x in rights.values() if x.is_taken and x.nonce not in said]
    holds = [*(hold_of(log, rights) for log in logs), *map(as_hold, bare)]
    ids = [word for word in words if is_id(word)]
    found = [find(holds, word) for word in ids]
    if name is not None:
        found += select.named(holds, by, record.resource(name))
    patterns = [word for word in words if not is_id(word)]
    if patterns:
        from ghp_agents.leases.coverage import WorktreeFiles

        found += select.leased(holds, by, WorktreeFiles(ws).spelled(patterns, cwd))
    return list({hold.id: hold for hold in found}.values())


def is_id(word: str) -> bool:
    """Whether a word is a lease's id: `L-3f9a`."""
    return word[:2].lower() == "l-" and word[2:].isalnum()


def find(holds: Sequence[Hold], reference: str) -> Hold:
    """The lease whose id is, or begins with, `reference`. Raises NotFoundError, UsageError."""
    prefix = reference.strip().lower().removeprefix("l-")
    found = [hold for hold in holds if prefix and hold.id.startswith(prefix)]
    exact = [hold for hold in found if hold.id == prefix]
    if len(exact or found) == 1:
        return (exact or found)[0]
    said = one_line(reference, 40) or "(nothing)"
    if found:
        names = ", ".join(f"L-{hold.id} ({what(hold.patterns, hold.name)})" for hold in found[:5])
        raise UsageError(f"{said!r} fits {len(found)} leases.", hint=f"Name one by more: {names}")
    raise NotFoundError(f"There is no lease {said}.", hint="`ghp agent-leases` lists them.")


def _log_and_right(store: StateStore, hold: Hold) -> tuple[LeaseHistory | None, str]:
    """The record of a strict lease, if there is one, and the name of its right."""
    log = next((log for log in read_all(store.snapshot())[0] if log.id == hold.id), None)
    return log, (log.request.right if log else "") or f"{NAMES if hold.name else PATHS}{hold.id}"


def _right_of(leaser: LockService, store: StateStore, hold: Hold) -> Lock | None:
    """The right of a strict lease; None if nobody has it. Asks the one place that decides only
    where this clone knows none. Raises UnknownError."""
    _, name = _log_and_right(store, hold)
    known = next((right for right in leaser.known(name) if right.name == name), None)
    right = known or leaser.read(name)
    return right if right is not None and right.holder is not None else None


def _check_release(ws: Workspace, by: Actor, hold: Hold, living: bool, clone: str) -> None:
    if hold.is_of(by.name, by.is_person, clone) or may_direct(ws, by) or not living:
        return
    who = named(hold.holder, hold.is_person)
    raise RefusedError(
        f"{hold.short} ({what(hold.patterns, hold.name)}) is leased by {who} since "
        f"{when(hold.since)}, and {who} lives.",
        hint=f"Ask {who}, or a person: `ghp agent-escalate …`.",
    )


def may_direct(ws: Workspace, who: Actor) -> bool:
    """Whether somebody may direct others: a person, or an orchestrator."""
    return who.is_person or who.name in ws.settings.orchestrators


def give_back(
    ws: Workspace, store: StateStore, leaser: LockService, by: Actor, hold: Hold, reason: str
) -> None:
    """Give one lease back, whoever holds it."""
    if hold.strict:
        _give_right_back(leaser, store, hold, reason)
    end(ws, store, by, {hold.id: reason})


def _give_right_back(leaser: LockService, store: StateStore, hold: Hold, reason: str) -> None:
    """The right first: killed in between, the record is seen to have none, and counts no more."""
    log, name = _log_and_right(store, hold)
    current = leaser.read(name)
    while current and (current.is_disputed or current.holder == hold.holder):
        if log and current.nonce != log.nonce:
            return
        try:
            leaser.release(name, expected=current, reason=reason)
            return
        except LockMovedError as moved:
            current = moved.current


def end(
    ws: Workspace, store: StateStore, by: Actor | None, why: Mapping[str, str]
) -> list[LeaseHistory]:
    """Say of leases, by id, that they have ended; those that have already stay as they are.

    Without a `by` it is said for their holders.
    """

    def decide(snapshot: Snapshot) -> tuple[list[LeaseHistory], list[Record]]:
        open_ones = [log for log in read_all(snapshot)[0] if log.is_open and log.id in why]
        said = [
            ended(ws, snapshot, log, by or log.holder, why[log.id], later)
            for later, log in enumerate(open_ones, 1)
        ]
        return open_ones, said

    return transact(store, decide)


def ended(
    ws: Workspace, snapshot: Snapshot, log: LeaseHistory, by: Actor, why: str, later: int = 1
) -> Record:
    """The record by which a lease ends."""
    at = Timestamp(to_text(ws.clock.now()))
    said = record.follow(log.request, "release", by, at, snapshot.clock + later, snapshot.clone)
    return record.entry(said._replace(reason=one_line(why, record.REASON_LIMIT)), log.request)
