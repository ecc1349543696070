"""What becomes of a right that the remote lost history of."""

from ghp_agents.core.ids import Timestamp
from ghp_agents.locks.lock import Lock, given_back
from ghp_agents.locks.lost_lock import forgotten, joined
from ghp_agents.state.cause import DISPUTE, Cause

AT = Timestamp("2025-06-15T15:06:40Z")


def right(holder: str | None, generation: int) -> Lock:
    return Lock("issue/1", holder, generation, 1, AT, f"n{generation}", revision="r", clone="c")


def test_a_free_right_of_the_remotes_gives_way_to_a_later_holder() -> None:
    ours = right("bob", 3)
    assert joined(right(None, 2), ours, "n", "c") == ours._replace(generation=4)
    assert joined(right(None, 4), ours, "n", "c") is None


def test_what_was_given_back_here_claims_nothing_from_the_remotes_holder() -> None:
    assert joined(right("carol", 2), right(None, 5), "n", "c") is None


def test_two_holders_are_a_dispute_above_both_which_a_release_ends() -> None:
    dispute = joined(right("carol", 2), right("bob", 5), "n", "c9")
    assert dispute
    assert (dispute.holder, dispute.generation, dispute.cause) == (None, 6, Cause(DISPUTE, "bob"))
    assert (dispute.is_disputed, dispute.is_taken, dispute.clone) == (True, True, "c9")
    free = given_back("issue/1", dispute, "n", "decided")
    assert (free.is_taken, free.generation) == (False, 7)


def test_one_holder_in_one_clone_disputes_nothing_with_itself() -> None:
    assert joined(right("bob", 2), right("bob", 5), "n", "c") is None


def test_what_a_later_generation_was_recorded_of_is_disputed_at_that_one() -> None:
    dispute = forgotten(right("alice", 1), 4, "n", "c")
    assert (dispute.is_disputed, dispute.generation, dispute.holder) == (True, 4, None)
