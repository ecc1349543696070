"""Leases in force: list holders and waiters, and release leases."""

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
from ghp_agents.ports import Context, LockService, Snapshot, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.join import Problem
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace

PATHS, NAMES = "path/", "name/"  # the kinds of locks of strict leases
LIVING = (Liveness.ACTIVE, Liveness.STALE)
WAITING = "waiting"  # a folder with one locked file for each waiting process of this clone

Lives = Callable[[Actor], bool]


class LeaseListing(NamedTuple):
    """All leases, waiters and edits."""

    held: list[Hold]
    waiting: list[Waiter]
    edits: list[implicit_leases.ImplicitLease]  # implicit leases of this clone
    problems: list[Problem]  # what could not be read
    logs: list[LeaseHistory]  # the records of all leases


class ReleasedLeases(NamedTuple):
    """The released leases, and who released them."""

    holds: tuple[Hold, ...]
    by: Actor


# -------------------------------------------------------------------------------- reading


def read_all(snapshot: Snapshot) -> tuple[list[LeaseHistory], list[Problem]]:
    """All leases, also ended ones, in the order of their requests, and unreadable records."""
    return record.read_leases(snapshot.files(record.FOLDER))


def listing(ctx: Context, *, implicit: bool = False) -> LeaseListing:
    """All leases in force, as far as this clone knows."""
    snapshot = ctx.store.snapshot()
    views = presence.list_agents(ctx, snapshot)
    limits = ctx.ws.settings.dead_after, ctx.ws.settings.gone_after
    touches = implicit_leases.list_all(ctx.ws.folders) if implicit else []
    logs, problems = read_all(snapshot)
    return LeaseListing(
        held(ctx, snapshot, views),
        queue(ctx, snapshot, views),
        [
            touch
            for touch in touches
            if implicit_leases.is_active(ctx.ws.folders, touch, ctx.ws.clock.now(), *limits)
        ],
        problems,
        logs,
    )


def lives_by(views: Sequence[AgentView]) -> Lives:
    """Whether an actor is alive. People, and agents unknown here, count as alive."""
    liveness = {view.name: view.liveness for view in views}
    return lambda who: who.is_person or liveness.get(who.name, Liveness.ACTIVE) in LIVING


def held(ctx: Context, snapshot: Snapshot, views: Sequence[AgentView]) -> list[Hold]:
    """All leases that are held now: strict ones first, then the others by request order.

    If two overlap, because their clones had not synced, the first in this list counts.
    """
    logs = read_all(snapshot)[0]
    lives, rights = lives_by(views), known_rights(ctx.leaser)
    expired = expiry.expired(ctx, snapshot, logs)
    mine = [log for log in logs if is_active(ctx.ws, snapshot, log, lives, rights, expired)]
    recorded = {log.nonce for log in logs}
    bare = [
        as_hold(right)
        for right in rights.values()
        if right.is_taken
        and right.nonce not in recorded
        and not holder_liveness.is_over(ctx.ws, right, ctx.leaser.clone)
        and (lives(holder_of(right)) or holder_liveness.holders_of(ctx, [right])[right.name].lives)
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
    expired: Container[str],
) -> bool:
    """Whether a lease is held now; `expired` are the expired leases of other clones."""
    return (
        log.is_open
        and log.granted is not None
        and not log.is_over(snapshot.clone, ws.clock.now())
        and log.id not in expired
        and lives(log.holder)
        and lock_is_current(log, rights)
    )


def lock_is_current(log: LeaseHistory, rights: Mapping[str, Lock]) -> bool:
    """Whether a strict lease still has its lock, as far as known here."""
    right = rights.get(log.request.right)
    return right is None or right.nonce == log.nonce


def known_rights(leaser: LockService) -> dict[str, Lock]:
    """The locks of strict leases that this clone knows, by name."""
    return {right.name: right for kind in (PATHS, NAMES) for right in leaser.known(kind)}


def holder_of(right: Lock) -> Actor:
    """The holder of a lock."""
    return Actor(right.holder or "", right.is_person)


def holder_in(hold: Hold) -> Actor:
    """The holder of a lease."""
    return Actor(hold.holder, hold.is_person)


