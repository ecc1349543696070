"""Leases in force: list holders and waiters, and release leases."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, Timestamp, one_line, only_match
from ghp_agents.hotpath import implicit_leases
from ghp_agents.hotpath.quoting import named, when
from ghp_agents.leases import record, select
from ghp_agents.leases.hold import Hold, Waiter
from ghp_agents.leases.record import LeaseHistory, what
from ghp_agents.leases.world import NAMES, PATHS, LeaseWorld, as_hold, read_all
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.swap import LockView, current_view, known_lock, swap
from ghp_agents.ports import Context, Snapshot, StateStore
from ghp_agents.settings import rights
from ghp_agents.state.record import Problem, Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace

WAITING = "waiting"  # a folder with one locked file for each waiting process of this clone


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


def listing(ctx: Context, *, implicit: bool = False, at: float | None = None) -> LeaseListing:
    """All leases in force, now or at a time, as far as this clone knows."""
    world = LeaseWorld(ctx, at=at)
    limits = ctx.ws.settings.dead_after, ctx.ws.settings.gone_after
    touches = implicit_leases.list_all(ctx.ws.folders) if implicit else []
    edits = [x for x in touches if implicit_leases.is_active(ctx.ws.folders, x, world.now, *limits)]
    return LeaseListing(world.holds, queue(world), edits, world.problems, world.logs)


def left_over(ctx: Context, agent: str) -> list[Hold]:
    """The leases of an agent that holds no issue any more."""
    if ctx.world.held_by(Actor(agent)):
        return []
    return [hold for hold in listing(ctx).held if (hold.holder, hold.is_person) == (agent, False)]


def queue(world: LeaseWorld) -> list[Waiter]:
    """The waiting requests in queue order, each with the leases and requests before it."""
    waiting = [log for log in world.logs if log.is_waiting and is_still_waiting(world, log)]
    if not waiting:
        return []
    from ghp_agents.leases.coverage import WorktreeFiles

    worktree_files = WorktreeFiles(world.ws)
    waiters: list[Waiter] = []
    for number, log in enumerate(waiting):
        reach = worktree_files.reach(log.request.patterns, log.request.name)
        before = [*world.holds, *(earlier.hold() for earlier in waiting[:number])]
        behind = tuple(hold for hold in before if reach.meets_other(hold, log.holder))
        waiters.append(Waiter(log.hold(), behind))
    return waiters


def is_still_waiting(world: LeaseWorld, log: LeaseHistory) -> bool:
    """Whether a request is still in the queue: its holder is alive and, in this clone, so is the
    waiting process."""
    if not world.lives(log.holder):
        return False
    is_seen = not world.is_past and log.request.clone == world.snapshot.clone
    return not is_seen or is_waited_for(world.ws, log.id)


def is_waited_for(ws: Workspace, lease: str) -> bool:
    """Whether a process of this clone waits for the lease."""
    paths = [path for path in waiting_places(ws, lease) if path.exists()]
    return any(files.is_locked(path) is not False for path in paths)


def waiting_places(ws: Workspace, lease: str) -> list[Path]:
    """Possible paths of the waiting process's file, best first."""
    return [Path(folder, WAITING, f"{lease}.lock") for folder in ws.folders]


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
    chosen = to_release(ctx, words, name=name, cwd=cwd)
    for hold in chosen:
        give_back(ctx, by, hold, reason)
    return ReleasedLeases(tuple(chosen), by)


def to_release(
    ctx: Context,
    words: Sequence[str] = (),
    *,
    name: str | None = None,
    cwd: Path | None = None,
) -> list[Hold]:
    """The leases that `release` would release; changes nothing. Raises as `release`."""
    by = ctx.ws.actor()
    world = LeaseWorld(ctx)
    chosen = _chosen(world, by, words, name, cwd)
    for hold in chosen:
        lock = _lock_of(ctx, hold) if hold.strict else None
        living = world.lives(Actor(hold.holder, hold.is_person))
        if lock is not None:  # an agent of that name elsewhere may be another
            hold = hold._replace(clone=lock.clone)
            living = living or world.holder(lock).lives
        _check_release(ctx.ws, by, hold, living, ctx.locks.clone)
    return chosen


