"""Handoffs are found by their ids, and next steps follow from the situation."""

import pytest

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.handoffs.handoff import Handoff, Situation, find, next_steps, ordered, size_text


def handoff(identity: str, clock: int = 1, at: str = "2025-06-15T15:06:40Z") -> Handoff:
    return Handoff(
        identity, "handoff", Actor("worker-1"), None, 12, Timestamp(at), clock, evidence="e"
    )


def test_a_handoff_is_found_by_the_start_of_its_id() -> None:
    handoffs = [handoff("aaaa1111"), handoff("aaaa2222"), handoff("bbbb3333")]
    assert find(handoffs, "H-bb") == handoffs[2]
    assert find(handoffs, " h-AAAA2 ") == handoffs[1]
    assert find(handoffs, "aaaa1111") == handoffs[0]


def test_an_id_that_fits_several_lists_them() -> None:
    with pytest.raises(UsageError, match="'h-aaaa' matches 2 handoffs") as caught:
        find([handoff("aaaa1111"), handoff("aaaa2222")], "h-aaaa")
    assert "H-aaaa1111 (2025-06-15T15:06:40Z), H-aaaa2222" in caught.value.hint


@pytest.mark.parametrize("reference", ["", "H-", "cccc", "\x1b[31m"])
def test_an_id_that_fits_none_is_not_found(reference: str) -> None:
    with pytest.raises(NotFoundError):
        find([handoff("aaaa1111")], reference)


def test_the_lamport_clock_orders_before_the_machines_clock() -> None:
    later = handoff("aaaa1111", clock=2, at="2020-01-01T00:00:00Z")
    earlier = handoff("bbbb2222", clock=1, at="2030-01-01T00:00:00Z")
    assert ordered([later, earlier]) == [earlier, later]


def test_without_anything_in_hand_there_is_no_next_step() -> None:
    assert next_steps(Situation()) == []


def test_an_open_issue_without_more_is_to_go_on_with() -> None:
    assert next_steps(Situation(issue=12)) == ["Continue with #12."]


def test_who_was_stopped_gets_no_other_step() -> None:
    now = Situation(issue=12, is_stopped=True, waiting_for=("E-1",), start="ghp agent-start --next")
    now = now._replace(stored=3, unsent=1)
    assert next_steps(now) == [
        "Stop: #12 is not yours. Commit nothing more for it.",
        "Take another issue: `ghp agent-start --next`.",
    ]


def test_a_closed_issue_is_doubted() -> None:
    assert next_steps(Situation(issue=12, issue_is_closed=True)) == [
        "#12 is closed. Stop, unless a person asked you to continue."
    ]


def test_all_that_is_to_do_comes_in_order() -> None:
    now = Situation(
        issue=12, operation="a merge", conflicts=2, unstored=1, stored=3, unsent=1,
        branch="`agent/worker-1/12-x`", waiting_for=("E-1", "E-2"), blocked_by=(3, 4),
        tasks_open=2, tasks=5, rights=("trunk",), to="worker-2",
    )  # fmt: skip
    assert next_steps(now) == [
        "Restore the uncommitted work (3 files): `ghp agent-resume --issue 12 --apply`.",
        "1 path could not be stored. It exists only in the worktree of this handoff.",
        "Finish or abort a merge: 2 conflicts to resolve.",
        "Push `agent/worker-1/12-x`: 1 unpushed commit; `ghp agent-finish` pushes, too.",
        "Wait for an answer before work that depends on E-1, E-2.",
        "Blocked by #3, #4: wait until they are closed.",
        "Do the open tasks of the issue: 2 of 5 tasks.",
        "The previous agent still holds trunk.",
    ]


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (3_200, "3.2 kB"), (5_000_000, "5.0 MB"), (None, "size unknown")],
)
def test_sizes_are_for_people(size: int | None, text: str) -> None:
    assert size_text(size) == text