def as_hold(right: Lock) -> Hold:
    """A lock as a lease, if its record is not here (yet)."""
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
    """A lease as a hold, with the clone of its lock's holder."""
    right = rights.get(log.request.right)
    return log.hold()._replace(clone=right.clone) if right else log.hold()


def queue(ctx: Context, snapshot: Snapshot, views: Sequence[AgentView]) -> list[Waiter]:
    """The waiting requests in queue order, each with the leases and requests before it."""
    logs = read_all(snapshot)[0]
    lives = lives_by(views)
    waiting = [
        log for log in logs if log.is_waiting and is_still_waiting(ctx.ws, snapshot, log, lives)
    ]
    if not waiting:
        return []
    from ghp_agents.leases.coverage import WorktreeFiles

    worktree_files, holds = WorktreeFiles(ctx.ws), held(ctx, snapshot, views)
    waiters: list[Waiter] = []
    for number, log in enumerate(waiting):
        request = log.request
        reach = worktree_files.reach(request.patterns, request.name)
        before = [*holds, *(earlier.hold() for earlier in waiting[:number])]
        behind = tuple(hold for hold in before if reach.meets_other(hold, log.holder))
        waiters.append(
            Waiter(
                log.id, log.holder.name, log.holder.is_person, request.patterns, request.name,
                request.at, request.reason, behind, bool(request.right),
            )
        )  # fmt: skip
    return waiters


def is_still_waiting(ws: Workspace, snapshot: Snapshot, log: LeaseHistory, lives: Lives) -> bool:
    """Whether a request is still in the queue: its holder is alive and, in this clone, so is the
    waiting process."""
    if not lives(log.holder):
        return False
    return log.request.clone != snapshot.clone or is_waited_for(ws, log.id)


def is_waited_for(ws: Workspace, lease: str) -> bool:
    """Whether a process of this clone waits for the lease."""
    paths = [path for path in waiting_places(ws, lease) if path.exists()]
    return any(files.is_locked(path) is not False for path in paths)


def waiting_places(ws: Workspace, lease: str) -> list[Path]:
    """Possible paths of the waiting process's file, best first."""
    return [Path(folder, WAITING, f"{lease}.lock") for folder in ws.folders]


# ----------------------------------------------------------------------------- releasing


def release(
    ctx: Context,
    words: Sequence[str] = (),
    *,
    name: str | None = None,
    cwd: Path | None = None,
    reason: str = "",
) -> ReleasedLeases:
    """Release leases by id (`L-3f9a`), by the leased patterns, or by name.

    Allowed to the holder, to people and to orchestrators; to others only if the holder is dead.
    Raises NotFoundError, UsageError, RefusedError, and UnknownError for a strict lease.
    """
    by = ctx.ws.actor()
    snapshot = ctx.store.snapshot()
    lives = lives_by(presence.list_agents(ctx, snapshot))
    chosen = _chosen(ctx, snapshot, by, words, name, cwd)
    for hold in chosen:
        right = _right_of(ctx, hold) if hold.strict else None
        living = lives(holder_in(hold))
        if right is not None:  # an agent of that name elsewhere may be another
            hold = hold._replace(clone=right.clone)
            living = living or holder_liveness.holders_of(ctx, [right])[right.name].lives
        _check_release(ctx.ws, by, hold, living, ctx.leaser.clone)
    for hold in chosen:
        give_back(ctx, by, hold, reason)
    return ReleasedLeases(tuple(chosen), by)


def _chosen(
    ctx: Context,
    snapshot: Snapshot,
    by: Actor,
    words: Sequence[str],
    name: str | None,
    cwd: Path | None,
) -> list[Hold]:
    logs = [log for log in read_all(snapshot)[0] if log.is_open]
    recorded = {log.nonce for log in logs}
    rights = known_rights(ctx.leaser)
    bare = [x for x in rights.values() if x.is_taken and x.nonce not in recorded]
    holds = [*(hold_of(log, rights) for log in logs), *map(as_hold, bare)]
    ids = [word for word in words if is_id(word)]
    chosen = [find(holds, word) for word in ids]
    if name is not None:
        chosen += select.named(holds, by, record.resource(name))
    patterns = [word for word in words if not is_id(word)]
    if patterns:
        from ghp_agents.leases.coverage import WorktreeFiles

        chosen += select.leased(holds, by, WorktreeFiles(ctx.ws).spelled(patterns, cwd))
    return list({hold.id: hold for hold in chosen}.values())


