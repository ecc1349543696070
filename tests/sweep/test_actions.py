"""The acts of a sweep: what moves meanwhile is left, and who is killed leaves nothing half done."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.issues.issue import IssueChange
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.sweep.service import sweep
from tests.support import repos
from tests.support.claimants import DEAD, GONE, Claimant, Team
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.git import refs
from tests.support.sweeps import (
    DAY,
    STALE,
    Rival,
    comments,
    handoffs,
    kinds,
    outcome,
    run,
    run_doomed,
    texts,
)
from tests.support.taking import take
from tests.support.thorough import some


@pytest.mark.slow
def test_a_holder_that_returns_between_the_look_and_the_act_keeps_its_claim(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.sync()
    run(sweeper)
    team.silence(DEAD, two)

    def come_back() -> None:
        one.beat(lastAction="Back")
        one.release(1)
        one.claim(1)

    locks: Any = Rival(sweeper.locks, "release", come_back)
    swept = sweep(make_context(sweeper.ws, sweeper.store, locks, sweeper.tracker))
    assert kinds(swept) == [("Free", False)]
    assert texts(swept) == ["left: it changed meanwhile: worker-1 holds it (generation 2)"]
    lease = sweeper.locks.read("issue/1")
    assert lease
    assert (lease.holder, lease.generation) == ("worker-1", 2)
    assert comments(sweeper) == []
    one.sync()
    assert kinds(run(sweeper)) == []


@pytest.mark.slow
def test_another_that_takes_the_claim_first_keeps_it(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.sync()
    run(sweeper)
    team.silence(DEAD, two)
    locks: Any = Rival(sweeper.locks, "release", lambda: two.claim(1, steal=True, reason="Now"))
    swept = sweep(make_context(sweeper.ws, sweeper.store, locks, sweeper.tracker))
    assert texts(swept) == ["left: it changed meanwhile: worker-2 holds it (generation 2)"]
    two.sync()
    assert run(sweeper).done == 0
    assert sweeper.assignees(1) == ("worker-2",)


@pytest.mark.slow
def test_an_issue_that_was_opened_again_keeps_its_claim(
    team: Team, one: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.sync()
    sweeper.sync()
    sweeper.tracker.change(1, IssueChange(state="closed"), sweeper.ws.actor())

    def open_again() -> None:
        sweeper.tracker.change(1, IssueChange(state="open"), sweeper.ws.actor())

    tracker: Any = Rival(sweeper.tracker, "get", open_again)
    swept = sweep(make_context(sweeper.ws, sweeper.store, sweeper.locks, tracker))
    assert texts(swept) == ["#1 is open again"]
    lease = sweeper.locks.read("issue/1")
    assert lease
    assert lease.holder == "worker-1"


@pytest.mark.slow
def test_two_sweeps_at_once_in_two_clones_come_to_what_one_does(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    other = team.join("@me", "other sweeper")
    one.claim(1)
    one.sync()
    run(sweeper)
    run(other)
    team.silence(DEAD, two)
    results: list[list[str]] = []
    locks: Any = Rival(sweeper.locks, "release", lambda: results.append(texts(run(other))))
    first = sweep(make_context(sweeper.ws, sweeper.store, locks, sweeper.tracker))
    # The other waits until the first can be taken for dead; then it does all, and the first none.
    assert results == [["worker-1 is dead; back in the queue (attempt 1)"]]
    assert texts(first) == ["left: it changed meanwhile: it is free (generation 1)"]
    assert len(refs(team.remote, "refs/ghp/lease/sweeper")) == 1
    for x in (sweeper, other, sweeper):
        x.sync()
    assert len(comments(sweeper)) == 1
    assert sweeper.assignees(1) == ()
    assert run(sweeper).done == 0


# -------------------------------------------------------------------------------- killed


def take_lease(one: Claimant, pattern: str, *, strict: bool = False) -> None:
    with one._beating():
        take(one.parts, LeaseRequest((pattern,), strict=strict))


class World:
    """Clones with all that there is to sweep, to be copied for each kill."""

    def __init__(self, team: Team, one: Claimant, two: Claimant, sweeper: Claimant) -> None:
        for title in ("Second", "Third", "Fourth"):
            one.new(title)
        one.sync()
        gone = team.join("worker-8")
        gone.sync()
        gone.beat(lastAction="Here")
        take_lease(gone, "/src/")
        gone.sync()
        run(sweeper)
        team.silence(DAY - DEAD + 100, two)
        one.beat(lastAction="Late")
        for number in (1, 2):
            one.claim(number)
        two.sync()
        two.claim(3)
        late = team.join("worker-7")
        late.sync()
        for clone in (one, two):
            clone.sync()
        run(sweeper)
        team.silence(DEAD - STALE, two)
        late.claim(4)
        late.beat(lastAction="Slow")
        late.sync()
        run(sweeper)
        team.silence(STALE, two)
        two.tracker.change(3, IssueChange(state="closed"), two.ws.actor())
        two.sync()
        self.folder = team.remote.parent
        self.remote = team.remote.name
        self.sweeper = sweeper.ws.folder.name
        self.now = team.clock.now()

    def copy(self, to: Path) -> tuple[Claimant, Path]:
        """The sweeper and the remote of a world of their own."""
        shutil.copytree(self.folder, to, symlinks=True)
        repos.from_elsewhere(to)
        for config in to.glob("*/.git/config"):
            config.write_text(config.read_text().replace(str(self.folder), str(to)))
        return Claimant(to / self.sweeper, "@me", ManualClock(self.now)), to / self.remote


@pytest.fixture
def world(team: Team, one: Claimant, two: Claimant, sweeper: Claimant) -> World:
    return World(team, one, two, sweeper)


@pytest.mark.slow
@pytest.mark.long
def test_killed_at_any_point_the_next_sweep_comes_to_the_same(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    every = [(at, after) for at in range(1, 200) for after in (False, True)]
    points = some(every, every=19)
    killed = check_kills(world, tmp_path_factory.mktemp("worlds"), points)
    assert killed > len(some(range(30), every=19)), "a sweep of all that has more writes"


def check_kills(world: World, folder: Path, points: Sequence[tuple[int, bool]]) -> int:
    whole, remote = world.copy(folder / "whole")
    swept = run(whole, policy="reassign")
    assert sorted({kind for kind, _ in kinds(swept)}) == ["Close", "EndLease", "Free", "Warn"]
    assert all(done for _, done in kinds(swept))
    wanted = outcome(whole, remote)
    killed = 0
    for at, after in points:
        place = folder / f"{at}-{after}"
        one, copied = world.copy(place)
        if not run_doomed(one, at, after=after, policy="reassign"):
            break
        killed += 1
        again = Claimant(one.ws.folder, "@me", one.clock)
        run(again, policy="reassign")
        assert outcome(again, copied) == wanted, f"killed {'after' if after else 'before'} {at}"
        shutil.rmtree(place)
    return killed


@pytest.mark.slow
def test_leases_of_who_is_gone_have_ended(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    take_lease(one, "/src/")
    take_lease(one, "/docs/", strict=True)
    one.beat(lastAction="Last")
    one.sync()
    run(sweeper)
    team.silence(DEAD, two)
    assert kinds(run(sweeper)) == []
    team.silence(GONE, two)
    swept = run(sweeper)
    assert sorted(kinds(swept)) == [("EndLease", True), ("EndLease", True), ("FreeRight", True)]
    rights = [lease for lease in sweeper.locks.list("path/") if lease.holder]
    assert rights == []
    assert kinds(run(sweeper)) == []


@pytest.mark.slow
def test_an_absorbed_clone_leaves_nothing_but_what_it_said(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.beat(lastAction="Last")
    one.sync()
    run(sweeper)
    for _ in range(31):
        team.silence(DAY, two, steps=1)
    before = handoffs(sweeper)
    agents = sweeper.store.snapshot().agents()
    swept = run(sweeper)
    assert ("Absorb", True) in kinds(swept)
    assert len(refs(team.remote, "refs/ghp/clone")) == 2
    assert before == []
    two.sync()
    assert two.store.snapshot().agents().keys() == agents.keys()
    assert two.tracker.get(1).title == "Parse files"
    assert kinds(run(sweeper)) == []
