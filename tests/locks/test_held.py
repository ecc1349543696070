"""A lock that is held while its process works: renewed in time, lost with an error, released."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.locks.held import RENEW_EVERY, STUCK_AFTER, HeldLock, is_stuck
from ghp_agents.locks.lock import Lock
from ghp_agents.state.cause import SWEEP, Cause
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import Parts, make_context
from tests.support.twins.locks import Board, MemoryLocks

NAME = "sweeper"
CAUSE = Cause(SWEEP, "lead", "aaaaaaaaaaaa")


def lost(current: Lock | None) -> RefusedError:
    return RefusedError(f"{current.holder if current else 'nobody'} has it", hint="")


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def ctx(repo: Path, board: Board) -> Parts:
    clock = ManualClock()
    ws = open_workspace(repo, os.environ, clock)
    return make_context(ws, locks=MemoryLocks(clock, board))


@pytest.fixture
def held(ctx: Parts) -> HeldLock:
    lock = ctx.locks.acquire(NAME, "lead", expected=None, epoch=3, reason="works", cause=CAUSE)
    return HeldLock(ctx, lock, lost)


def test_it_is_renewed_when_it_is_due_and_not_before(ctx: Parts, held: HeldLock) -> None:
    generations = []
    for seconds in (0.0, RENEW_EVERY - 1, 1.0, RENEW_EVERY - 1):
        ctx.ws.clock.wait(seconds)
        held.renew_if_due()
        generations.append(held.lock.generation)
    assert generations == [1, 1, 2, 2]
    lock = ctx.locks.read(NAME)
    assert lock == held.lock
    assert (lock.holder, lock.epoch, lock.reason, lock.cause) == ("lead", 3, "works", CAUSE)


def test_a_renewal_can_change_the_reason(ctx: Parts, held: HeldLock) -> None:
    held.renew("checks")
    lock = ctx.locks.read(NAME)
    assert lock
    assert (lock.reason, lock.generation) == ("checks", 2)


def test_its_holder_learns_that_another_has_it_and_leaves_it_there(
    ctx: Parts, held: HeldLock
) -> None:
    held.confirm()
    ctx.locks.acquire(NAME, "other", expected=held.lock)
    for go_on in (held.confirm, lambda: held.renew("checks")):
        with pytest.raises(RefusedError, match="other has it"):
            go_on()
    held.release()
    lock = ctx.locks.read(NAME)
    assert lock
    assert lock.holder == "other"


def test_it_is_released_unless_it_is_kept(ctx: Parts, held: HeldLock) -> None:
    held.is_kept = True
    held.release()
    assert ctx.locks.read(NAME) == held.lock
    held.is_kept = False
    held.release("done", CAUSE)
    lock = ctx.locks.read(NAME)
    assert lock
    assert (lock.holder, lock.reason, lock.cause) == (None, "done", CAUSE)


def test_without_the_remote_it_is_left_to_expire(ctx: Parts, held: HeldLock, board: Board) -> None:
    board.reachable = False
    held.release()
    board.reachable = True
    assert ctx.locks.read(NAME) == held.lock


def test_a_holder_is_stuck_when_its_lock_has_not_changed_for_long(
    ctx: Parts, held: HeldLock
) -> None:
    assert not is_stuck(ctx.ws, held.lock)
    ctx.ws.clock.wait(STUCK_AFTER - 1)
    assert not is_stuck(ctx.ws, held.lock)
    ctx.ws.clock.wait(1)
    assert is_stuck(ctx.ws, held.lock)
    assert not is_stuck(ctx.ws, held.lock, STUCK_AFTER + 1)
    held.renew("works")
    assert not is_stuck(ctx.ws, held.lock)
