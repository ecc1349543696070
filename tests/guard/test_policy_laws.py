"""The laws of authority: whatever agents, people, clocks and networks do, in whatever order.

The same world and the same laws are in `python -m bench authority`, over many more steps.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from bench import authority
from ghp_agents.handoffs import left_work
from ghp_agents.locks.lock import Lock
from ghp_agents.state.join import SyncReport
from ghp_agents.state.record import Record
from tests.support import schedule
from tests.support.acts import Run, Step
from tests.support.laws import ViolationError
from tests.support.schedule import ACTS, WRITERS
from tests.support.thorough import count
from tests.support.world import AGENTS, CLONES, World, WorldLocks, WorldStore

STEPS = 250


# ------------------------------------------------------------------------------ the laws


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_006))
def test_a_schedule_keeps_the_laws(seed: int) -> None:
    schedule.check(seed, STEPS)


# What broke a law once, each cut down to the steps that were enough: kind, agent, clone, number.
FOUND = {
    "an approved lease where another edits": """
        leases 2 1 59, copies 3 0 87, edits 3 2 48, moves 2 0 82, syncs 2 2 4, syncs 1 1 69,
        edits 2 0 15""",
    "a forged life of one who was given an issue unheard of": """
        forges 1 1 95, syncs 1 0 20, begins 0 2 24, gives 2 0 38, steals 0 1 98""",
    "a process that is reported to run, and silent": """
        claims 3 0 1, passes 0 0 79, syncs 0 0 1, syncs 0 1 1, moves 0 1 0, steals 0 0 1""",
    "a copy that knows of a stop, and of a gift to who stopped": """
        claims 1 1 90, gives 1 2 74, stops 0 0 29, copies 1 0 94, syncs 0 0 33, claims 3 1 30""",
}


@pytest.mark.parametrize("laws", FOUND.values(), ids=FOUND)
def test_what_broke_a_law_once_keeps_them_now(laws: str) -> None:
    words = (word.split() for word in laws.split(","))
    steps = [Step(kind, int(agent), int(clone), int(n)) for kind, agent, clone, n in words]
    assert schedule.play(0, steps).violation is None


@pytest.mark.slow
def test_a_schedule_is_the_same_whenever_it_is_played() -> None:
    steps = schedule.steps(7, STEPS)
    assert steps == schedule.steps(7, STEPS)
    assert schedule.play(7, steps) == schedule.play(7, steps)


PLAIN = st.builds(
    Step,
    kind=st.sampled_from(sorted(ACTS)),
    agent=st.integers(0, len(AGENTS) - 1),
    clone=st.integers(0, CLONES - 1),
    number=st.integers(0, 99),
    rival=st.none(),
)
RIVALS = PLAIN.filter(lambda step: step.kind in WRITERS)


class Authority(RuleBasedStateMachine):
    """Steps in any order; hypothesis looks for the shortest way to break a law."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="ghp-laws-", dir=schedule.memory()))
        self.run = Run(World(self.folder, 0), ACTS)
        self.taken = 0

    @rule(step=PLAIN)
    def takes(self, step: Step) -> None:
        """One step."""
        self.run.take(step)
        self.taken += 1

    @precondition(lambda self: self.taken > 3)
    @rule(step=RIVALS, rival=RIVALS)
    def takes_while_a_rival_gets_in(self, step: Step, rival: Step) -> None:
        """Two at once: the second comes between the decision of the first and its write."""
        self.run.take(step._replace(rival=rival))

    def teardown(self) -> None:
        """All come together, and nothing stays on the disk."""
        try:
            schedule.end(self.run)
        finally:
            shutil.rmtree(self.folder)


def run_machine(examples: int, steps: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        suppress_health_check=checks,
        phases=phases,
    )
    run_state_machine_as_test(Authority, settings=chosen)


@pytest.mark.slow
def test_no_short_way_breaks_a_law() -> None:
    run_machine(examples=15, steps=30)


@pytest.mark.slow
@pytest.mark.long
def test_no_way_breaks_a_law_at_length() -> None:
    run_machine(examples=count(150, sample=25), steps=50)


@pytest.mark.slow
@pytest.mark.long
def test_what_the_bench_plays_does_all_that_the_laws_are_about_and_keeps_them() -> None:
    seeds = range(count(authority.TENTH, sample=20))
    done = {kind for seed in seeds for kind in schedule.check(seed, authority.STEPS)}
    wanted = """
        claims: claim, claims: mine, claims: takeover, claims: refused, claims: unknown,
        next: claim, steals: steal, releases: released, gives: given, verifies: holds,
        verifies: refused, verifies: unknown, closes: closed, closes: refused, moves: done,
        sleeps: done, wakes: done, stops: done, begins: done, person-claims: claim,
        person-steals: steal, person-releases: released, cuts: done, breaks: done,
        syncs: synced, syncs: unreachable, leases: granted, leases: refused, gives-back: done,
        restores: done, loses-right: done, loses-clone: done, loses-answer: done, copies: done,
        forges: done, kills: done, restarts: done, sets-clock: done, checks-all: 1 pass,
        works: done, falls-silent: leases, falls-silent: sends, assigns: followed,
        person-gives: given, removes: done, meets: met,
        edits: allowed, edits: denied, fenced, edits: denied, lease, edits: denied, implicit"""
    kinds = [" ".join(word.split()) for word in wanted.replace("denied,", "denied;").split(",")]
    assert {word.replace(";", ",") for word in kinds} <= done


