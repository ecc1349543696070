"""Acquire a lease: record it if there is no conflict, else report the conflicts."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ghp_agents.claims import holder_liveness
from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath.quoting import path_word
from ghp_agents.leases import request, second_look, strict
from ghp_agents.leases import service as leases
from ghp_agents.leases.decide import Attempt, DecisionInput, decide, edits, until_of
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.request import (
    Approve,
    CheckedRequest,
    Conflict,
    LeaseRequest,
    conflict_with,
    prepare,
)
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact


class LeaseResult(NamedTuple):
    """A lease that is held now."""

    hold: Hold
    is_new: bool
    covered: tuple[str, ...]  # files here


class HeldError(RefusedError):
    """There are conflicts; `obstacles` has all of them."""

    def __init__(self, plan: CheckedRequest, obstacles: Sequence[Conflict]) -> None:
        self.obstacles = tuple(obstacles)
        more = len(obstacles) - 1
        others = f" {more} more conflict{'s' if more > 1 else ''}." if more else ""
        wanted = f"--file {path_word(obstacles[0].place)}" if _is_one_file(plan, obstacles) else "…"
        super().__init__(
            f"{obstacles[0].words}.{others}",
            hint=second_look.HINT
            if obstacles[0].kind == "doubted"
            else f"Work on something else, wait with `ghp agent-lease {plan.words} --wait`, or "
            f"ask: `ghp agent-escalate {wanted}`.",
        )


def _is_one_file(plan: CheckedRequest, obstacles: Sequence[Conflict]) -> bool:
    """Whether one file was asked for, by its path, and one agent is in the way: an answer to a
    question can free it."""
    place = obstacles[0].place
    is_file = plan.wanted.typed == (place,) and path_word(place) == place and place[-1:] != "/"
    return is_file and len(obstacles) == 1 and obstacles[0].kind in ("held", "editing", "changed")


def acquire(ctx: Context, approve: Approve, wanted: LeaseRequest) -> LeaseResult:
    """Acquire a lease, or raise RefusedError with its holder and the next step.

    A lease that is already held stays; with a TTL, the TTL starts again now. Shared paths need
    approval, which `approve` requests. Raises UnknownError if a strict lease cannot be decided.
    """
    plan = prepare(ctx, wanted)
    if not holds_already(ctx, plan):
        plan = approve(plan)
    tried = attempt(ctx, plan)
    if tried.log is None:
        raise HeldError(plan, tried.obstacles)
    return leased(plan, tried)


def leased(plan: CheckedRequest, tried: Attempt) -> LeaseResult:
    """The result of an attempt that succeeded."""
    assert tried.log is not None
    return LeaseResult(tried.log.hold(), tried.is_new, tuple(plan.reach.covered))


def holds_already(ctx: Context, plan: CheckedRequest) -> bool:
    """Whether the lease is already held; then it needs no new approval."""
    world = LeaseWorld(ctx)
    mine = [log for log in world.logs if plan.is_same(log)]
    return not plan.is_elsewhere(world.strict_locks) and any(map(world.is_active, mine))


def attempt(ctx: Context, plan: CheckedRequest, *, in_line: bool = False) -> Attempt:
    """Try once; the result has the conflicts. With `in_line` the request then joins the queue.

    Edits by others are files, a lease is a commit. Each side writes before it looks for the other,
    so this looks for edits before and after the lease is recorded. Raises UnknownError.
    """
    if plan.lock_name and holds_already(ctx, plan):
        ctx.locks.read(plan.lock_name)  # refreshes what this clone knows
    case = DecisionInput(ctx, plan, in_line=in_line)
    tried = transact(ctx.store, partial(_decide, case))
    if tried.log is None and not tried.obstacles:
        tried = _with_lock(case)._replace(asked_remote=True)
    if tried.log is None or not tried.is_new:
        return tried
    edited = edits(ctx.ws, plan)
    if not edited:
        return tried
    hold = tried.log.hold()
    leases.give_back(ctx, plan.by, hold, f"{edited[0].holder} edits it")
    return Attempt(obstacles=tuple(edited), spent=True)


def _decide(case: DecisionInput, snapshot: Snapshot) -> tuple[Attempt, list[Record]]:
    """Decide. The requester is registered before its request is recorded, and not if refused."""
    tried, records = decide(case, snapshot)
    if records:
        request.begin(case.ctx, case.plan)
    return tried, records


def _with_lock(case: DecisionInput) -> Attempt:
    """The attempt for a strict lease, after its lock, which other clones see at once."""
    store, plan = case.ctx.store, case.plan
    _end_expired(case)
    who = strict.Asker(
        plan.holder, plan.epoch, plan.clone, plan.reach, plan.wanted.reason, until_of(case),
        _expired_locks(case),
    )  # fmt: skip
    try:
        lock = strict.take_lock(case.ctx, who)
    except strict.RivalError as error:
        rival = (conflict_with(plan, error.hold, error.kind),)
        return transact(store, partial(_decide, case._replace(elsewhere=rival)))
    tried = transact(store, partial(_decide, case._replace(lock=lock)))
    if tried.log is None:
        strict.give_back(case.ctx.locks, lock, "another was first in its clone")
    return tried


def _expired_locks(case: DecisionInput) -> frozenset[str]:
    """The nonces of expired locks of others: by their clones' records or, where these have not
    arrived, by the locks themselves."""
    world = LeaseWorld(case.ctx)
    logs = [log for log in world.logs if log.request.right]
    recorded = {log.nonce for log in logs}
    bare = {
        lock.nonce
        for lock in world.strict_locks.values()
        if lock.nonce not in recorded
        and holder_liveness.is_over(world.ws, lock, case.ctx.locks.clone)
    }
    return frozenset(log.nonce for log in logs if log.id in world.expired) | bare


def _end_expired(case: DecisionInput) -> None:
    """Release conflicting locks that this clone granted and that have expired by its clock. No
    other clone can know that, and the next sync may be far off."""
    world = LeaseWorld(case.ctx)
    logs = [log for log in world.logs if log.is_open and log.request.right]
    over = [log for log in logs if log.is_over(world.snapshot.clone, world.now)]
    kept = {log.nonce for log in logs if log not in over}
    for log in over:
        if log.nonce not in kept and case.plan.reach.meets_other(log.hold(), case.plan.holder):
            leases.give_back(case.ctx, case.plan.by, log.hold(), "its time was up")
