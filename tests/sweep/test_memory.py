"""Clones that are made only to sweep: one id for all of them, and one memory; on real git."""

from pathlib import Path
from typing import Any

import pytest

from ghp_agents.github.api.status import GitHubStatus
from ghp_agents.state.join import SyncReport
from ghp_agents.sweep import memory as sweep_memory
from ghp_agents.sweep.service import _publish_with_retries, sweep
from tests.support.claimants import DEAD, Claimant, Team
from tests.support.context import make_context
from tests.support.git import git, refs
from tests.support.sweeps import STALE, Rival, comments, handoffs, kinds, questions, run, texts


class Runners:
    """Jobs that sweep: each in a clone of its own, which is gone afterwards."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.count = 0

    def fresh(self) -> Claimant:
        self.count += 1
        return self.team.join("@me", f"runner {self.count}")


@pytest.fixture
def runners(team: Team, two: Claimant) -> Runners:
    return Runners(team)


def clones(team: Team) -> set[str]:
    """The refs of clones on the remote."""
    return set(refs(team.remote, "refs/ghp/clone"))


@pytest.mark.slow
def test_all_go_by_one_id_and_leave_no_ref_behind(
    team: Team, one: Claimant, two: Claimant, runners: Runners
) -> None:
    one.claim(1)
    one.sync()
    before = clones(team)
    first = run(runners.fresh(), ephemeral=True)
    new = clones(team) - before
    assert new == {f"refs/ghp/clone/{first.clone}"}
    for _ in range(3):
        team.silence(STALE / 2, two)
        assert run(runners.fresh(), ephemeral=True).clone == first.clone
        assert clones(team) == before | new


@pytest.mark.slow
def test_what_the_one_before_saw_is_remembered(
    team: Team, one: Claimant, two: Claimant, runners: Runners
) -> None:
    one.claim(1)
    one.sync()
    done = [kinds(run(runners.fresh(), ephemeral=True))]
    for _ in range(5):
        team.silence(STALE / 2 + 10, two)
        done.append(kinds(run(runners.fresh(), ephemeral=True)))
    assert done == [[], [], [("Warn", True)], [], [], [("Free", True)]]
    last = runners.fresh()
    assert kinds(run(last, ephemeral=True)) == []
    assert len(comments(last)) == 2
    assert len(handoffs(last)) == 1
    assert questions(last) == []


@pytest.mark.slow
def test_without_a_memory_nobody_is_taken_for_dead(
    team: Team, one: Claimant, two: Claimant, runners: Runners
) -> None:
    one.claim(1)
    one.sync()
    team.silence(DEAD, two)
    assert kinds(run(runners.fresh(), ephemeral=True)) == []


@pytest.mark.slow
def test_a_memory_that_says_nothing_new_is_not_said_again(
    team: Team, one: Claimant, two: Claimant, runners: Runners
) -> None:
    run(runners.fresh(), ephemeral=True)
    before = refs(team.remote, "refs/ghp/clone")
    run(runners.fresh(), ephemeral=True)
    assert refs(team.remote, "refs/ghp/clone") == before
    two.sync()
    entries = two.store.ledger()
    assert runners.fresh().sync().store.ledger() == entries
    assert [entry.actor for entry in entries if entry.is_person] == []


@pytest.mark.slow
def test_a_clone_with_a_life_of_its_own_keeps_its_id(
    team: Team, one: Claimant, two: Claimant, runners: Runners
) -> None:
    common = run(runners.fresh(), ephemeral=True).clone
    own = two.store.snapshot().clone
    person = team.person("worker-2")
    assert run(person, ephemeral=True).clone == own
    assert run(runners.fresh(), ephemeral=True).clone == common


@pytest.mark.slow
def test_a_rival_that_wrote_under_the_same_id_loses_nothing_and_no_ref_is_left(
    team: Team, one: Claimant, two: Claimant, runners: Runners
) -> None:
    one.claim(1)
    one.new("Second")
    one.sync()
    two.sync()
    two.claim(2)
    two.sync()
    common = run(runners.fresh(), ephemeral=True).clone
    before = clones(team)
    team.silence(DEAD + 10)
    slow, rival = runners.fresh(), runners.fresh()
    results: list[Any] = []
    # The slow one has taken the first claim already when the other takes it for dead.
    calls = iter((None, lambda: results.append(run(rival, ephemeral=True))))

    class Slow(Rival):
        def __getattr__(self, name: str) -> Any:
            if name == "release":
                act = next(calls, None)
                if act:
                    act()
            return getattr(self._part, name)

    locks: Any = Slow(slow.locks, "release", lambda: None)
    swept = sweep(make_context(slow.ws, slow.store, locks, slow.tracker), ephemeral=True)
    assert [done for _, done in kinds(swept)] == [True, False]
    assert [x.clone for x in (swept, *results)] == [common, common]
    assert clones(team) == before
    late = runners.fresh()
    run(late, ephemeral=True)
    assert [len(comments(late, number)) for number in (1, 2)] == [1, 1]
    assert [len(handoffs(late, number)) >= 1 for number in (1, 2)] == [True, True]
    assert [late.assignees(number) for number in (1, 2)] == [(), ()]
    assert clones(team) == before
    git(team.remote, "fsck", "--strict", "--no-dangling")


@pytest.mark.slow
def test_a_run_that_is_killed_before_it_sent_anything_leaves_the_next_one_to_do_it(
    team: Team, one: Claimant, two: Claimant, runners: Runners
) -> None:
    one.claim(1)
    one.sync()
    run(runners.fresh(), ephemeral=True)
    team.silence(DEAD, two)
    lost = runners.fresh()
    lost.store.sync(push=False)

    def cut() -> None:
        raise KeyboardInterrupt

    store: Any = Rival(lost.store, "publish", cut)
    with pytest.raises(KeyboardInterrupt):
        sweep(make_context(lost.ws, store, lost.locks, lost.tracker), ephemeral=True)
    assert lost.locks.read("issue/1").holder is None  # type: ignore[union-attr]
    late = runners.fresh()
    assert texts(run(late, ephemeral=True)) == [
        "finished: worker-1 is dead; back in the queue (attempt 1)"
    ]
    assert len(handoffs(late)) == 1
    assert late.assignees(1) == ()
    assert kinds(run(runners.fresh(), ephemeral=True)) == []


@pytest.mark.slow
def test_a_broken_memory_is_begun_anew(
    team: Team, one: Claimant, two: Claimant, runners: Runners, tmp_path: Path
) -> None:
    fresh = runners.fresh()
    run(fresh, ephemeral=True)
    for name in sweep_memory.NOTES:
        (fresh.ws.cache_dir / name).write_text("[1")
    assert kinds(run(fresh, ephemeral=True)) == []
    assert sweep_memory.clones(fresh.ws, fresh.store.snapshot(), None)


class Outbox:
    """GitHub, out of reach for some time; what could not be shown there waits."""

    def __init__(self, sends: int) -> None:
        self.sends = sends

    def status(self) -> GitHubStatus:
        return GitHubStatus(queued=max(0, self.sends))

    def send(self) -> list[str]:
        self.sends -= 1
        return []


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("sends", "trouble"), [(0, None), (2, None), (9, "6 issue changes could not be sent to GitHub")]
)
def test_what_waits_for_github_is_sent_before_the_clone_is_gone_or_said(
    team: Team, one: Claimant, runners: Runners, sends: int, trouble: str | None
) -> None:
    fresh = runners.fresh().sync()
    outbox: Any = Outbox(sends)
    house = make_context(fresh.ws, fresh.store, fresh.locks, outbox, outbox)
    reported = _publish_with_retries(house, SyncReport("origin", fetched=True)).trouble
    assert reported == trouble
