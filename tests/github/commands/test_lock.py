"""The right to obey: one clone at a time, and of who was killed it is taken over."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import UnknownError
from ghp_agents.github.commands.lock import NAME, turn
from ghp_agents.state import observed
from tests.support.context import make_context
from tests.support.escalations import Place, make_place
from tests.support.twins.locks import Board, MemoryLocks


@pytest.fixture
def here(repo: Path) -> Place:
    return make_place(repo)


def is_mine(here: Place, locks: MemoryLocks) -> bool:
    with turn(make_context(here.ws, locks=locks)) as mine:
        return mine is not None


def test_the_right_is_given_back_whatever_happens(here: Place) -> None:
    locks = MemoryLocks(here.clock, Board())

    def interrupted() -> None:
        with turn(make_context(here.ws, locks=locks)) as mine:
            assert mine
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    lease = locks.read(NAME)
    assert lease
    assert (lease.holder, lease.generation) == (None, 1)
    assert is_mine(here, locks)


def test_who_has_not_sent_what_it_did_keeps_the_right_and_goes_on_later(here: Place) -> None:
    locks = MemoryLocks(here.clock, Board())
    with turn(make_context(here.ws, locks=locks)) as mine:
        assert mine
        mine.is_kept = True
    assert not is_mine(here, locks)
    here.clock.wait(121)
    assert is_mine(here, locks)


def test_a_right_that_moves_is_left_to_who_moves_it(here: Place) -> None:
    locks = MemoryLocks(here.clock, Board())
    for _ in range(3):
        held = locks.acquire(NAME, "Bob", expected=locks.read(NAME))
        assert not is_mine(here, locks)
        here.clock.wait(121)
        locks.release(NAME, expected=held)
    assert is_mine(here, locks)


def test_who_obeys_for_long_keeps_the_right(here: Place) -> None:
    locks = MemoryLocks(here.clock, Board())
    with turn(make_context(here.ws, locks=locks)) as mine:
        assert mine
        for _ in range(5):
            assert not is_mine(here, locks)
            here.clock.wait(61)
            mine.renew_if_due()
    assert is_mine(here, locks)


def test_who_has_lost_the_right_stops_and_does_not_give_it_back(here: Place) -> None:
    locks = MemoryLocks(here.clock, Board())
    with turn(make_context(here.ws, locks=locks)) as mine:
        assert mine
        here.clock.wait(121)
        locks.acquire(NAME, "Bob", expected=locks.read(NAME))
        with pytest.raises(UnknownError):
            mine.renew_if_due()
    lease = locks.read(NAME)
    assert lease
    assert lease.holder == "Bob"


def test_what_was_noted_and_cannot_be_read_only_takes_longer(here: Place) -> None:
    locks = MemoryLocks(here.clock, Board())
    locks.acquire(NAME, "Bob", expected=None)
    assert not is_mine(here, locks)
    here.clock.wait(121)
    (here.ws.cache_dir / observed.CLAIMS).write_text("[")
    assert not is_mine(here, locks)
    here.clock.wait(121)
    assert is_mine(here, locks)
