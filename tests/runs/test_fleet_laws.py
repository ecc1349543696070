"""A fleet does all work, each issue once, whatever fails; and each history can be replayed."""

import pytest

from ghp_agents.jobs import dispatch_plan
from ghp_agents.locks.lock import Lock
from ghp_agents.runs import policy
from tests.support.fleet import Fleet
from tests.support.fleet_parts import LawError, Size
from tests.support.thorough import count

SMALL = Size(clones=3, agents=6, jobs=200, trouble=200)
LONGEST = 3_000  # ticks


def play(fleet: Fleet) -> Fleet:
    while not fleet.is_over:
        fleet.step()
        if fleet.now > LONGEST:
            raise LawError(f"{len(fleet.issues)} issues are forgotten")
    return fleet


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_all_work_is_done_and_nothing_runs_twice(seed: int) -> None:
    fleet = play(Fleet(seed, SMALL))
    assert sorted(fleet.done) == [*range(1, 201)]


@pytest.mark.slow
def test_a_history_can_be_replayed() -> None:
    histories = [play(Fleet(seed, SMALL)).history for seed in (7, 7, 8)]
    assert histories[0] == histories[1] != histories[2]


@pytest.mark.slow
def test_no_schedule_breaks_a_law() -> None:
    for seed in range(4, count(1_000, sample=14)):  # those before are played above
        play(Fleet(seed, SMALL))


@pytest.mark.slow
@pytest.mark.long
def test_a_thousand_agents_do_thousands_of_issues() -> None:
    jobs, trouble = count(10_000, sample=500), count(700, sample=200)
    fleet = Fleet(1, Size(jobs=jobs, trouble=trouble))
    while fleet.looks < 100 * jobs or not fleet.is_over:
        fleet.step()
        assert fleet.now < LONGEST, f"{len(fleet.issues)} issues are forgotten"
    assert len(fleet.done) == jobs
    assert fleet.deaths > trouble  # clients die while there is trouble, however much work there is


# --------------------------------------------------------------------- that they can fail


@pytest.mark.slow
def test_a_supervisor_that_never_gives_up_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = policy.decide

    def without_give_up(scene: policy.FleetView) -> list[policy.Action]:
        return [x for x in decide(scene) if not isinstance(x, policy.GiveUp)]

    monkeypatch.setattr(policy, "decide", without_give_up)
    with pytest.raises(LawError, match="forgotten"):
        play(Fleet(0, SMALL))


def test_a_dispatch_that_leaves_work_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch_plan, "plan", lambda *_: dispatch_plan.DispatchPlan([], {}))
    with pytest.raises(LawError, match="is free"):
        play(Fleet(0, SMALL))


def test_a_claim_without_a_comparison_is_found() -> None:
    class NeverCompares(Fleet):
        def _is_late(self, lock: Lock | None, now: Lock | None) -> bool:
            return False

    with pytest.raises(LawError, match="runs twice"):
        play(NeverCompares(0, SMALL))


def test_a_run_without_a_time_limit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    unlimited = policy.RunLimits(silence=0, time=0)
    decide = policy.decide
    monkeypatch.setattr(policy, "decide", lambda scene: decide(scene._replace(limits=unlimited)))
    with pytest.raises(LawError, match="beyond a limit"):
        play(Fleet(0, SMALL))
