"""Whether the holder of a claim lives, as a clone can tell: its silence, and signs of life."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AgentName
from ghp_agents.sync.notifications import fence_lines
from tests.support.claimants import DEAD, GONE, THEN, Claimant, Team
from tests.support.machines import forge, presence

Clones = Callable[[int], list[Path]]


@pytest.mark.slow
def test_a_dead_holders_issue_is_taken_with_the_next_generation(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(DEAD, two)
    taken = two.claim(1)
    assert (taken.how, taken.previous, taken.lock.generation) == ("takeover", "worker-1", 2)
    assert taken.lock.reason == "worker-1 is dead"
    assert taken.issue.assignees == ("worker-2",)
    two.sync()
    one.sync()
    assert one.story(1) == [
        ("claim", "worker-1", 1, ""),
        ("takeover", "worker-2", 2, "worker-1 is dead"),
    ]


def test_a_dead_holder_in_the_same_clone_can_be_replaced_too(team: Team, one: Claimant) -> None:
    one.claim(1)
    team.clock.wait(DEAD)
    mate = team.join("worker-7", "worker-1")
    assert mate.claim(1).how == "takeover"
    assert mate.assignees(1) == ("worker-7",)
    lines = fence_lines(one.parts, one.store.snapshot(), AgentName("worker-1"))
    assert [line[:62] for line in lines] == [
        "Your claim of #1 was taken: worker-7 has held it since 2025-06"
    ]


@pytest.mark.slow
def test_a_holder_that_stopped_said_so_and_can_be_replaced_at_once(
    one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.beat(status="stopped")
    one.sync()
    two.sync()
    taken = two.claim(1, reason="It is urgent")
    assert (taken.how, taken.lock.reason) == ("takeover", "worker-1 is stopped: It is urgent")


@pytest.mark.slow
@pytest.mark.parametrize("silence", [0.0, 900.0])
def test_a_living_holder_keeps_it(team: Team, one: Claimant, two: Claimant, silence: float) -> None:
    one.claim(1)
    one.sync()
    two.sync()
    team.silence(silence, two)
    with pytest.raises(RefusedError):
        two.claim(1)


@pytest.mark.slow
def test_a_claim_of_which_this_clone_has_just_heard_is_a_sign_of_life(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.beat(status="planning")
    one.sync()
    two.sync()
    team.silence(DEAD, two)  # the other clone takes it for dead
    one.claim(1)  # it is not; but what it says of itself is not sent yet
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert "claimed by worker-1" in str(caught.value)
    team.silence(DEAD, two)
    assert two.claim(1).how == "takeover"


@pytest.mark.slow
def test_who_stopped_and_came_back_keeps_what_it_claims_then(one: Claimant, two: Claimant) -> None:
    one.beat(status="stopped")
    one.sync()
    two.sync()
    one.claim(1)
    with pytest.raises(RefusedError):
        two.claim(1)


def test_a_holder_of_which_nothing_was_ever_heard_is_taken_to_live(
    team: Team, one: Claimant
) -> None:
    one.locks.acquire("issue/1", "worker-8", expected=None, epoch=4)
    team.clock.wait(GONE)
    with pytest.raises(RefusedError):
        one.claim(1)


@pytest.mark.slow
def test_what_one_unheard_of_was_given_is_not_free_whatever_others_say_of_it(
    team: Team, one: Claimant, two: Claimant
) -> None:
    one.claim(1)
    one.release(1, to="worker-8")
    presences = {"worker-8": presence(900_000, "implementing", processRunsFor=0, silentFor=80_000)}
    forge(team.remote, presences)
    two.sync()
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert "claimed by worker-8" in str(caught.value)
    team.silence(DEAD, two)
    assert two.claim(1).how == "takeover"


@pytest.mark.slow
def test_a_claim_never_expires_under_a_person(team: Team, one: Claimant, two: Claimant) -> None:
    person = team.person("worker-1")
    assert person.claim(1).lock.is_person
    assert person.claim(1).how == "mine"
    person.sync()
    team.silence(GONE, two)
    with pytest.raises(RefusedError) as caught:
        two.claim(1)
    assert str(caught.value) == f"#1 is claimed by «Ann Example» (a person) since {THEN}."