# --------------------------------------------------------------------- that they can fail


class NeverCompares(WorldLocks):
    """A swap without the comparison: who comes last has it."""

    def _swap(self, expected: Lock | None, new: Lock) -> Lock:
        self.line.leases.pop(new.name, None)
        if expected:
            self.line.leases[new.name] = expected
            self.line.histories.setdefault(new.name, [expected])
        return super()._swap(expected, new)


class ForgetsGenerations(WorldLocks):
    """What is taken anew begins with 1 again."""

    def _swap(self, expected: Lock | None, new: Lock) -> Lock:
        return super()._swap(expected, new._replace(generation=1))


class TakesSilenceForYes(WorldLocks):
    """Out of reach, it answers as if it had written."""

    def _swap(self, expected: Lock | None, new: Lock) -> Lock:
        return super()._swap(expected, new) if self.line.reachable else new


class NeverAsks(WorldLocks):
    """It tells what it knows instead of asking the place that decides."""

    def read(self, name: str) -> Lock | None:
        return self._known.get(name)


class HearsNothing(WorldLocks):
    """A sync brings it no rights."""

    def hear(self) -> None:
        self.line.leases.keys()


class BelievesInNews(WorldStore):
    """It counts time in which nothing was heard as time in which nobody moved."""

    def news_age(self) -> float:
        return -1_900.0


class LosesRecords(WorldStore):
    """It says that it has kept a record, now and then without doing so."""

    def commit(self, records: Sequence[Record], expected: str) -> None:
        kept = [x for x in records if x.event != "claim" or int(x.id, 16) % 5]
        super().commit(kept, expected)
        self.world.committed += [(self.number, x.id) for x in records if x not in kept]


class NeverNoticesRivals(WorldStore):
    """A commit that somebody got in before is made all the same."""

    def commit(self, records: Sequence[Record], expected: str) -> None:
        self.world.interlope()
        super().commit(records, self.snapshot().revision)


class TellsNobody(WorldStore):
    """A sync brings the others nothing."""

    def sync(self, *, push: bool = True, paced: bool = False, fetch: bool = True) -> SyncReport:
        return super().sync(push=False, paced=paced, fetch=fetch)


def world_of(
    lock_services: type[WorldLocks] = WorldLocks, stores: type[WorldStore] = WorldStore
) -> type[World]:
    return type("Wrong", (World,), {"lock_services": lock_services, "stores": stores})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "law", "first"),  # a seed that shows it today; else another one does
    [
        (world_of(NeverCompares), "a generation has one holder", 10),
        (world_of(ForgetsGenerations), "each taking raises the generation by one", 0),
        (world_of(TakesSilenceForYes), "who was told that they hold a right is its holder", 1),
        (world_of(NeverAsks), "a fenced holder never succeeds in `verify`", 1),
        (world_of(HearsNothing), "all know who holds what", 0),
        (world_of(stores=BelievesInNews), "nothing is taken from the living without --steal", 4),
        (world_of(stores=BelievesInNews), "no agent steals from another that was heard of", 12),
        (world_of(stores=LosesRecords), "what a clone recorded is known to all", 5),
        (world_of(stores=TellsNobody), "what a silent session confirmed is on the remote", 0),
        (world_of(stores=TellsNobody), "who has synced knows what was confirmed", 8),
        (world_of(stores=NeverNoticesRivals), "one holder of a path in a clone", 37),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_wrong_part_is_found(wrong: type[World], law: str, first: int) -> None:
    broken = set()
    for seed in (first, *range(60)):
        outcome = schedule.play(seed, schedule.steps(seed, STEPS), wrong)
        if outcome.violation:
            broken.add(outcome.violation.partition(" | ")[0])
            if any(x.startswith(law) for x in broken):
                return
    pytest.fail(f"never found: {law}; found: {sorted(broken)}")


@pytest.mark.slow
def test_work_that_nobody_saves_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [Step(kind, 0, 0, 1) for kind in ("claims", "works", "kills")]
    assert schedule.play(0, steps).violation is None
    monkeypatch.setattr(left_work, "save", lambda ctx: ())
    violation = schedule.play(0, steps).violation
    assert violation is not None
    assert violation.startswith("no work of who ended is out of reach")


@pytest.mark.slow
def test_a_failing_schedule_is_told_by_its_seed_and_by_the_few_steps_that_it_needs() -> None:
    wrong = world_of(TakesSilenceForYes)
    seed = next(s for s in range(60) if schedule.play(s, schedule.steps(s, STEPS), wrong).violation)
    with pytest.raises(ViolationError) as caught:
        schedule.check(seed, STEPS, wrong)
    first, count, *steps, again = str(caught.value).splitlines()
    assert first.startswith(f"Seed {seed} breaks a law: who was told that they hold a right")
    assert count == f"{len(steps)} of its steps are enough:"
    assert again == f"Again: python -m bench authority --seed {seed}"
    assert [line.split()[1] for line in steps] == ["cuts", "claims"] or len(steps) <= 4


def test_of_a_schedule_that_was_made_smaller_no_step_can_go() -> None:
    steps = schedule.steps(3, 40)
    needed = [steps[4], steps[17], steps[30]]
    assert schedule.smaller(steps, lambda part: all(step in part for step in needed)) == needed
