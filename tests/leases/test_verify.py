"""Verifying a right: the remote is asked, and its generation is for what the right guards."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.clock import ManualClock
from tests.support.consent import anyone_steals
from tests.support.ghp import Result, invoke
from tests.support.git import git
from tests.support.road import Road

Clones = Callable[[int], list[Path]]
CLOCK = ManualClock()


def ghp(folder: Path, words: str) -> Result:
    return invoke(words, folder, clock=CLOCK)


@pytest.mark.slow
def test_a_claim_is_verified_at_the_remote_with_its_generation(clones: Clones) -> None:
    one, two = clones(2)
    anyone_steals()
    Road(one, CLOCK).issue()
    assert ghp(one, "agent-check --verify --as alice") == (
        3,
        "",
        "Error: No issue is claimed here, so there is no claim to verify.\nHint: Claim one "
        "with `ghp agent-claim`. To verify a strict lease: `ghp agent-check --verify --name "
        "NAME`.\n",
    )
    ghp(one, "agent-claim 1 --as alice")
    mine = ghp(one, "agent-check --verify --as alice")
    assert (mine.code, mine.out) == (0, "1\n")
    ghp(one, "agent-sync")
    stolen = ghp(two, "agent-claim 1 --steal --reason hurry --as bob")
    assert stolen.code == 0, stolen.err
    assert ghp(one, "agent-check README.md --as alice").code == 0  # as this clone knows
    lost = ghp(one, "agent-check --verify --as alice")
    assert (lost.code, lost.out) == (3, "")
    assert "Error: You do not hold issue/1: bob holds it since " in lost.err
    git(one, "remote", "set-url", "origin", "/nowhere")
    assert ghp(one, "agent-check --verify --as alice").code == 4
    assert ghp(one, "agent-check README.md --verify --as alice").code == 4


def test_a_lease_of_a_resource_is_verified_with_its_generation(repo: Path) -> None:
    for generation in (1, 2):
        ghp(repo, "agent-lease --name staging-db --strict --as alice")
        mine = ghp(repo, "agent-check --verify --name staging-db --as alice")
        assert (mine.code, mine.out) == (0, f"{generation}\n")
        ghp(repo, "agent-release --name staging-db --as alice")
    assert ghp(repo, "agent-check --verify --name staging-db --as alice").code == 3
    assert ghp(repo, "agent-check --name staging-db --as alice").code == 2


def test_a_lease_whose_time_is_up_is_not_verified(repo: Path) -> None:
    clock = ManualClock()
    invoke("agent-lease --name staging-db --strict --ttl 10m --as alice", repo, clock=clock)
    words = "agent-check --verify --name staging-db --as alice"
    assert invoke(words, repo, clock=clock).out == "1\n"
    clock.wait(601)
    over = invoke(words, repo, clock=clock)
    assert (over.code, over.out) == (3, "")
    assert "Error: You no longer hold name/staging-db: it expired at " in over.err
