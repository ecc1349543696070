"""What a supervisor does next, and that a fleet of agents does all work once, by every history."""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from ghp_agents.runs import policy
from ghp_agents.runs.policy import (
    Ask,
    Beat,
    Drop,
    End,
    FleetView,
    GiveUp,
    LiveRun,
    OpenJob,
    Resume,
    RunLimits,
    Settle,
    Slot,
    Take,
)
from ghp_agents.runs.record import ASKS, FAILED, FINISHED, INTERRUPTED, LOST, STOPPED

LIMITS = RunLimits(silence=60, time=600, turns=5, cost=1.0, tokens=1_000)


def decide(slot: Slot, **more: Any) -> policy.Action | None:
    actions = policy.decide(FleetView((slot,), LIMITS)._replace(**more))
    return actions[0] if actions else None


def live(**more: Any) -> Slot:
    return Slot("a", LiveRun("r", 1)._replace(**more))


def job(outcome: str, failures: int = 0, ended_for: float = 0.0, **more: bool) -> Slot:
    return Slot("a", None, (OpenJob(1, outcome, failures, ended_for, **more),), may_look=False)


@pytest.mark.parametrize(
    ("slot", "action"),
    [
        (live(), None),
        (live(lives=False, silent_for=99), Settle("a", "r")),
        (live(beat_due=True), Beat("a", "r")),
        (live(silent_for=60), End("a", "r", FAILED, "it printed nothing for 1 min")),
        (live(runs_for=600), End("a", "r", FAILED, "it took longer than 10 min")),
        (live(turns=5), None),
        (live(turns=6), End("a", "r", FAILED, "it took more than 5 turns")),
        (live(tokens=1_001), End("a", "r", FAILED, "it used more than 1,000 tokens")),
        (live(cost=1.01), End("a", "r", FAILED, "it cost more than 1.00 dollars")),
        (live(is_mine=False), End("a", "r", LOST, "the issue is no longer its agent's")),
        (live(is_mine=False, ordered_for=1.0), None),
        (
            live(ordered_for=1.0, has_moved=True),
            End("a", "r", STOPPED, "its agent was told to stop"),
        ),
        (live(ordered_for=60.0), End("a", "r", STOPPED, "its agent was told to stop")),
        (live(ordered_for=1.0), None),
        (
            live(ordered_for=1.0, is_urgent=True),
            End("a", "r", STOPPED, "its agent was told to stop"),
        ),
    ],
)
def test_a_run_is_ended_at_a_limit_and_only_then(slot: Slot, action: policy.Action | None) -> None:
    assert decide(slot) == action


def test_a_limit_of_zero_is_none() -> None:
    slot = live(silent_for=1e9, runs_for=1e9, turns=10**9, cost=1e9)
    assert decide(slot, limits=RunLimits(silence=0, time=0)) is None


@pytest.mark.parametrize(
    ("slot", "action"),
    [
        (job(INTERRUPTED), Resume("a", 1)),
        (job(FAILED, 1, 29), None),
        (job(FAILED, 1, 30), Resume("a", 1)),
        (job(FAILED, 2, 1e6), GiveUp("a", 1, asks=True)),
        (job(ASKS), None),
        (job(ASKS, is_answered=True), Resume("a", 1)),
        (job(FINISHED), None),
        (job(STOPPED), Resume("a", 1)),  # it kept the issue, and may go on
        (job(FINISHED, is_stopped=True), Drop("a", 1)),
        (job(STOPPED, is_stopped=True, is_called=True), Drop("a", 1)),
        (job(FINISHED, is_called=True), Resume("a", 1)),
        (job(FINISHED, is_called=True, is_hopeless=True), Resume("a", 1)),
        (job(FINISHED, is_hopeless=True), Ask("a", 1)),
        (job(FAILED, 1, 30, is_hopeless=True), Ask("a", 1)),
        (job(FINISHED, is_hopeless=True, is_left=True), None),
        (job(ASKS, is_called=True, is_hopeless=True), None),
        (job(ASKS, is_called=True, is_left=True), Resume("a", 1)),
        (job(ASKS, is_hopeless=True, is_left=True), None),
    ],
)
def test_a_begun_issue_goes_on(slot: Slot, action: policy.Action | None) -> None:
    assert decide(slot) == action


