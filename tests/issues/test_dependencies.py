"""Which issues wait for which, and so what can be taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.dependencies import deadlock, open_blockers, ready, refuse_circles
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.locks.lock import Lock


def issue(number: int, *blockers: int, **fields: object) -> Issue:
    result = Issue(
        f"{number:012x}",
        IssueNumber(number),
        f"Title {number}",
        blocked_by=tuple(map(IssueNumber, blockers)),
    )
    return result._replace(**fields)  # type: ignore[arg-type]


def claim(number: int, holder: str) -> Lock:
    return Lock(f"issue/{number}", holder, 1, 1, Timestamp(""), "nonce")


def numbers(issues: list[Issue]) -> list[int]:
    return [x.number for x in issues]


def test_ready_is_open_unassigned_and_without_an_open_blocker() -> None:
    issues = [
        issue(1),
        issue(2, 1),
        issue(3, 4),
        issue(4, state="closed"),
        issue(5, assignees=("worker-1",)),
        issue(6, 4, 5),
        issue(7, title=""),
        issue(8, state="duplicate"),
    ]
    assert numbers(ready(issues)) == [1, 3]


def test_ready_of_somebody_is_what_they_have_and_nothing_blocks() -> None:
    issues = [issue(1), issue(2, assignees=("a", "b")), issue(3, 1, assignees=("a",))]
    assert numbers(ready(issues, "a")) == [2]
    assert numbers(ready(issues, "c")) == []


def test_epics_and_what_waits_for_a_person_are_not_ready() -> None:
    issues = [
        issue(1, labels=("Epic",)),
        issue(2, labels=("agent:needs-human",)),
        issue(3, labels=("bug",)),
        issue(4, labels=("ask-me",)),
        issue(5, labels=("epic",), assignees=("a",)),
    ]
    assert numbers(ready(issues)) == [3, 4]
    assert numbers(ready(issues, needs_human="ask-me")) == [2, 3]
    assert numbers(ready(issues, "a")) == []


def test_ready_is_claimed_by_nobody_else() -> None:
    issues = [
        issue(1),
        issue(2),
        issue(3, other_numbers=(IssueNumber(9),)),
        issue(4, assignees=("worker-1",)),
        issue(5, assignees=("worker-1",)),
    ]
    claims = {number: claim(number, holder) for number, holder in ((2, "a"), (9, "a"), (5, "a"))}
    claims[4] = claim(4, "worker-1")
    assert numbers(ready(issues, claims=claims)) == [1]
    assert numbers(ready(issues, "worker-1", claims)) == [4]


def test_the_open_blockers_of_an_issue_are_found_by_any_of_their_numbers() -> None:
    issues = [issue(1), issue(2, state="closed"), issue(3, other_numbers=(IssueNumber(9),))]
    assert numbers(open_blockers(issue(4, 1, 2, 9), issues)) == [1, 3]
    assert open_blockers(issue(4), issues) == []


def test_a_blocker_that_got_another_number_still_blocks() -> None:
    issues = [issue(4, other_numbers=(IssueNumber(9),)), issue(5, 9)]
    assert numbers(ready(issues)) == [4]


def test_a_long_way_round_is_said_in_full() -> None:
    issues = [issue(1, 2), issue(2, 3, 4), issue(3), issue(4, 5), issue(5)]
    with pytest.raises(UsageError) as caught:
        refuse_circles(issues, issues[4], IssueChange(add_blockers=(IssueNumber(1),)))
    assert str(caught.value) == (
        "That would be a cycle: #5 would be blocked by #1, which is blocked by #2, which is "
        "blocked by #4, which is blocked by #5."
    )
    assert caught.value.hint == (
        "If this is intended, first remove the opposite link: `ghp agent-issue block 1 --by 2 "
        "--remove`."
    )


def test_two_ways_to_one_blocker_are_no_circle() -> None:
    issues = [issue(1, 2, 3), issue(2, 4), issue(3, 4), issue(4), issue(5)]
    refuse_circles(issues, issues[3], IssueChange(add_blockers=(IssueNumber(5),)))
    refuse_circles(issues, issues[0], IssueChange(add_blockers=(IssueNumber(4),)))
    refuse_circles(issues, issues[0], IssueChange(parent=IssueNumber(4)))


def test_a_circle_that_is_there_already_does_not_hang_the_search() -> None:
    issues = [issue(1, 2), issue(2, 1), issue(3)]
    refuse_circles(issues, issues[2], IssueChange(add_blockers=(IssueNumber(1),)))


def test_issues_that_wait_for_each_other_are_found() -> None:
    issues = [issue(1, 2), issue(2, 3), issue(3, 4, 7), issue(4, 2), issue(7), issue(8, 1)]
    assert numbers(deadlock(issues)) == [2, 3, 4]


def test_a_closed_issue_breaks_the_circle() -> None:
    assert deadlock([issue(1, 2), issue(2, 1, state="closed")]) == []


def test_ten_thousand_issues_in_a_row_are_no_circle_and_one_more_word_makes_them_one() -> None:
    row = [issue(n, n + 1) for n in range(1, 10_000)]
    assert deadlock([*row, issue(10_000)]) == []
    assert numbers(deadlock([*row, issue(10_000, 1)])) == list(range(1, 10_001))


GRAPHS = st.lists(st.lists(st.integers(1, 6), max_size=3), min_size=6, max_size=6)


@given(GRAPHS)
def test_something_is_ready_unless_they_wait_in_a_circle(graph: list[list[int]]) -> None:
    issues = [issue(n, *sorted(set(blockers))) for n, blockers in enumerate(graph, 1)]
    circle = deadlock(issues)
    assert circle or ready(issues)
    for one, following in zip(circle, [*circle[1:], *circle[:1]], strict=True):
        assert following.number in one.blocked_by


@given(GRAPHS)
def test_refusing_circles_keeps_issues_free_of_them(graph: list[list[int]]) -> None:
    issues = {n: issue(n) for n in range(1, 7)}
    for number, blockers in enumerate(graph, 1):
        for blocker in blockers:
            change = IssueChange(add_blockers=(IssueNumber(blocker),))
            before = issues[number]
            try:
                refuse_circles(issues.values(), before, change)
            except UsageError:
                would = before._replace(blocked_by=(*before.blocked_by, IssueNumber(blocker)))
                assert deadlock((issues | {number: would}).values())
            else:
                issues[number] = before._replace(
                    blocked_by=(*before.blocked_by, IssueNumber(blocker))
                )
                assert deadlock(issues.values()) == []
