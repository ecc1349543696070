"""The story of an issue on a GitHub as odd as the real one: whatever goes wrong with a request,
GitHub shows in the end what it shows when nothing does."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.support.faults import Fault
from tests.support.github import GitHub, World
from tests.support.odd_story import OddStory, Plan
from tests.support.replicas import behind
from tests.support.thorough import some

NOW = 1_780_000_000.0
# All but answers that only take long, and a server that lies.
KINDS = tuple(fault for fault in Fault if fault not in (Fault.SLOW, Fault.STALE))
EACH = 2  # faults in one step of one run
RUNS = 50
LATE = {"one": 1.5, "lists": 2.0, "events": 20.0}  # seconds


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> OddStory:
    """The story without faults."""
    with GitHub(World(None, None), tmp_path_factory.mktemp("reference")).open() as github:
        of = OddStory(github, NOW)
        of.tell()
        return of


def plans(counts: Mapping[str, int]) -> list[list[Plan]]:
    """What goes wrong in each run: requests of all steps and all kinds, dealt out by dice."""
    dice = random.Random(7)
    dealt: list[list[Plan]] = [[] for _ in range(RUNS)]
    for step, count in counts.items():
        cases = [(number, kind) for number in range(1, count + 1) for kind in KINDS]
        dice.shuffle(cases)
        for run in dealt:
            run.append(Plan(step, dict(cases.pop() for _ in range(EACH))))
    return dealt


def differences(reference: OddStory, other: OddStory) -> str:
    """What GitHub shows otherwise than without faults, after which step."""
    return "\n".join(
        f"{step}: {where}: {was} -> {now}"
        for step, before in reference.shown.items()
        for where, was, now in changes(before, other.shown[step])
    )


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each field that differs."""
    for where in sorted({*before, *after}):
        was, now = before.get(where), after.get(where)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            for field, one, other in changes(was, now):
                yield f"{where}: {field}", one, other
        elif was != now:
            yield where, was, now


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("run", some(range(RUNS), every=RUNS, first=4))
def test_a_fault_in_each_step_leaves_no_trace(reference: OddStory, odd: GitHub, run: int) -> None:
    if run % 5 == 4:
        odd.replicas.lag = behind(**LATE)
    of = OddStory(odd, NOW)
    of.tell(plans(reference.asked)[run])
    assert of.story.twice() == []
    assert differences(reference, of) == ""