def test_what_calls_an_agent_back_comes_before_new_work() -> None:
    called = job(FINISHED, is_called=True)._replace(may_look=True)
    assert decide(called) == Resume("a", 1)
    assert decide(called._replace(run=LiveRun("r", 2))) is None
    assert decide(called._replace(is_ordered=True)) is None


def test_another_agent_gets_the_issue_before_a_person_is_asked() -> None:
    failed, other = job(FAILED, 2), Slot("b", may_look=False)
    scene = FleetView((failed, other), LIMITS)
    assert policy.decide(scene) == [GiveUp("a", 1, asks=False)]
    assert policy.decide(scene._replace(unfit={1: {"b"}})) == [GiveUp("a", 1, asks=True)]
    stopped = scene._replace(slots=(failed, other._replace(is_ordered=True)))
    assert policy.decide(stopped) == [GiveUp("a", 1, asks=True)]


def test_an_agent_that_waits_for_an_answer_takes_other_work() -> None:
    assert decide(job(ASKS)._replace(may_look=True)) == Take("a", frozenset({1}))


def test_an_agent_that_repeats_a_run_takes_no_other_work() -> None:
    assert decide(job(FAILED, 1, 1)._replace(may_look=True)) is None


def test_an_agent_does_not_take_again_what_it_gave_up() -> None:
    assert decide(Slot("a"), unfit={7: {"a"}, 8: {"b"}}) == Take("a", frozenset({7}))


def test_a_stopped_agent_rests() -> None:
    assert decide(Slot("a", is_ordered=True)) is None
    assert decide(job(INTERRUPTED)._replace(is_ordered=True)) is None


def test_a_supervisor_that_ends_ends_its_runs_and_begins_none() -> None:
    assert decide(live(), ends=True) == End("a", "r", INTERRUPTED, "its supervisor ended")
    assert decide(Slot("a"), ends=True) is None
    assert not policy.is_over(FleetView((live(),), LIMITS, ends=True))
    assert policy.is_over(FleetView((job(INTERRUPTED),), LIMITS, ends=True))


def test_once_is_over_when_each_agent_has_worked_on_one_issue() -> None:
    assert decide(Slot("a", taken=1), once=True) is None
    assert policy.is_over(FleetView((job(FINISHED)._replace(taken=1),), LIMITS, once=True))
    assert not policy.is_over(FleetView((job(FAILED, 1)._replace(taken=1),), LIMITS, once=True))
    assert not policy.is_over(FleetView((Slot("a"),), LIMITS, once=True))
    nothing_to_do = Slot("a", may_look=False)
    assert policy.is_over(FleetView((nothing_to_do,), LIMITS, once=True))
    assert not policy.is_over(FleetView((nothing_to_do,), LIMITS))


def test_waits_grow_to_half_an_hour() -> None:
    assert [policy.wait_after(n) for n in (1, 2, 3, 9, 10**6)] == [30, 60, 120, 1800, 1800]