def is_id(word: str) -> bool:
    """Whether a word is a lease's id: `L-3f9a`."""
    return word[:2].lower() == "l-" and word[2:].isalnum()


def find(holds: Sequence[Hold], reference: str) -> Hold:
    """The lease whose id begins with `reference`. Raises NotFoundError, UsageError."""
    prefix = reference.strip().lower().removeprefix("l-")
    matches = [hold for hold in holds if prefix and hold.id.startswith(prefix)]
    exact = [hold for hold in matches if hold.id == prefix]
    if len(exact or matches) == 1:
        return (exact or matches)[0]
    shown = one_line(reference, 40) or "(nothing)"
    if matches:
        names = ", ".join(f"L-{hold.id} ({what(hold.patterns, hold.name)})" for hold in matches[:5])
        raise UsageError(
            f"{shown!r} fits {len(matches)} leases.", hint=f"Name one by more: {names}"
        )
    raise NotFoundError(f"There is no lease {shown}.", hint="`ghp agent-leases` lists them.")


def _log_and_right(store: StateStore, hold: Hold) -> tuple[LeaseHistory | None, str]:
    """The record of a strict lease, if there is one, and the name of its lock."""
    log = next((log for log in read_all(store.snapshot())[0] if log.id == hold.id), None)
    return log, (log.request.right if log else "") or f"{NAMES if hold.name else PATHS}{hold.id}"


def _right_of(ctx: Context, hold: Hold) -> Lock | None:
    """The lock of a strict lease; None if nobody holds it. Asks the remote only if this clone
    knows no such lock. Raises UnknownError."""
    _, name = _log_and_right(ctx.store, hold)
    known = next((right for right in ctx.leaser.known(name) if right.name == name), None)
    right = known or ctx.leaser.read(name)
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
    """Whether an actor may direct others: a person or an orchestrator."""
    return who.is_person or who.name in ws.settings.orchestrators


def give_back(ctx: Context, by: Actor, hold: Hold, reason: str) -> None:
    """Release one lease of any holder."""
    if hold.strict:
        _give_right_back(ctx, hold, reason)
    end(ctx, by, {hold.id: reason})


def _give_right_back(ctx: Context, hold: Hold, reason: str) -> None:
    """Release the lock first: if killed in between, the record has no lock and does not count."""
    log, name = _log_and_right(ctx.store, hold)
    current = ctx.leaser.read(name)
    while current and (current.is_disputed or current.holder == hold.holder):
        if log and current.nonce != log.nonce:
            return
        try:
            ctx.leaser.release(name, expected=current, reason=reason)
            return
        except LockMovedError as moved:
            current = moved.current


def end(ctx: Context, by: Actor | None, why: Mapping[str, str]) -> list[LeaseHistory]:
    """Record the end of leases, by id, with the reasons; ended ones stay as they are.

    Without `by`, the holders are the authors.
    """

    def decide(snapshot: Snapshot) -> tuple[list[LeaseHistory], list[Record]]:
        open_ones = [log for log in read_all(snapshot)[0] if log.is_open and log.id in why]
        records = [
            ended(ctx.ws, snapshot, log, by or log.holder, why[log.id], later)
            for later, log in enumerate(open_ones, 1)
        ]
        return open_ones, records

    return transact(ctx.store, decide)


def ended(
    ws: Workspace, snapshot: Snapshot, log: LeaseHistory, by: Actor, why: str, later: int = 1
) -> Record:
    """The record of a lease's end."""
    at = Timestamp(to_text(ws.clock.now()))
    event = record.follow(log.request, "release", by, at, snapshot.clock + later, snapshot.clone)
    return record.entry(event._replace(reason=one_line(why, record.REASON_LIMIT)), log.request)
