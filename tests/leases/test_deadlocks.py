"""Waiting as clones know it, and the one question to a person where agents wait for each other."""

from textwrap import dedent

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.escalations.service import answer, read_all
from ghp_agents.issues.issue import IssueChange
from ghp_agents.leases import deadlocks as waiting
from ghp_agents.leases.wait_graph import Wait
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import AgentView
from ghp_agents.state.sender_budget import SenderBudget
from tests.issues.places import Place, Team, meet

DEAD = 1_801


@pytest.fixture
def team() -> Team:
    return Team()


@pytest.fixture
def place(team: Team) -> Place:
    return team.clone("c1")


def new(place: Place, title: str, *blockers: int) -> int:
    change = IssueChange(title=title, add_blockers=tuple(blockers))  # type: ignore[arg-type]
    return place.tracker.create(change, Actor("Ada", True)).number


def works(place: Place, agent: str, issue: int, **fields: object) -> None:
    """`agent`, who lives in this clone, claims an issue and has it in hand."""
    lease = place.locks.acquire(
        f"issue/{issue}", agent, expected=place.locks.read(f"issue/{issue}"), epoch=1
    )
    beats(place, agent, issue=issue, generation=lease.generation, **fields)


def beats(place: Place, agent: str, **fields: object) -> None:
    seq = place.store.snapshot().agents().get(agent, {}).get("seq", 0) + 1
    place.store.beat(agent, {"status": "implementing", "epoch": 1, "seq": seq, **fields})


def views(place: Place) -> list[AgentView]:
    return presence.list_agents(place.parts, place.store.snapshot())


def waits(place: Place) -> list[Wait]:
    snapshot = place.store.snapshot()
    return waiting.waits(place.parts, snapshot, views(place))


def escalate(place: Place) -> list[Escalation]:
    results = waiting.escalate_cycles(
        place.parts, waits(place), views(place), SenderBudget(place.store.snapshot())
    )
    return [result.escalation for result in results if result.is_new]


def questions(place: Place) -> list[Escalation]:
    return read_all(place.parts.world)[0]


# ---------------------------------------------------------------------------- who waits


def test_an_agent_waits_for_who_holds_what_blocks_its_issue(place: Place) -> None:
    first = new(place, "Storage")
    works(place, "worker-2", first)
    works(place, "worker-1", new(place, "Table", first))
    assert waits(place) == [Wait("worker-1", "worker-2", "#1", "issue/1@1")]
    shown = {view.name: view.presence for view in waiting.shown(views(place), waits(place))}
    assert shown["worker-1"]["status"] == "blocked"
    assert shown["worker-1"]["waitsFor"] == [{"agent": "worker-2", "what": "#1"}]
    assert shown["worker-2"]["status"] == "implementing"
    assert "waitsFor" not in shown["worker-2"]
    assert waiting.sentences(waits(place), ["worker-1", "worker-2"]) == [
        "worker-1 waits for #1 (worker-2)"
    ]


def test_of_a_long_queue_the_first_are_told_and_the_others_counted() -> None:
    names = [f"worker-{number}" for number in range(1, 10)]
    long_queue = [
        Wait(later, earlier, "lease db", f"L-{earlier}")
        for number, later in enumerate(names)
        for earlier in names[:number]
    ]
    assert waiting.sentences(long_queue, ["worker-2", "worker-9"]) == [
        "worker-2 waits for lease db (worker-1)",
        "worker-9 waits for lease db (worker-1)",
        "worker-9 waits for lease db (worker-2), who waits for lease db (worker-1)",
        "worker-9 waits for lease db (worker-3), who waits for lease db (worker-1)",
        "worker-9 waits for 5 more",
    ]


def test_it_waits_no_longer_when_the_other_is_done(place: Place) -> None:
    works(place, "worker-2", new(place, "Storage"))
    works(place, "worker-1", new(place, "Table", 1))
    place.tracker.change(1, IssueChange(state="closed"), Actor("worker-2"))
    assert waits(place) == []


