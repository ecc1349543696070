"""A process that is killed between taking a right and showing it; the next one shows it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents.issues import service as issues
from ghp_agents.issues.local import LocalTracker
from ghp_agents.locks.git import GitLocks
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.private_repo import LEASE_REFS, SEEN_LEASE_REFS, find_repository
from ghp_agents.state.record import Record
from tests.support.claimants import Claimant, Team, known

Clones = Callable[[int], list[Path]]


class KilledError(BaseException):
    """The process ends here."""


class DyingStore(GitRefsStore):
    """A store whose process is killed when it would commit."""

    def commit(self, records: Sequence[Record], expected: str) -> None:
        raise KilledError


def dying(one: Claimant) -> Claimant:
    """The same agent in a process that is killed when the right has changed hands."""
    twin = Claimant(Path(one.ws.place.toplevel or ""), one.name, one.clock)
    twin.store = DyingStore(one.ws)
    twin.tracker = LocalTracker(twin.ws, twin.store, twin.locks)
    return twin


@pytest.mark.slow
def test_a_claim_that_was_killed_half_way_is_shown_by_the_next_one(
    team: Team, one: Claimant, two: Claimant
) -> None:
    two.claim(1)
    two.beat(status="stopped")
    two.sync()
    one.sync()
    with pytest.raises(KilledError):
        dying(one).claim(1)
    assert one.locks.read("issue/1") == known(one)
    again = one.claim(1)
    assert (again.how, again.mended, again.previous) == ("mine", True, "worker-2")
    assert one.assignees(1) == ("worker-1",)
    assert one.in_hand == (1, 2, "planning")
    assert one.story(1)[-1] == ("takeover", "worker-1", 2, "worker-2 is stopped")
    assert one.claim(1) == again._replace(previous=None, mended=False)
    assert [event for event, *_ in one.story(1)].count("takeover") == 1


def test_a_claim_whose_answer_was_lost_is_found_to_be_mine(one: Claimant) -> None:
    one.beat()
    # The remote wrote it, and the process died before it heard of it.
    lock = GitLocks(one.ws).acquire("issue/1", "worker-1", expected=None, epoch=1)
    repository = find_repository(one.ws)
    assert repository
    repository.check("update-ref", "-d", f"{SEEN_LEASE_REFS}issue/1")
    repository.run("update-ref", "-d", f"{LEASE_REFS}issue/1")
    assert known(one) is None
    claimed = one.claim(1)
    assert (claimed.how, claimed.mended, claimed.lock.nonce) == ("mine", True, lock.nonce)
    assert one.story(1) == [("claim", "worker-1", 1, "")]
    assert one.assignees(1) == ("worker-1",)


@pytest.mark.slow
def test_a_release_that_was_killed_half_way_is_shown_by_the_next_one(one: Claimant) -> None:
    one.claim(1)
    with pytest.raises(KilledError):
        dying(one).release(1)
    assert not one.release(1).changed
    assert one.in_hand == (None, None, "idle")
    assert one.assignees(1) == ()
    assert one.story(1)[-1] == ("release", "worker-1", 1, "")
    issues.assign(one.parts, "1", ["worker-1"])
    assert not one.release(1).changed
    assert one.assignees(1) == ("worker-1",)  # given to it since: nothing is left to be shown


@pytest.mark.slow
def test_a_gift_that_was_killed_half_way_is_shown_by_the_next_one(one: Claimant) -> None:
    one.claim(1)
    with pytest.raises(KilledError):
        dying(one).release(1, to="worker-2")
    assert not one.release(1, to="worker-2").changed
    assert one.assignees(1) == ("worker-2",)
    assert one.story(1)[-1] == ("release", "worker-1", 2, "to worker-2; given by worker-1")


# ------------------------------------------------------------------------------- in hand


@pytest.mark.slow
def test_who_gives_back_what_is_in_hand_goes_on_with_the_newest_that_is_left(
    team: Team, one: Claimant
) -> None:
    for title in ("Print", "Sort", "Merge"):
        one.new(title)
    for number in (1, 2, 3, 4):
        team.clock.wait(60)
        one.claim(number)
    hands = [one.in_hand]
    for number in (2, 4):
        one.release(number)
        hands.append(one.in_hand)
    assert one.presence["lastAction"] == "Released #4, goes on with #3"
    one.close(3)
    hands.append(one.in_hand)
    one.release(1)
    assert [*hands, one.in_hand] == [
        (4, 1, "planning"), (4, 1, "planning"), (3, 1, "planning"), (1, 1, "planning"),
        (None, None, "idle"),
    ]  # fmt: skip


@pytest.mark.slow
def test_what_a_person_closed_is_not_gone_on_with(team: Team, one: Claimant) -> None:
    one.new("Print")
    one.claim(1)
    one.claim(2)
    team.join("@me", "worker-1").close(1)
    one.release(2)
    assert one.in_hand == (None, None, "idle")
