"""Issue numbers: one at a time over all clones."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import UnknownError
from ghp_agents.core.ids import Timestamp
from ghp_agents.issues.issue import PROVISIONAL
from ghp_agents.issues.numbers import ATTEMPTS, next_number
from ghp_agents.locks.lock import NUMBERS, Lock
from ghp_agents.state.cause import CLAIMED, Cause
from tests.support.clock import ManualClock
from tests.support.twins.locks import Board, MemoryLocks


def test_numbers_count_from_1_and_are_the_generations_of_one_lease() -> None:
    locks = MemoryLocks(ManualClock())
    assert [next_number(locks, "a", reason="for I-1"), next_number(locks, "b")] == [1, 2]
    lease = locks.read(NUMBERS)
    assert lease is not None
    assert (lease.holder, lease.generation) == ("b", 2)


def test_a_lease_that_was_released_counts_on() -> None:
    locks = MemoryLocks(ManualClock())
    next_number(locks, "a")
    lease = locks.read(NUMBERS)
    assert lease is not None
    locks.release(NUMBERS, expected=lease)
    assert next_number(locks, "a") == 2


@given(st.sets(st.integers(1, 20)))
def test_a_number_that_is_used_is_passed_over(used: set[int]) -> None:
    locks = MemoryLocks(ManualClock())
    given_out = [next_number(locks, "a", used) for _ in range(5)]
    assert used.isdisjoint(given_out)
    assert given_out == sorted(set(given_out))


def test_many_at_once_get_one_each() -> None:
    board, clock = Board(), ManualClock()
    with ThreadPoolExecutor(8) as pool:
        given_out = list(pool.map(lambda _: next_number(MemoryLocks(clock, board), "a"), range(40)))
    assert sorted(given_out) == list(range(1, 41))


def test_who_is_always_too_late_is_told_so() -> None:
    class Faster(MemoryLocks):
        tries = 0

        def acquire(
            self,
            name: str,
            holder: str,
            *,
            expected: Lock | None,
            epoch: int = 0,
            reason: str = "",
            patterns: Sequence[str] = (),
            cause: Cause = CLAIMED,
            clone: str | None = None,
            until: Timestamp | None = None,
        ) -> Lock:
            self.tries += 1
            super().acquire(name, "rival", expected=self.read(name))
            return super().acquire(name, holder, expected=expected)

    locks = Faster(ManualClock())
    with pytest.raises(UnknownError, match="Others changed the lock numbers 50 times"):
        next_number(locks, "a")
    assert locks.tries == ATTEMPTS


def test_a_place_that_cannot_be_reached_gives_nothing() -> None:
    board = Board(reachable=False)
    with pytest.raises(UnknownError, match="cannot be reached"):
        next_number(MemoryLocks(ManualClock(), board), "a")
    board.reachable = True
    assert next_number(MemoryLocks(ManualClock(), board), "a") == 1


def test_numbers_never_run_into_the_provisional_ones() -> None:
    board = Board()
    locks = MemoryLocks(ManualClock(), board)
    next_number(locks, "a")
    last = board.leases[NUMBERS]
    board.leases[NUMBERS] = Lock(
        NUMBERS, "a", PROVISIONAL - 1, 0, last.acquired_at, "n", revision="n"
    )
    with pytest.raises(UnknownError) as caught:
        next_number(locks, "a")
    assert str(caught.value) == (
        "No issue can get a number: the lock `numbers` has reached its last generation "
        "(1000000000)."
    )
    assert caught.value.hint.endswith("`git push REMOTE :refs/ghp/lease/numbers`.")
