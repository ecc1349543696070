"""Lists show issues in the order in which they are to be done."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.claims import decision
from ghp_agents.claims.decision import Board, Candidate
from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import PRIORITIES, Issue
from ghp_agents.issues.order import NOT_DUE, Precedence, precedence
from tests.support.ghp import invoke, succeed

ME = Candidate("worker-1", 1, "here")
FIELDS = st.tuples(
    st.sampled_from((*PRIORITIES, "unheard-of")),
    st.sampled_from(["", "### Due\n\n2026-12-24", "### Due\n\n2026-01-31"]),
    st.booleans(),
)


def issue(number: int, priority: str = "medium", body: str = "", *names: str) -> Issue:
    blank = Issue(f"{number:08x}", IssueNumber(number), f"Issue {number}")
    return blank._replace(priority=priority, body=body, assignees=names)


def test_a_claim_goes_before_a_critical_issue_before_an_assignment_before_the_rest() -> None:
    low = issue(1, "low", "### Due\n\n2026-12-24", "worker-1")
    assert precedence(low, "worker-1", is_mine=True) == Precedence(0, 3, "2026-12-24")
    assert precedence(issue(2, "critical"), "worker-1") == Precedence(2, 0, NOT_DUE)
    assert precedence(low, "worker-1") == Precedence(3, 3, "2026-12-24")
    assert precedence(low, "worker-2") == Precedence(4, 3, "2026-12-24")


def test_the_order_is_by_priority_then_due_date_then_age() -> None:
    issues = [
        issue(9, "low"),
        issue(2),
        issue(3, "critical"),
        issue(4, "newer-word"),
        issue(1),
        issue(6, "high"),
        issue(5, "critical", "### Due\n\n2026-12-24"),
    ]
    ordered = sorted(issues, key=lambda one: precedence(one, None))
    assert [one.number for one in ordered] == [5, 3, 6, 2, 1, 9, 4]


@pytest.mark.parametrize("priority", PRIORITIES)
def test_every_priority_goes_before_an_unknown_one(priority: str) -> None:
    assert precedence(issue(1, priority), None) < precedence(issue(1, "?"), None)


@pytest.mark.slow
@given(st.lists(FIELDS, min_size=1, max_size=8))
def test_the_first_is_what_the_choice_of_work_takes(rows: list[tuple[str, str, bool]]) -> None:
    issues = [issue(n, priority, body, *[ME.name] * mine)
              for n, (priority, body, mine) in enumerate(rows, 1)]  # fmt: skip
    first = min(issues, key=lambda one: precedence(one, ME.name))
    assert decision.best(Board(issues), issues, ME) == first


def listed(repo: Path, words: str = "--as worker-1") -> list[int]:
    return [row["number"] for row in json.loads(invoke(f"agent-issues --json {words}", repo).out)]


@pytest.mark.slow
def test_the_list_begins_with_what_next_takes_and_ends_with_what_is_closed(repo: Path) -> None:
    succeed(
        repo,
        "agent-issue new Low --priority low",
        "agent-issue new Blocked --priority critical --blocked-by 1",
        "agent-issue new Closed --priority critical",
        "agent-issue new Plain",
        "agent-issue new High --priority high",
        "agent-issue new Mine --priority low --assign worker-1",
        "agent-issue new Other --priority high --assign worker-2",
        "agent-issue close 3",
    )
    assert listed(repo) == [6, 5, 4, 1, 2, 7]
    assert listed(repo, "--as worker-2") == [7, 5, 4, 1, 2, 6]
    assert listed(repo, "--as @me") == [5, 4, 1, 2, 7, 6]
    assert listed(repo, "--all --as worker-1") == [6, 5, 4, 1, 2, 7, 3]
    assert listed(repo, "--ready --as worker-1") == [5, 4, 1]
    for expected in (6, 5, 4, 1):
        assert invoke("agent-claim --next --as worker-1", repo).out == f"{expected}\n"
        assert listed(repo)[0] == expected, "what it has comes first"
        invoke(f"agent-issue close {expected}", repo)
