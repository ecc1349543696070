"""The decision alone: on one snapshot, the same answer as often as it is asked."""

from pathlib import Path
from typing import Any

import pytest

from ghp_agents.leases.decide import Attempt, DecisionInput, decide
from ghp_agents.leases.request import prepare
from tests.support.leases import Yard, make_yard


@pytest.fixture
def yard(repo: Path) -> Yard:
    return make_yard(repo)


def case(yard: Yard, agent: str, *words: str, in_line: bool = False, **more: Any) -> DecisionInput:
    wanted = yard.wanted(words, **more)
    ctx = yard.parts(agent)
    plan = prepare(ctx, wanted)
    return DecisionInput(ctx, plan, in_line=in_line)


def test_it_writes_nothing_and_decides_the_same_again(yard: Yard) -> None:
    request = case(yard, "worker-1", "src/")
    first = decide(request, yard.store.snapshot())
    assert decide(request, yard.store.snapshot()) == first
    attempt, (record,) = first
    assert attempt.log is not None
    assert attempt.is_new
    assert record.files[0][0] == attempt.log.request.path
    assert yard.store.ledger() == []


def test_records_that_are_made_at_once_follow_each_other(yard: Yard) -> None:
    yard.take("worker-1", "src/a.py")
    yard.take("worker-2", "src/b.py")
    yard.beat("worker-1", "stopped")
    yard.beat("worker-2", "stopped")
    snapshot = yard.store.snapshot()
    _, records = decide(case(yard, "worker-3", "src/"), snapshot)
    assert [record.event for record in records] == ["lease", "lease-release", "lease-release"]
    assert [record.clock - snapshot.clock for record in records] == [1, 2, 3]


def test_who_does_not_wait_is_not_put_in_line(yard: Yard) -> None:
    yard.take("worker-1", "src/")
    for in_line, count in ((False, 0), (True, 1)):
        attempt, records = decide(
            case(yard, "worker-2", "src/", in_line=in_line), yard.store.snapshot()
        )
        assert (attempt.log, len(attempt.obstacles), len(records)) == (None, 1, count)


def test_a_strict_one_that_nothing_is_in_the_way_of_needs_its_right_first(yard: Yard) -> None:
    request = case(yard, "worker-1", "src/", strict=True)
    assert decide(request, yard.store.snapshot()) == (Attempt(), [])
