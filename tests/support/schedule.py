"""Schedules of a simulated world: made from a seed, run, replayed, and made smaller on failure.

A step is only numbers and a word, and what it means is found out when it runs. So any part of a
schedule is a schedule, too, and a failing one can be cut down.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.support.acts import OF_CLAIMS, Act, Run, Step
from tests.support.acts_of_leases import OF_LEASES
from tests.support.acts_of_messages import OF_MESSAGES, come_together
from tests.support.acts_of_work import OF_WORK, keep
from tests.support.disasters import DISASTERS
from tests.support.laws import ViolationError
from tests.support.world import AGENTS, CLONES, World

ACTS: dict[str, Act] = OF_CLAIMS | OF_LEASES | OF_MESSAGES | OF_WORK | DISASTERS

WEIGHTS = {
    "passes": 14, "beats": 14, "syncs": 14, "claims": 18, "next": 5, "steals": 4, "releases": 6,
    "gives": 4, "verifies": 6, "closes": 2, "reopens": 4, "begins": 5, "moves": 4, "sleeps": 4,
    "wakes": 9, "stops": 2, "person-claims": 2, "person-steals": 1, "person-releases": 3,
    "cuts": 3, "mends": 8, "breaks": 2, "leases": 7, "gives-back": 2, "edits": 8,
    "sends": 9, "hears": 9, "takes-on": 5, "reports": 3,
    "backs-up": 2, "restores": 1, "loses-right": 1, "loses-clone": 1, "loses-answer": 2,
    "sets-clock": 4, "restarts": 1, "kills": 2, "copies": 1, "forges": 3, "checks-all": 4,
    "works": 5, "falls-silent": 3, "assigns": 1, "person-gives": 1, "removes": 1, "meets": 2,
}  # fmt: skip
WRITERS = ("claims", "next", "steals", "releases", "gives", "closes", "person-claims", "leases",
           "sends", "takes-on", "reports")  # fmt: skip


def steps(seed: int, count: int, weights: Mapping[str, int] = WEIGHTS) -> list[Step]:
    """A schedule, the same for the same seed."""
    rng = Random(seed)
    return [_step(rng, weights) for _ in range(count)]


def _step(rng: Random, weights: Mapping[str, int]) -> Step:
    (kind,) = rng.choices([*weights], [*weights.values()])
    agent, clone = rng.randrange(len(AGENTS)), rng.randrange(CLONES)
    step = Step(kind, agent, clone, rng.randrange(100))
    return step._replace(rival=_rival(rng, step)) if kind in WRITERS else step


def _rival(rng: Random, step: Step) -> Step | None:
    """Who gets in between, one time in four; half of those want the very same."""
    if rng.random() >= 0.25:
        return None
    rival = _step(rng, {kind: WEIGHTS[kind] for kind in WRITERS})._replace(rival=None)
    return rival._replace(kind=step.kind, number=step.number) if rng.random() < 0.5 else rival


# ------------------------------------------------------------------ running and shrinking


class Outcome(NamedTuple):
    """What became of a schedule."""

    steps: Sequence[Step]  # up to the one that broke a law
    violation: str | None
    counts: Counter[str]


def play(seed: int, schedule: Sequence[Step], world: type[World] = World) -> Outcome:
    """Run a schedule in a world of its own."""
    folder = Path(tempfile.mkdtemp(prefix="ghp-world-", dir=memory()))
    try:
        run = Run(world(folder, seed), ACTS)
        taken = 0
        try:
            for step in schedule:
                taken += 1
                run.take(step)
            end(run)
        except ViolationError as error:
            return Outcome(schedule[:taken], str(error), run.world.counts)
        return Outcome(schedule, None, run.world.counts)
    finally:
        shutil.rmtree(folder)


def end(run: Run) -> None:
    """All come together, and hear of each other; in the end nothing is lost."""
    run.end()
    come_together(run)
    keep(run)


def memory() -> str | None:
    """A folder that is no disk, where the system has one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def smaller(schedule: Sequence[Step], fails: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """A part of a failing schedule that fails as well, and of which no single step can go."""
    left = [*schedule]
    size = max(1, len(left) // 2)
    while True:
        part = next((part for part in _without(left, size) if fails(part)), None)
        if part is not None:
            left = part
        elif size == 1:
            return left
        else:
            size //= 2


def _without(schedule: list[Step], size: int) -> Iterator[list[Step]]:
    for start in range(0, len(schedule), size):
        yield schedule[:start] + schedule[start + size :]


def told(seed: int, outcome: Outcome, world: type[World] = World) -> str:
    """A failure as people need it: how to have it again, and the steps that are enough for it."""
    few = smaller(outcome.steps, lambda part: play(seed, part, world).violation is not None)
    lines = "\n".join(f"  {number}. {_shown(step)}" for number, step in enumerate(few, 1))
    why = play(seed, few, world).violation
    return (
        f"Seed {seed} breaks a law: {why}\n{len(few)} of its steps are enough:\n{lines}\n"
        f"Again: python -m bench authority --seed {seed}"
    )


def _shown(step: Step) -> str:
    words = f"{step.kind} agent={AGENTS[step.agent]} clone={step.clone} number={step.number}"
    return words + (f", and in the middle: {_shown(step.rival)}" if step.rival else "")


def check(seed: int, count: int, world: type[World] = World) -> Counter[str]:
    """Run a schedule from a seed; what was done how often. Raises ViolationError, replayable."""
    outcome = play(seed, steps(seed, count), world)
    if outcome.violation is not None:
        raise ViolationError(told(seed, outcome, world))
    return outcome.counts
