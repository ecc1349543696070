"""Sweeps: what agents left behind is looked after once; on real git."""

import pytest

from ghp_agents.escalations import service as escalation
from ghp_agents.issues.issue import IssueChange
from ghp_agents.sweep.plan import Free
from tests.support.claimants import DEAD, GONE, Claimant, Team
from tests.support.sweeps import STALE, comments, everything, handoffs, kinds, questions, run

# ----------------------------------------------------------------------------- the silent


@pytest.mark.slow
def test_a_silent_holder_is_told_of_once_and_taken_back_when_it_returns(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.sync()
    run(sweeper)
    team.silence(STALE, two)
    assert kinds(run(sweeper)) == [("Warn", True)]
    assert sweeper.tracker.get(1).labels == ("agent:stale",)
    assert comments(sweeper) == [
        "worker-1 holds this issue and has been silent for 11 min. After 30 min it counts as "
        "dead, and the issue goes back to the queue."
    ]
    before = everything(sweeper)
    assert kinds(run(sweeper)) == []
    assert everything(sweeper) == before
    one.beat(lastAction="Back")
    one.sync()
    assert kinds(run(sweeper)) == [("Recall", True)]
    assert sweeper.tracker.get(1).labels == ()
    assert comments(sweeper)[1:] == ["worker-1 is back and continues with this issue."]
    assert kinds(run(sweeper)) == []


@pytest.mark.slow
def test_a_holder_that_falls_silent_again_is_marked_again_without_another_comment(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.sync()
    for _ in range(3):
        run(sweeper)
        team.silence(STALE, two)
        assert kinds(run(sweeper)) == [("Warn", True)]
        one.beat(lastAction=f"Back at {one.clock.now()}")
        one.sync()
        assert kinds(run(sweeper)) == [("Recall", True)]
    assert len(comments(sweeper)) == 2


# ------------------------------------------------------------------------------- the dead


@pytest.mark.slow
def test_a_dead_holders_issue_goes_back_to_the_queue_with_a_handoff(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    claimed = one.claim(1)
    one.beat(status="testing", lastAction="Ran the tests")
    one.sync()
    run(sweeper)
    team.silence(DEAD, two)
    assert kinds(run(sweeper)) == [("Free", True)]
    lease = sweeper.locks.read("issue/1")
    assert lease
    assert (lease.holder, lease.reason) == (None, "swept: worker-1 is dead")
    assert sweeper.assignees(1) == ()
    (handoff,) = handoffs(sweeper)
    assert handoff.note.splitlines()[2] == (
        "Its last report, 2025-06-15T15:06:40Z: testing: Ran the tests"
    )
    assert comments(sweeper) == [
        "worker-1 held this issue and is dead. The issue is back in the queue: attempt 1 of 3. "
        f"The handoff {handoff.name} has the details."
    ]
    assert sweeper.story(1)[-1] == (
        "release", "Ann Example", 1, "swept: worker-1 is dead; held by worker-1",
    )  # fmt: skip
    before = everything(sweeper)
    assert kinds(run(sweeper)) == []
    assert everything(sweeper) == before
    two.sync()
    assert two.claim(1).lock.generation == claimed.lock.generation + 1


@pytest.mark.slow
def test_who_comes_back_is_fenced_and_what_it_says_is_kept(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.sync()
    run(sweeper)
    team.silence(DEAD, two)
    run(sweeper)
    two.sync()
    two.claim(1)
    with pytest.raises(Exception, match="claimed by worker-2"):
        one.release(1)


@pytest.mark.slow
def test_under_alert_the_dead_are_only_told_of(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.sync()
    run(sweeper)
    team.silence(DEAD, two)
    first = run(sweeper, policy="alert")
    assert kinds(first) == [("Tell", False), ("Warn", True)]
    assert kinds(run(sweeper, policy="alert")) == [("Tell", False)]
    assert len(comments(sweeper)) == 1
    lease = sweeper.locks.read("issue/1")
    assert lease
    assert lease.holder == "worker-1"


@pytest.mark.slow
def test_a_dead_holders_issue_is_given_to_the_least_loaded_who_can_do_it(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    three = team.join("worker-3")
    one.tracker.change(1, IssueChange(add_labels=("needs:rust",)), one.ws.actor())
    two.new("Another")
    two.sync()
    two.claim(2)
    for agent, words in ((two, ["rust", "docs"]), (three, ["docs"])):
        agent.beat(capabilities=words)
    one.claim(1)
    one.sync()
    for x in (two, three):
        x.sync()
    run(sweeper)
    team.silence(DEAD, two, three)
    (outcome,) = run(sweeper, policy="reassign").outcomes
    assert isinstance(outcome.act, Free)
    assert outcome.text == "worker-1 is dead; given to worker-2 (attempt 1)"
    lease = sweeper.locks.read("issue/1")
    assert lease
    assert (lease.holder, lease.generation, lease.epoch) == ("worker-2", 2, 1)
    assert sweeper.assignees(1) == ("worker-2",)
    two.sync()
    taken = two.claim(1)
    assert (taken.how, taken.lock) == ("mine", lease)
    before = everything(sweeper)
    assert kinds(run(sweeper, policy="reassign")) == []
    assert everything(sweeper) == before


@pytest.mark.slow
def test_where_nobody_can_do_it_the_issue_goes_back_to_the_queue(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    one.tracker.change(1, IssueChange(add_labels=("needs:rust",)), one.ws.actor())
    two.beat(capabilities=["docs"])
    one.claim(1)
    one.sync()
    two.sync()
    run(sweeper)
    team.silence(DEAD, two)
    (outcome,) = run(sweeper, policy="reassign").outcomes
    assert outcome.text == "worker-1 is dead; back in the queue (attempt 1)"


@pytest.mark.slow
def test_after_three_attempts_a_person_is_asked_and_an_answer_begins_anew(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    for attempt in (1, 2, 3):
        one.beat(lastAction=f"Attempt {attempt}")
        one.sync()
        one.claim(1)
        one.sync()
        run(sweeper)
        assert questions(sweeper) == []
        team.silence(DEAD, two)
        run(sweeper)
    (question,) = questions(sweeper)
    assert (question.title, question.question.issue) == ("Who should continue with #1?", 1)
    before = everything(sweeper)
    assert kinds(run(sweeper)) == []
    assert everything(sweeper) == before
    two.sync()
    with pytest.raises(Exception, match="1 is waiting for a person to choose the next agent"):
        two.claim_next()
    escalation.answer(sweeper.parts, question.name, "1")
    run(sweeper)
    two.sync()
    assert two.claim_next().issue.number == 1
    two.sync()
    run(sweeper)
    team.silence(DEAD, one)
    (outcome,) = run(sweeper).outcomes
    assert outcome.text == "worker-2 is dead; back in the queue (attempt 1)"


@pytest.mark.slow
def test_who_was_never_heard_of_but_by_its_claim_is_dead_after_that_time(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    lost = team.join("worker-9")
    lost.sync()
    lost.claim(1)  # and the machine goes down before anything else is sent
    run(sweeper)
    team.silence(STALE, one, two)
    assert kinds(run(sweeper)) == []
    team.silence(DEAD, one, two)
    (outcome,) = run(sweeper).outcomes
    assert outcome.text == "worker-9 is unknown; back in the queue (attempt 1)"


@pytest.mark.slow
def test_a_persons_claim_is_never_taken(
    team: Team, one: Claimant, two: Claimant, sweeper: Claimant
) -> None:
    team.person("worker-1").claim(1)
    one.sync()
    run(sweeper)
    team.silence(GONE, two)
    assert kinds(run(sweeper)) == []


@pytest.mark.slow
def test_the_claim_of_a_closed_issue_is_given_back_and_its_assignee_stays(
    team: Team, one: Claimant, sweeper: Claimant
) -> None:
    one.claim(1)
    one.sync()
    sweeper.sync()
    sweeper.tracker.change(1, IssueChange(state="closed"), sweeper.ws.actor())
    assert kinds(run(sweeper)) == [("Close", True)]
    lease = sweeper.locks.read("issue/1")
    assert lease
    assert (lease.holder, lease.reason) == (None, "its issue is closed")
    assert sweeper.assignees(1) == ("worker-1",)
    assert kinds(run(sweeper)) == []
