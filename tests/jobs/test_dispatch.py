"""Dispatch on real git: what is assigned, and taken back."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.jobs import dispatch
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from tests.support.claimants import THEN, Claimant, Team


def assigned(one: Claimant) -> list[tuple[int, str, tuple[str, ...]]]:
    done = dispatch.dispatch(one.parts)
    assert done.failures == {}
    return [(x.issue.number, x.to, x.was) for x in done.plan.assignments]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_dispatches_of_two_clones_at_once_leave_one_agent(
    team: Team, one: Claimant, two: Claimant
) -> None:
    here, other = team.person("worker-1"), team.person("worker-2")
    one.sync()
    two.sync()
    two.beat(lastAction="At work")  # the first clone does not know it yet
    one.beat(lastAction="At work")
    assert [(x.issue.number, x.to) for x in dispatch.read_plan(here.parts).assignments] == [
        (1, "worker-1")
    ]
    assert assigned(other) == [(1, "worker-2", ())]
    dispatch.dispatch(here.parts)
    here.sync()
    other.sync()
    assert len(here.assignees(1)) == 1
    assert here.assignees(1) == other.assignees(1)


@pytest.mark.slow
def test_only_the_notes_of_those_who_may_assign_count(team: Team, one: Claimant) -> None:
    note = Record(
        dispatch.EVENT, Actor("worker-1"), "#1", "0" * 16, Timestamp(THEN), 0, (), issue=1,
        text="worker-1",
    )  # fmt: skip
    transact(one.store, lambda _: (None, [note]))
    assert dispatch.given(one.parts) == {}


@pytest.mark.slow
def test_a_watch_reports_each_change(team: Team, one: Claimant) -> None:
    one.beat(lastAction="At work")
    person = team.person("worker-1")
    changes = dispatch.watch(person.parts)
    assert [(x.issue.number, x.to) for x in next(changes).plan.assignments] == [(1, "worker-1")]
    one.close(1)
    one.new("Second")
    assert [(x.issue.number, x.to) for x in next(changes).plan.assignments] == [(2, "worker-1")]


def test_an_agent_may_not_assign_to_others(one: Claimant) -> None:
    with pytest.raises(RefusedError) as caught:
        dispatch.dispatch(one.parts)
    assert str(caught.value) == "worker-1 may not assign issues to others."