@dataclass
class Fleet:
    """A simulated supervisor: its world is made of what the policy did."""

    chance: random.Random
    agents: list[str]
    jobs: dict[int, str | None]  # issue: its agent
    limits: RunLimits
    live: dict[str, LiveRun] = field(default_factory=dict)
    begun: dict[tuple[str, int], OpenJob] = field(default_factory=dict)
    failed: dict[int, set[str]] = field(default_factory=dict)
    with_question: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    runs: int = 0
    longest: float = 0.0

    def scene(self) -> FleetView:
        slots = [
            Slot(
                agent, self.live.get(agent),
                tuple(job for (who, issue), job in self.begun.items()
                      if who == agent and self.jobs[issue] == agent
                      and not (agent in self.live and self.live[agent].issue == issue)),
            )
            for agent in self.agents
        ]  # fmt: skip
        return FleetView(tuple(slots), self.limits, unfit=self.failed)

    def step(self) -> None:
        for action in policy.decide(self.scene()):
            self.act(action)
        self.pass_time(self.chance.choice([1.0, 10.0, 40.0]))

    def act(self, action: policy.Action) -> None:
        match action:
            case Take(agent, skips):
                free = [n for n, who in self.jobs.items() if who is None]
                ready = [n for n in free if n not in skips | self.with_question | self.done]
                if ready:
                    self.jobs[ready[0]] = agent
                    self.start(agent, ready[0])
            case Resume(agent, issue):
                assert self.jobs[issue] == agent
                self.start(agent, issue)
            case End(agent, _, _, _) | Settle(agent, _):
                self.settle(agent, fails=isinstance(action, End))
            case GiveUp(agent, issue, asks):
                assert self.begun[agent, issue].failures == self.limits.tries
                self.jobs[issue] = None
                del self.begun[agent, issue]
                if asks:
                    self.with_question.add(issue)
                else:
                    self.failed.setdefault(issue, set()).add(agent)

    def start(self, agent: str, issue: int) -> None:
        assert agent not in self.live
        assert issue not in {run.issue for run in self.live.values()}, "an issue runs twice"
        self.runs += 1
        self.live[agent] = LiveRun(f"r{self.runs}", issue)

    def settle(self, agent: str, *, fails: bool) -> None:
        run = self.live.pop(agent)
        self.longest = max(self.longest, run.runs_for)
        before = self.begun.get((agent, run.issue))
        fails = fails or self.chance.random() < 0.4
        if not fails:
            self.done.add(run.issue)
        count = (before.failures if before else 0) + fails
        outcome = FAILED if fails else FINISHED
        self.begun[agent, run.issue] = OpenJob(run.issue, outcome, count)

    def pass_time(self, seconds: float) -> None:
        for agent, run in self.live.items():
            silent = 0.0 if self.chance.random() < 0.9 else run.silent_for + seconds
            self.live[agent] = run._replace(
                runs_for=run.runs_for + seconds, silent_for=silent,
                lives=run.lives and self.chance.random() < 0.95,
            )  # fmt: skip
        for key, job in self.begun.items():
            self.begun[key] = job._replace(ended_for=job.ended_for + seconds)


@pytest.mark.parametrize("seed", range(25))
def test_every_issue_is_done_once_or_a_person_is_asked(seed: int) -> None:
    chance = random.Random(seed)
    agents = [f"a{n}" for n in range(chance.randint(1, 6))]
    fleet = Fleet(chance, agents, dict.fromkeys(range(1, 31)), RunLimits(silence=90, time=900))
    for _ in range(3_000):
        fleet.step()
        if fleet.done | fleet.with_question == fleet.jobs.keys() and not fleet.live:
            break
    assert fleet.done | fleet.with_question == fleet.jobs.keys()
    assert not fleet.done & fleet.with_question
    assert fleet.longest < 900 + 41
    assert fleet.runs <= len(fleet.jobs) * len(agents) * fleet.limits.tries


def test_with_a_used_up_budget_no_run_is_begun_and_those_that_run_go_on() -> None:
    spent = "budgets.day.usd"
    assert decide(Slot("a", spent=spent)) is None
    assert decide(job(INTERRUPTED)._replace(spent=spent)) is None
    assert decide(live(beat_due=True)._replace(spent=spent)) == Beat("a", "r")
    assert policy.is_over(FleetView((Slot("a", spent=spent),), LIMITS, once=True))
    assert not policy.is_over(FleetView((Slot("a", spent=spent),), LIMITS))