def test_the_dead_and_the_stopped_wait_for_nobody_but_are_waited_for(place: Place) -> None:
    works(place, "worker-2", new(place, "Storage"))
    works(place, "worker-1", new(place, "Table", 1))
    works(place, "worker-3", new(place, "Page", 2), status="stopped")
    assert [wait.waiter for wait in waits(place)] == ["worker-1"]
    place.ws.clock.wait(DEAD)
    assert waits(place) == []
    beats(place, "worker-1", issue=2, generation=1)
    assert waits(place) == [Wait("worker-1", "worker-2", "#1", "issue/1@1")]


def test_a_person_who_holds_the_blocker_is_waited_for(place: Place) -> None:
    place.locks.acquire(f"issue/{new(place, 'Storage')}", "Ada", expected=None)
    works(place, "worker-1", new(place, "Table", 1))
    assert waits(place) == [Wait("worker-1", "Ada", "#1", "issue/1@1")]


def test_nothing_is_loaded_where_nobody_claims_and_nobody_leases(place: Place) -> None:
    new(place, "Storage")
    beats(place, "worker-1", issue=1)
    assert not presence.may_wait(place.store.snapshot(), views(place))
    works(place, "worker-1", 1)
    assert presence.may_wait(place.store.snapshot(), views(place))


# ------------------------------------------------------------------------------ circles


def circle(one: Place, other: Place) -> None:
    """worker-1 of `one` and worker-2 of `other` wait for each other: each has taken what the other
    needs."""
    for title, blockers in (("A", ()), ("B", (1,)), ("C", ()), ("D", (3,))):
        new(one, title, *blockers)
    meet(one, other)
    works(one, "worker-1", 3)
    works(one, "worker-1", 2)
    works(other, "worker-2", 1)
    works(other, "worker-2", 4)
    meet(one, other)
    for place in (one, other):
        place.locks.hear()


def test_a_circle_is_asked_about_once_over_clones_and_repeats(team: Team) -> None:
    one, other = team.clone("c1"), team.clone("c2", "worker-2")
    circle(one, other)
    assert len(waits(one)) == 2
    assert escalate(other) == []
    (question,) = escalate(one)
    assert question.question.agent == "worker-1"
    assert question.question.issue == 1
    assert question.urgency == "high"
    assert question.question.options == (
        "worker-1 goes first: without #1",
        "worker-2 goes first: without #3",
    )
    assert question.question.text == dedent(
        """\
        worker-1, worker-2 wait for each other in a deadlock. Who goes first?

        - worker-1 waits for #1 of worker-2 (issue/1@1)
        - worker-2 waits for #3 of worker-1 (issue/3@1)"""
    )
    for _ in range(2):
        meet(one, other)
        assert [*escalate(one), *escalate(other)] == []
    assert [x.id for x in questions(other)] == [question.id]
    comments = one.tracker.get(1).comments
    assert len(comments) == 1


def test_an_answered_circle_is_not_asked_about_again_while_it_is_being_undone(team: Team) -> None:
    one, other = team.clone("c1"), team.clone("c2", "worker-2")
    circle(one, other)
    (question,) = escalate(one)
    ada = team.clone("c3", "ada")
    meet(one, ada)
    answer(ada.parts, question.name, "1")
    meet(one, ada, other)
    assert [*escalate(one), *escalate(other)] == []


def test_the_same_agents_in_a_new_circle_are_another_question(team: Team) -> None:
    one, other = team.clone("c1"), team.clone("c2", "worker-2")
    circle(one, other)
    (first,) = escalate(one)
    lease = other.locks.read("issue/1")
    assert lease is not None
    other.locks.release("issue/1", expected=lease)
    one.locks.hear()
    assert escalate(one) == []
    works(other, "worker-2", 1)
    beats(other, "worker-2", issue=4, generation=1)
    one.locks.hear()
    (second,) = escalate(one)
    assert first.id != second.id
    assert "(issue/1@2)" in second.question.text


def test_a_circle_with_a_person_in_it_is_asked_about_by_the_agent(place: Place) -> None:
    for title, blockers in (("A", ()), ("B", (1,)), ("C", ()), ("D", (3,))):
        new(place, title, *blockers)
    place.locks.acquire("issue/1", "Ada", expected=None)
    works(place, "worker-1", 3)
    works(place, "worker-1", 2)
    place.locks.acquire("issue/4", "Ada", expected=None)
    (question,) = escalate(place)
    assert question.question.agent == "worker-1"
    assert question.question.text.startswith("Ada, worker-1 wait for each other")
    assert escalate(place) == []
