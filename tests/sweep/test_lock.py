"""The right to sweep: one at a time, taken over from who is dead, and the id that goes with it."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.errors import UnknownError
from ghp_agents.core.ids import Actor, CloneId
from ghp_agents.locks.held import RENEW_EVERY, STUCK_AFTER
from ghp_agents.state import observed
from ghp_agents.sweep.lock import LOOK_EVERY, NAME, BusyError, SweepLock, acquire_lock
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.sweeps import Rival
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryStore

ANN = Actor("Ann", is_person=True)
ONE, OTHER = CloneId("aaaaaaaaaaaa"), CloneId("bbbbbbbbbbbb")


class Place:
    """Clones that sweep, in memory."""

    def __init__(self, repo: Path) -> None:
        self.clock, self.board = ManualClock(), Board()
        self.ws = open_workspace(repo, os.environ, self.clock)
        self.store = MemoryStore(self.clock)

    @property
    def locks(self) -> MemoryLocks:
        return MemoryLocks(self.clock, self.board)

    def acquire_lock(self, clone: CloneId = ONE, *, fresh: bool = True) -> SweepLock:
        return acquire_lock(
            make_context(self.ws, self.store, self.locks), ANN, clone if fresh else None
        )


@pytest.fixture
def place(repo: Path) -> Place:
    return Place(repo)


def test_the_first_fresh_clone_gives_its_id_to_all_that_come_after(place: Place) -> None:
    first = place.acquire_lock(ONE)
    assert first.clone == ONE
    first.end()
    second = place.acquire_lock(OTHER)
    assert second.clone == ONE
    second.end()
    lease = place.locks.read(NAME)
    assert lease
    assert (lease.holder, lease.generation, lease.reason) == (None, 2, f"clone {ONE}")


def test_a_clone_with_a_life_of_its_own_leaves_the_id_as_it_is(place: Place) -> None:
    own = place.acquire_lock(OTHER, fresh=False)
    assert own.clone is None
    own.end()
    place.acquire_lock(ONE).end()
    own = place.acquire_lock(OTHER, fresh=False)
    assert own.clone == ONE
    own.end()
    assert place.acquire_lock(OTHER).clone == ONE


def test_who_comes_while_another_sweeps_waits_for_its_end(place: Place) -> None:
    first = place.acquire_lock()
    begun = place.clock.now()
    waits: list[float] = []

    class Watch(ManualClock):
        def wait(self, seconds: float) -> None:
            super().wait(seconds)
            waits.append(seconds)
            if len(waits) == 3:
                first.end()

    ws = open_workspace(place.ws.folder, os.environ, Watch(begun))
    second = acquire_lock(make_context(ws, place.store, place.locks), ANN, OTHER)
    assert waits == [LOOK_EVERY] * 3
    assert second.clone == ONE


def test_a_right_that_does_not_move_for_long_is_taken_over_and_its_holder_stopped(
    place: Place,
) -> None:
    dead = place.acquire_lock()
    begun = place.clock.now()
    taken = place.acquire_lock(OTHER)
    assert place.clock.now() - begun == STUCK_AFTER
    with pytest.raises(BusyError):
        dead.renew_if_due()
    dead.end()
    taken.renew_if_due()
    lease = place.locks.read(NAME)
    assert lease
    assert lease.holder == "Ann"


def test_it_is_taken_over_as_late_as_that_where_nothing_can_be_noted(place: Place) -> None:
    (place.ws.cache_dir / observed.CLAIMS).mkdir(parents=True)
    place.acquire_lock()
    begun = place.clock.now()
    assert place.acquire_lock(OTHER).lock.generation == 2
    assert place.clock.now() - begun == STUCK_AFTER


def test_who_sweeps_for_long_keeps_its_right_and_the_other_goes_away(place: Place) -> None:
    first = place.acquire_lock()
    begun = place.clock.now()

    class Busy(ManualClock):
        def wait(self, seconds: float) -> None:
            super().wait(seconds)
            place.clock.wait(seconds)
            first.renew_if_due()

    ws = open_workspace(place.ws.folder, os.environ, Busy(begun))
    with pytest.raises(BusyError) as caught:
        acquire_lock(make_context(ws, place.store, place.locks), ANN, OTHER)
    assert str(caught.value) == "«Ann» (a person) is sweeping now (generation 2)."
    assert place.clock.now() - begun == RENEW_EVERY


def test_of_two_that_come_at_once_one_waits(place: Place) -> None:
    place.acquire_lock().end()
    rival: list[SweepLock] = []
    locks = Rival(place.locks, "acquire", lambda: rival.append(place.acquire_lock(OTHER)))
    begun = place.clock.now()
    mine = acquire_lock(make_context(place.ws, place.store, locks), ANN, ONE)
    assert place.clock.now() - begun == STUCK_AFTER
    place.clock.wait(RENEW_EVERY)
    with pytest.raises(BusyError):
        rival[0].renew_if_due()
    assert mine.clone == ONE


def test_where_nobody_can_tell_nobody_sweeps(place: Place) -> None:
    place.board.reachable = False
    with pytest.raises(UnknownError):
        place.acquire_lock()
    place.board.reachable = True
    turn = place.acquire_lock()
    place.board.reachable = False
    turn.end()  # the next one waits, and takes over
