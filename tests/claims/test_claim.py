"""Who stands how to the right to an issue, and who was replaced: two pure rules, as tables."""

from typing import Any

import pytest

from ghp_agents.claims.claim import fence_of, is_mine, standing
from ghp_agents.core.ids import Timestamp
from ghp_agents.hotpath.lost_claim import LostClaim
from ghp_agents.locks.lock import Lock
from ghp_agents.state.cause import CLOSED, MERGED, Cause

AT = Timestamp("2025-06-15T15:06:40Z")


def lease(holder: str | None, epoch: int = 3, generation: int = 2, reason: str = "") -> Lock:
    """The right to #12."""
    return Lock("issue/12", holder, generation, epoch, AT, "nonce", reason, "revision")


@pytest.mark.parametrize(
    ("held", "holder", "epoch", "mine"),
    [
        (lease("worker-1", 3), "worker-1", 3, True),
        (lease("worker-1", 3), "worker-1", 4, True),  # it started again since
        (lease("worker-1", 3), "worker-1", 2, False),  # a former self, elsewhere
        (lease("worker-1", 3), "worker-2", 3, False),
        (lease("Ann", 0), "Ann", 0, True),
        (lease("worker-1", 0), "worker-1", 3, False),  # a person of that name
        (lease("worker-1", 3), "worker-1", 0, False),
        (lease(None, 3), "worker-1", 3, False),
    ],
)
def test_a_right_is_mine_under_my_name_and_no_later_epoch(
    held: Lock, holder: str, epoch: int, mine: bool
) -> None:
    assert is_mine(held, holder, epoch, "c1") is mine


@pytest.mark.parametrize(
    ("held", "lives", "expected"),
    [
        (None, True, "free"),
        (lease(None), True, "free"),
        (lease("worker-1"), True, "mine"),
        (lease("worker-1"), False, "mine"),
        (lease("worker-2"), True, "held"),
        (lease("worker-2"), False, "lapsed"),
        (lease("worker-1", 9), True, "held"),
        (lease("worker-1", 9), False, "lapsed"),
        (lease("Ann", 0), True, "held"),
        (lease("Ann", 0), False, "held"),  # it never lapses under a person
    ],
)
def test_a_right_is_free_mine_lapsed_or_held(held: Lock | None, lives: bool, expected: str) -> None:
    assert standing(held, "worker-1", 3, "c1", lives=lives) == expected


HOLDS = {"issue": 12, "generation": 2, "epoch": 3}


@pytest.mark.parametrize(
    ("presence", "lock", "fenced"),
    [
        (HOLDS, lease("worker-1", 3, 2), False),
        (HOLDS, lease("worker-2", 1, 3), True),
        (HOLDS, lease("worker-2", 1, 2), True),  # given to it in one step, before a remote was
        (HOLDS, lease("Ann", 0, 3), True),
        (HOLDS, lease(None, 3, 2), True),  # a person gave it back
        (HOLDS, lease("worker-1", 4, 3), True),  # it goes on elsewhere, under a later epoch
        (HOLDS, lease("worker-1", 3, 3), False),  # mine again, and not shown yet
        (HOLDS, lease("worker-2", 1, 1), False),  # what is known is older than the claim
        (HOLDS, None, False),
        (HOLDS | {"issue": 13}, lease("worker-2", 1, 3), False),
        (HOLDS | {"generation": None}, lease("worker-2", 1, 3), False),  # it never claimed it
        (HOLDS | {"generation": "2"}, lease("worker-2", 1, 3), False),
        (HOLDS | {"generation": True}, lease("worker-2", 1, 3), False),
        (HOLDS | {"issue": None}, lease("worker-2", 1, 3), False),
        (HOLDS | {"epoch": None}, lease("worker-2", 1, 3), True),
        ({}, lease("worker-2", 1, 3), False),
    ],
)
def test_a_holder_that_was_replaced_is_fenced_until_it_works_on_something_else(
    presence: dict[str, Any], lock: Lock | None, fenced: bool
) -> None:
    fence = fence_of({12: lock} if lock else {}, "worker-1", presence, "c1")
    assert (fence is not None) is fenced


