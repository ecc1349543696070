"""The one loop for decisions about a lock: decide, swap, and again if somebody was faster."""

import ast

import pytest

from ghp_agents.core.errors import UnknownError
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.locks.swap import ATTEMPTS, LockView, current_view, known_lock, known_view, swap
from tests.support.clock import ManualClock
from tests.support.house import sources
from tests.support.sweeps import Rival
from tests.support.twins.locks import Board, MemoryLocks

NAME = "issue/12"


class Clone:
    """A lock service that counts how often it asks the deciding place."""

    def __init__(self, board: Board) -> None:
        self.locks, self.looks = MemoryLocks(ManualClock(), board), list[str | None]()

    def take(self, seen: LockView) -> Lock:
        """Decide: acquire the lock, whoever holds it."""
        self.looks.append(seen.lock.holder if seen.lock else None)
        return self.locks.acquire(NAME, "me", expected=seen.lock)


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def here(board: Board) -> Clone:
    return Clone(board)


@pytest.fixture
def rival(board: Board) -> MemoryLocks:
    return MemoryLocks(ManualClock(), board)


def test_a_decision_is_made_once_if_nobody_is_faster(here: Clone) -> None:
    assert swap(current_view(here.locks, NAME), here.take).generation == 1
    assert here.looks == [None]


def test_it_is_made_again_on_the_lock_that_the_faster_one_left(
    here: Clone, rival: MemoryLocks
) -> None:
    seen = current_view(here.locks, NAME)
    rival.acquire(NAME, "rival", expected=None)
    assert swap(seen, here.take).generation == 2
    assert here.looks == [None, "rival"]


def test_what_is_known_is_enough_to_swap_and_outdated_knowledge_loses(
    here: Clone, rival: MemoryLocks
) -> None:
    held = here.locks.acquire(NAME, "me", expected=None)
    assert known_lock(here.locks, NAME) == held
    rival.release(NAME, expected=held)
    assert known_lock(here.locks, NAME) == held
    assert swap(known_view(here.locks, NAME), here.take).generation == 2
    assert here.looks == ["me", None]


def test_a_result_without_a_swap_is_confirmed_first(here: Clone, rival: MemoryLocks) -> None:
    held = here.locks.acquire(NAME, "me", expected=None)
    looks: list[Lock | None] = []

    def decide(seen: LockView) -> str:
        looks.append(seen.lock)
        seen.confirm()
        return seen.lock.holder or "nobody" if seen.lock else "nobody"

    assert swap(known_view(here.locks, NAME), decide) == "me"
    rival.acquire(NAME, "rival", expected=held)
    assert swap(known_view(here.locks, NAME), decide) == "rival"
    assert [lock.holder if lock else None for lock in looks] == ["me", "me", "rival"]


def test_a_confirmed_look_asks_no_more(here: Clone, board: Board) -> None:
    seen = current_view(here.locks, NAME)
    board.reachable = False
    seen.confirm()
    with pytest.raises(UnknownError):
        known_view(here.locks, NAME).confirm()


def test_one_that_is_always_too_late_gives_up_and_says_so(here: Clone, rival: MemoryLocks) -> None:
    def decide(seen: LockView) -> Lock:
        before = rival.read(NAME)
        rival.acquire(NAME, "rival", expected=before)
        return here.take(seen)

    with pytest.raises(UnknownError) as caught:
        swap(current_view(here.locks, NAME), decide, hint="The next sync tries again.")
    assert len(here.looks) == ATTEMPTS
    assert str(caught.value) == (
        f"Others changed the lock issue/12 {ATTEMPTS} times while this command tried to."
    )
    assert caught.value.hint == "The next sync tries again."


def test_a_rival_within_the_last_attempt_is_still_seen(here: Clone, rival: MemoryLocks) -> None:
    locks = Rival(here.locks, "acquire", lambda: rival.acquire(NAME, "rival", expected=None))
    here.locks = locks  # type: ignore[assignment]
    with pytest.raises(UnknownError):
        swap(current_view(here.locks, NAME), here.take, attempts=1)
    with pytest.raises(LockMovedError):
        here.take(LockView(here.locks, NAME, None, is_sure=True))
    assert swap(current_view(here.locks, NAME), here.take, attempts=1).generation == 2


# It moves each of many leases once, and leaves those that have changed.
NO_RETRY = {"ghp_agents/leases/transfer.py"}


def test_no_other_module_has_a_loop_of_its_own() -> None:
    loops = {
        source.path
        for source in sources("ghp_agents", suffix=".py")
        if "except LockMovedError" in source.text
        for loop in ast.walk(ast.parse(source.text))
        if isinstance(loop, ast.For | ast.While)
        for caught in ast.walk(loop)
        if isinstance(caught, ast.ExceptHandler) and "LockMovedError" in ast.unparse(caught)
    }
    assert loops == {"ghp_agents/locks/swap.py"} | NO_RETRY, "Use `locks.swap.swap`."
