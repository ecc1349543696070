"""Which issue is the next for whom, and why there is none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.claims import service as claims
from ghp_agents.core.errors import RefusedError
from ghp_agents.issues import service as issues
from ghp_agents.issues.issue import IssueChange
from tests.support.claimants import DEAD, Claimant, Team
from tests.support.clock import ManualClock

Clones = Callable[[int], list[Path]]


def titles_in_turn(who: Claimant, count: int) -> list[str]:
    taken: list[str] = []
    for _ in range(count):
        claimed = who.claim_next()
        taken.append(claimed.issue.title)
        who.close(claimed.issue.number)
    return taken


@pytest.mark.slow
def test_the_next_is_mine_then_critical_then_assigned_to_me_then_old(one: Claimant) -> None:
    one.new("Low", priority="low")
    one.new("Urgent", priority="critical")
    one.new("For me", priority="low", add_assignees=("worker-1",))
    one.new("For another", priority="critical", add_assignees=("worker-2",))
    one.new("Waits", blocked_by=(2,), priority="critical")
    one.new("Mine", priority="low")
    one.claim(7)
    assert titles_in_turn(one, 6) == ["Mine", "Urgent", "For me", "Parse files", "Low", "Waits"]
    with pytest.raises(RefusedError) as caught:
        one.claim_next()
    assert str(caught.value) == "No issue is ready: 1 is assigned to worker-2."


@pytest.mark.slow
def test_the_next_is_no_epic_and_waits_for_no_person_and_both_can_be_named(one: Claimant) -> None:
    one.close(1)
    one.new("Everything", priority="critical", add_labels=("epic",))
    one.new("Asked about", priority="critical", add_labels=("agent:needs-human",))
    one.new("Small", priority="low")
    assert titles_in_turn(one, 1) == ["Small"]
    with pytest.raises(RefusedError) as caught:
        one.claim_next()
    assert str(caught.value) == (
        "No issue is ready: 1 is split into other issues, 1 is waiting for a person."
    )
    assert one.claim(3).issue.title == "Asked about"
    assert one.claim(2).issue.title == "Everything"
    assert one.claim_next().issue.title == "Everything"  # it was taken by its name


@pytest.mark.slow
def test_the_next_again_is_the_same_until_it_is_done(one: Claimant) -> None:
    one.new("Second")
    first = one.claim_next()
    again = one.claim_next()
    assert (first.issue.number, first.how) == (1, "claim")
    assert (again.issue.number, again.how) == (1, "mine")


@pytest.mark.slow
def test_an_issue_of_mine_that_waits_is_not_the_next(one: Claimant) -> None:
    one.new("Blocks it", priority="low")
    one.claim(1)
    issues.block(one.parts, "1", ["2"])
    assert one.claim_next().issue.number == 2


@pytest.mark.slow
def test_the_next_fits_what_the_agent_can(one: Claimant) -> None:
    one.new("On a GPU", add_labels=("needs:gpu",), priority="critical")
    one.new("In Rust", body="### Capabilities\n\nrust, tests", priority="high")
    (one.ws.root / ".ghp").mkdir(exist_ok=True)
    (one.ws.root / ".ghp/config.json").write_text(
        '{"agents": {"capabilities": {"worker-1": ["Rust", "tests"]}}}'
    )
    able = Claimant(Path(one.ws.place.toplevel or ""), "worker-1", one.clock)
    assert titles_in_turn(able, 2) == ["In Rust", "Parse files"]
    with pytest.raises(RefusedError) as caught:
        able.claim_next()
    assert str(caught.value) == "No issue is ready: 1 is reserved for agents with gpu."


@pytest.mark.slow
def test_who_loses_a_race_for_the_next_gets_the_one_after(one: Claimant, two: Claimant) -> None:
    one.new("Second")
    one.sync()
    two.sync()
    one.claim(1)  # of which the other has not heard
    assert two.claim_next().issue.number == 2
    assert two.story(1) == []


@pytest.mark.slow
def test_where_all_is_taken_it_says_by_whom(one: Claimant, two: Claimant) -> None:
    one.new("Second", blocked_by=(1,))
    one.sync()
    two.sync()
    one.claim(1)
    with pytest.raises(RefusedError) as caught:
        two.claim_next()
    assert str(caught.value) == (
        "No issue is ready: 1 is blocked by another issue, 1 is claimed by worker-1."
    )


def test_where_no_issue_is_open_it_says_so(repo: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        Claimant(repo, "worker-1", ManualClock()).claim_next()
    assert str(caught.value) == "No issue is ready: none is open."


@pytest.mark.slow
def test_what_was_given_back_of_which_this_clone_has_not_heard_is_ready(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    one.release(1)
    one.sync()
    with pytest.raises(RefusedError) as caught:
        two.claim_next()  # the right is free, but for all it knows the issue is still assigned
    assert str(caught.value) == "No issue is ready: 1 is assigned to worker-1."
    two.sync()
    assert two.claim_next().how == "claim"


@pytest.mark.slow
def test_the_next_may_be_a_dead_holders_but_not_one_that_has_just_stopped(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.beat(status="stopped")
    one.sync()
    two.sync()
    with pytest.raises(RefusedError) as caught:
        two.claim_next()
    assert str(caught.value) == "No issue is ready: 1 is claimed by worker-1."
    team.silence(DEAD, two)
    assert two.claim_next().how == "takeover"


@pytest.mark.slow
def test_a_person_can_have_the_next_too(team: Team, one: Claimant) -> None:
    one.new("On a GPU", add_labels=("needs:gpu",), priority="critical")
    person = team.person("worker-1")
    claimed = person.claim_next()
    assert (claimed.issue.number, claimed.lock.holder) == (2, "Ann Example")
    assert person.tracker.change(2, IssueChange(), person.ws.actor()).assignees == ("Ann Example",)


def test_an_issue_that_is_ones_own_and_waits_is_not_called_taken(one: Claimant) -> None:
    one.claim(1)
    with pytest.raises(RefusedError) as caught:
        claims.claim_next(one.parts, {1})
    assert str(caught.value) == "No issue is ready: 1 is already its own."
