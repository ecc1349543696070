"""A world of the past is what its records say of that time; nothing of the present is in it."""

from pathlib import Path

import pytest

from ghp_agents.leases import service as lease
from ghp_agents.leases.world import LeaseWorld
from tests.support.context import make_context
from tests.support.leases import FILES, Yard
from tests.support.twins.state import MemoryRemote


@pytest.fixture
def yard(repo: Path) -> Yard:
    """A clone in which two agents live."""
    for name in FILES:
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).touch()
    yard = Yard(repo)
    for agent in ("worker-1", "worker-2"):
        yard.beat(agent)
    yard.store.fold()
    return yard


def held_at(yard: Yard, at: float) -> list[str]:
    """Who held something at a time."""
    return [hold.holder for hold in LeaseWorld(yard.parts(None), at=at).holds]


def test_a_lease_is_held_from_its_grant_to_its_release(yard: Yard) -> None:
    begin = yard.clock.now()
    yard.clock.wait(10)
    yard.take("worker-1", "src/")
    yard.clock.wait(10)
    yard.take("worker-2", "docs/", strict=True)
    yard.clock.wait(10)
    yard.give("worker-1", "src/")
    yard.give("worker-2", "docs/")
    now = LeaseWorld(yard.parts(None))
    assert now.holds == []
    assert [held_at(yard, begin + passed) for passed in (5, 15, 25, 30)] == [
        [], ["worker-1"], ["worker-2", "worker-1"], []
    ]  # fmt: skip
    assert LeaseWorld(yard.parts(None), at=begin + 25).locks == []


def test_a_lease_of_any_clone_ends_at_its_own_time(yard: Yard) -> None:
    begin, hub = yard.clock.now(), MemoryRemote()
    here, away = (Yard(yard.repo, clone, clock=yard.clock, hub=hub) for clone in ("here", "away"))
    away.beat("worker-1")
    away.take("worker-1", "src/", ttl=20.0)
    away.sync()
    yard.clock.wait(60)
    here.sync()
    for clone in (here, away):
        assert [held_at(clone, begin + passed) for passed in (0, 19, 20)] == [
            ["worker-1"], ["worker-1"], []
        ]  # fmt: skip


def test_a_holder_who_had_been_silent_for_long_held_nothing(yard: Yard) -> None:
    begin = yard.clock.now()
    yard.take("worker-1", "src/")
    yard.clock.wait(10_000)
    dead_after = yard.ws(None).settings.dead_after
    assert held_at(yard, begin + dead_after / 2) == ["worker-1"]
    assert held_at(yard, begin + 2 * dead_after) == []


def test_who_waited_then_is_shown_although_its_process_has_ended(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    yard.clock.at(15, lambda: yard.give("worker-1", "src/"))
    begin = yard.clock.now()
    yard.wait("worker-2", "src/")
    parts = make_context(yard.ws(None), yard.store, yard.locks)
    listing = lease.listing(parts, at=begin + 10)
    assert [hold.holder for hold in listing.held] == ["worker-1"]
    assert [(waiter.request.holder, len(waiter.behind)) for waiter in listing.waiting] == [
        ("worker-2", 1)
    ]
    assert lease.listing(parts).waiting == []
