"""A world is what one decision sees: each part is read once, and a new decision reads anew."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.presence import service as presence
from ghp_agents.state.transact import transact
from tests.support.leases import FILES, Yard


@pytest.fixture
def yard(repo: Path) -> Yard:
    """A clone with an agent who leases `src/` and one who leases `docs/` strictly."""
    for name in FILES:
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).touch()
    yard = Yard(repo)
    for agent in ("worker-1", "worker-2"):
        yard.beat(agent)
    yard.take("worker-1", "src/")
    yard.take("worker-2", "docs/", strict=True)
    return yard


def test_a_world_knows_who_lives_and_what_is_held(yard: Yard) -> None:
    world = LeaseWorld(yard.parts(None))
    assert [view.name for view in world.agents] == ["worker-1", "worker-2"]
    assert [(hold.holder, hold.patterns, hold.strict) for hold in world.holds] == [
        ("worker-2", ("docs/",), True), ("worker-1", ("src/",), False)
    ]  # fmt: skip
    assert [lock.holder for lock in world.strict_locks.values()] == ["worker-2"]
    assert (world.claims, world.problems) == ({}, [])
    people = Actor("Ada", is_person=True), Actor("unknown")
    assert [world.lives(who) for who in people] == [True, True]


def test_a_world_stays_what_it_was_and_a_new_one_sees_what_happened(yard: Yard) -> None:
    parts = yard.parts(None)
    before = LeaseWorld(parts)
    assert len(before.holds) == 2
    yard.give("worker-1", "src/")
    yard.beat("worker-2", "stopped")
    assert len(before.holds) == len(before.agents) == 2
    assert before.lives(Actor("worker-2"))
    after = LeaseWorld(parts)
    assert after.holds == []
    assert not after.lives(Actor("worker-2"))


def test_in_a_transaction_a_world_is_made_of_the_snapshot_that_is_decided_on(yard: Yard) -> None:
    parts = yard.parts(None)
    worlds = transact(parts.store, lambda snapshot: (LeaseWorld(parts, snapshot), []))
    yard.give("worker-1", "src/")
    assert [log.holder.name for log in worlds.logs if log.is_open] == ["worker-1", "worker-2"]


def test_each_part_is_read_once(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    counted(monkeypatch, presence, "list_agents", looks)
    counted(monkeypatch, yard.locks, "known", looks)
    world = LeaseWorld(yard.parts(None))
    assert looks == []
    for _ in range(2):
        assert world.holds, world.agents
        assert world.locks, world.strict_locks
    assert sorted(looks) == ["known", "list_agents"]


def counted(patch: pytest.MonkeyPatch, owner: object, name: str, looks: list[str]) -> None:
    before: Callable[..., object] = getattr(owner, name)

    def look(*args: object, **how: object) -> object:
        looks.append(name)
        return before(*args, **how)

    patch.setattr(owner, name, look)
