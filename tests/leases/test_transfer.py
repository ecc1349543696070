"""Leases go from one agent to another in one step, and nobody else gets in between."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.leases.transfer import transfer
from tests.support.ghp import invoke
from tests.support.leases import Yard, make_yard, two_yards

Clones = Callable[[int], list[Path]]
ONE, TWO = "worker-1", "worker-2"


def move(yard: Yard) -> list[tuple[str, tuple[str, ...]]]:
    """worker-1 passes on what it has."""
    return [(hold.holder, hold.patterns) for hold in transfer(yard.parts(ONE), ONE, TWO, "over")]


def test_all_leases_of_an_agent_belong_to_the_other_one(repo: Path) -> None:
    yard = make_yard(repo)
    for name in (ONE, TWO):
        yard.beat(name)
    yard.take(ONE, "src/", reason="parser")
    yard.take(ONE, "docs/a.md", ttl=600.0)
    yard.take(TWO, "README.md")
    assert move(yard) == [(TWO, ("src/",)), (TWO, ("/docs/a.md",))]
    assert [holder for holder, _ in yard.held()] == [TWO] * 3
    with pytest.raises(RefusedError, match="worker-2"):
        yard.take(ONE, "src/a.py")
    assert move(yard) == []
    assert [(who, event) for who, event, _ in yard.events()][-4:] == [
        (ONE, "lease-release"), (ONE, "lease"), (ONE, "lease-release"), (ONE, "lease"),
    ]  # fmt: skip


def test_a_lease_with_an_end_keeps_it(repo: Path) -> None:
    yard = make_yard(repo)
    yard.take(ONE, "docs/a.md", ttl=600.0)
    before = yard.listing().held[0].until
    move(yard)
    assert yard.listing().held[0].until == before
    yard.clock.wait(601)
    assert yard.held() == []


def test_a_strict_lease_goes_with_its_lock(clones: Clones) -> None:
    here, elsewhere = two_yards(*clones(2))
    here.take(ONE, "src/", strict=True)
    move(here)
    (lock,) = here.locks.list("path/")
    assert (lock.holder, lock.generation) == (TWO, 2)
    assert here.held() == [(TWO, "src/")]
    elsewhere.sync()
    with pytest.raises(RefusedError, match="is leased by worker-2 since"):
        elsewhere.take("worker-3", "src/a.py", strict=True)


def test_a_strict_lease_that_was_lost_meanwhile_stays_with_its_new_holder(
    clones: Clones,
) -> None:
    here, elsewhere = two_yards(*clones(2))
    here.take(ONE, "src/", strict=True)
    (lock,) = elsewhere.locks.list("path/")
    elsewhere.locks.acquire(lock.name, "worker-3", expected=lock, patterns=lock.patterns)
    assert move(here) == []


@pytest.mark.slow
def test_a_handoff_takes_the_leases_along(repo: Path) -> None:
    for line in (
        "agent-issue new Parse",
        "agent-claim 1 --as worker-1",
        "agent-lease src/ --as worker-1",
    ):
        assert invoke(line, repo).code == 0
    done = invoke("agent-handoff --issue 1 --to worker-2 --note x --as worker-1", repo)
    assert "✓ worker-2 has your leases now: src/.\n" in done.err
    assert invoke("agent-check src/a.py --as worker-2", repo).code == 0
    assert invoke("agent-check src/a.py --as worker-1", repo).code == 3


@pytest.mark.slow
def test_who_has_another_issue_keeps_its_leases(repo: Path) -> None:
    for line in (
        "agent-issue new Parse",
        "agent-issue new Write",
        "agent-claim 1 --as worker-1",
        "agent-claim 2 --as worker-1",
        "agent-lease src/ --as worker-1",
        "agent-handoff --issue 1 --to worker-2 --note x --as worker-1",
    ):
        assert invoke(line, repo).code == 0
    assert invoke("agent-check src/a.py --as worker-1", repo).code == 0