def _chosen(
    world: LeaseWorld, by: Actor, words: Sequence[str], name: str | None, cwd: Path | None
) -> list[Hold]:
    logs = [log for log in world.logs if log.is_open]
    recorded = {log.nonce for log in logs}
    bare = [x for x in world.strict_locks.values() if x.is_taken and x.nonce not in recorded]
    holds = [*map(world.hold_of, logs), *map(as_hold, bare)]
    ids = [word for word in words if is_id(word)]
    chosen = [find(holds, word) for word in ids]
    if name is not None:
        chosen += select.named(holds, by, record.resource(name))
    patterns = [word for word in words if not is_id(word)]
    if patterns:
        from ghp_agents.leases.coverage import WorktreeFiles

        chosen += select.leased(holds, by, WorktreeFiles(world.ws).spelled(patterns, cwd))
    return list({hold.id: hold for hold in chosen}.values())


def is_id(word: str) -> bool:
    """Whether a word is a lease's id: `L-3f9a`."""
    return word[:2].lower() == "l-" and word[2:].isalnum()


def find(holds: Sequence[Hold], reference: str) -> Hold:
    """The lease whose id begins with `reference`. Raises NotFoundError, UsageError."""
    prefix = reference.strip().lower().removeprefix("l-")
    matches = [hold for hold in holds if prefix and hold.id.startswith(prefix)]
    exact = [hold for hold in matches if hold.id == prefix]
    return only_match(
        exact or matches,
        reference,
        "lease",
        lambda hold: f"L-{hold.id} ({what(hold.patterns, hold.name)})",
        "`ghp agent-leases` lists them.",
    )


def _log_and_lock_name(store: StateStore, hold: Hold) -> tuple[LeaseHistory | None, str]:
    """The record of a strict lease, if there is one, and the name of its lock."""
    log = next((log for log in read_all(store.snapshot())[0] if log.id == hold.id), None)
    return log, (log.request.right if log else "") or f"{NAMES if hold.name else PATHS}{hold.id}"


def _lock_of(ctx: Context, hold: Hold) -> Lock | None:
    """The lock of a strict lease; None if nobody holds it. Asks the remote only if this clone
    knows no such lock. Raises UnknownError."""
    _, name = _log_and_lock_name(ctx.store, hold)
    lock = known_lock(ctx.locks, name) or ctx.locks.read(name)
    return lock if lock is not None and lock.holder is not None else None


def _check_release(ws: Workspace, by: Actor, hold: Hold, living: bool, clone: str) -> None:
    is_mine = hold.is_of(by.name, by.is_person, clone)
    if rights.may_release(by, ws.settings.orchestrators, is_mine=is_mine, lives=living):
        return
    who = named(hold.holder, hold.is_person)
    raise RefusedError(
        f"{hold.short} ({what(hold.patterns, hold.name)}) is leased by {who} since "
        f"{when(hold.since)}, and {who} is still running.",
        hint=f"Ask {who}, or a person: `ghp agent-escalate …`.",
    )


def give_back(ctx: Context, by: Actor, hold: Hold, reason: str) -> None:
    """Release one lease of any holder."""
    if hold.strict:
        release_lock(ctx, hold, reason)
    end(ctx, by, {hold.id: reason})


def release_lock(ctx: Context, hold: Hold, reason: str) -> None:
    """Release the lock first: if killed in between, the record has no lock and does not count."""
    log, name = _log_and_lock_name(ctx.store, hold)

    def decide(seen: LockView) -> None:
        current = seen.lock
        is_held = current and (current.is_disputed or current.holder == hold.holder)
        if current and is_held and not (log and current.nonce != log.nonce):
            ctx.locks.release(name, expected=current, reason=reason)

    swap(current_view(ctx.locks, name), decide)


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