def test_who_is_fenced_is_told_by_whom_since_when_and_why() -> None:
    taken = lease("worker-2", 1, 3, "worker-1 is dead")
    fence = fence_of({12: taken}, "worker-1", HOLDS, "c1")
    assert fence == LostClaim(12, "worker-2", False, AT, 3, "worker-1 is dead", "claim")
    assert fence.words == (
        "Your claim of #12 was taken: worker-2 has held it since 2025-06-15T15:06:40Z. "
        "worker-2 gave this reason: «worker-1 is dead»."
    )
    assert fence.hint == (
        "Stop working on #12. Hand over unpushed work with "
        "`ghp agent-handoff --issue 12`. `ghp agent-claim --next` finds other work."
    )


def test_who_is_fenced_is_told_of_the_newest_issue_that_it_still_holds() -> None:
    locks = {
        12: lease("worker-2", 1, 3),
        13: lease("worker-1", 3, 1)._replace(name="issue/13"),
        14: lease("worker-1", 3, 1)._replace(
            name="issue/14", acquired_at=Timestamp("2025-06-15T16:00:00Z")
        ),
        15: lease("worker-1", 3, 1)._replace(name="issue/15", clone="c2"),
    }
    fence = fence_of(locks, "worker-1", HOLDS, "c1")
    assert fence
    assert fence.other == 14
    assert fence.hint.endswith('You still hold #14: `cd "$(ghp agent-where 14)"`.')


def test_a_fence_says_when_it_is_a_persons_or_nobodys() -> None:
    ann = fence_of({12: lease("Ann", 0, 3)}, "worker-1", HOLDS, "c1")
    assert ann
    assert ann.words == (
        "Your claim of #12 was taken: «Ann» (a person) has held it since 2025-06-15T15:06:40Z."
    )
    free = fence_of({12: lease(None, 3, 2, "not needed")}, "worker-1", HOLDS, "c1")
    assert free
    assert (
        free.words == "Your claim of #12 was released; nobody holds it. Reason given: «not needed»."
    )


def test_the_reason_of_a_later_holders_release_is_not_given_to_an_earlier_holder() -> None:
    locks = {12: lease(None, 3, 3, "worker-2 was stopped")}
    fence = fence_of(locks, "worker-1", HOLDS, "c1")
    assert fence
    assert (fence.short, fence.words) == (
        "#12 was released",
        "Your claim of #12 was released; nobody holds it.",
    )


def test_who_is_done_is_not_told_to_stop_in_alarm() -> None:
    done = lease(None, 3, 2, "merged by #14 into main")._replace(cause=Cause(MERGED, ref="#14"))
    merged = fence_of({12: done}, "worker-1", HOLDS, "c1")
    assert merged
    assert merged.words == "Your work on #12 is done: «merged by #14 into main»."
    assert "Stop" not in merged.hint
    over = lease(None, 3, 2, "its issue is closed")._replace(cause=Cause(CLOSED))
    closed = fence_of({12: over}, "worker-1", HOLDS, "c1")
    assert closed
    assert closed.words == "#12 is closed, so your claim of it ended."
    assert closed.hint.startswith("Nothing is left to do on #12. Hand over unpushed work with")


@pytest.mark.parametrize(
    ("of", "clone", "mine"),
    [("c1", "c1", True), ("c1", "c2", False), ("", "c2", True), ("c1", "", True)],
)
def test_a_right_of_an_agent_is_mine_in_its_own_clone(of: str, clone: str, mine: bool) -> None:
    held = lease("worker-1")._replace(clone=of)
    assert is_mine(held, "worker-1", 3, clone) is mine
    assert is_mine(lease("Ann", 0)._replace(clone=of), "Ann", 0, clone)  # a person is one person


def test_who_is_in_a_copied_clone_is_told_where_the_claim_is() -> None:
    locks = {12: lease("worker-1", 3, 2)._replace(clone="c1")}
    assert fence_of(locks, "worker-1", HOLDS, "c1") is None
    fence = fence_of(locks, "worker-1", HOLDS, "c2")
    assert fence
    assert fence.words == (
        "#12 is claimed by worker-1 in another clone since 2025-06-15T15:06:40Z, not in this one. "
        "A copied clone does not inherit the claims of the original."
    )
    assert fence.hint == (
        "Continue in the other clone. If it is gone, take over: `ghp agent-claim 12 "
        "--steal --reason TEXT`. `ghp agent-claim --next` finds other work."
    )
