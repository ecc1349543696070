"""Dispatch on real git: what is assigned, and taken back."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.jobs import dispatch
from tests.support.claimants import Claimant, Team


def assigned(one: Claimant) -> list[tuple[int, str, tuple[str, ...]]]:
    done = dispatch.dispatch(one.parts)
    assert done.failures == {}
    return [(x.issue.number, x.to, x.was) for x in done.plan.assignments]


def test_open_issues_are_assigned_once_and_the_agent_claims_its_own(
    team: Team, one: Claimant
) -> None:
    one.beat(lastAction="At work")
    one.new("Second")
    person = team.person("worker-1")
    assert dispatch.dispatch(person.parts, dry_run=True).plan.waiting == {
        "waiting for an agent with room": 1
    }
    assert one.assignees(1) == ()
    assert assigned(person) == [(1, "worker-1", ())]
    assert one.assignees(1) == ("worker-1",)
    assert assigned(person) == []
    assert one.claim_next().issue.number == 1
    assert dispatch.given(person.parts) == {1: "worker-1"}


def test_an_agent_that_only_registered_gets_nothing(team: Team, one: Claimant) -> None:
    one.beat()
    assert assigned(team.person("worker-1")) == []


@pytest.mark.slow
def test_the_queue_of_a_dead_agent_goes_to_another_and_what_people_assigned_stays(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.beat(lastAction="At work")
    one.new("By hand", add_assignees=("worker-1",), priority="low")
    person = team.person("worker-2")
    one.close(2)
    one.sync()
    person.sync()
    assert assigned(person) == [(1, "worker-1", ())]
    person.new("By a person", add_assignees=("worker-1",))
    two.beat(lastAction="At work")
    team.silence(2_000.0, two)
    assert assigned(person) == [(1, "worker-2", ("worker-1",))]
    assert two.assignees(1) == ("worker-2",)
    assert two.assignees(3) == ("worker-1",)
    assert two.claim_next().issue.number == 1


def test_an_agent_may_not_assign_to_others(one: Claimant) -> None:
    with pytest.raises(RefusedError) as caught:
        dispatch.dispatch(one.parts)
    assert str(caught.value) == "worker-1 may not assign issues to others."
