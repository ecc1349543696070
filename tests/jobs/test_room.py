"""How many issues an agent has, and what makes room for another."""

from ghp_agents.claims.decision import Board, Candidate
from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.issue import Issue
from ghp_agents.jobs import room
from ghp_agents.jobs.explanation import Agent
from ghp_agents.jobs.room import Room
from ghp_agents.locks.lock import Lock


def issue(number: int, priority: str, *assignees: str) -> Issue:
    name = f"Issue {number}"
    return Issue(f"{number:08x}", IssueNumber(number), name, priority=priority, assignees=assignees)


def test_what_is_claimed_or_assigned_to_it_alone_counts_and_the_least_urgent_goes_first() -> None:
    issues = [
        issue(1, "high", "worker-1"),
        issue(2, "low", "worker-1"),
        issue(3, "high", "worker-1"),
        issue(4, "high", "worker-1", "worker-2"),
        issue(5, "high", "worker-2"),
        issue(6, "high"),
    ]
    claim = Lock("issue/1", "worker-1", 1, 1, Timestamp("2026-01-01"), "n")
    agent = Agent(Candidate("worker-1"), "stale", holds=("#1",))
    space = room.of_agent(Board(issues, {1: claim}, {claim.name}), agent, 2)
    assert space == Room(("#1",), ("#3", "#2"), 2)
    assert (space.has, space.left) == (("#1", "#3", "#2"), -1)
    assert room.changes(space, "worker-1") == [
        "ghp agent-issue assign 2 worker-1 --remove",
        "ghp agent-issue assign 3 worker-1 --remove",
    ]
    assert room.changes(space._replace(most=1), "worker-1")[-1] == "ghp agent-release 1"
    assert room.changes(space._replace(most=4), "worker-1") == []


def test_an_agent_at_work_is_not_asked_to_give_up_what_it_has_claimed() -> None:
    board = Board([issue(1, "high", "worker-1"), issue(2, "low", "worker-1")])
    works = Agent(Candidate("worker-1"), "active", holds=("#9",))
    space = room.of_agent(board, works, 2)
    assert room.changes(space, "worker-1") == [
        "ghp agent-issue assign 2 worker-1 --remove",
        "ghp agent-issue assign 1 worker-1 --remove",
    ]
    assert room.changes(space._replace(most=1), "worker-1") == [], "that would not make room"
    for other in (
        works._replace(liveness="stale"),
        works._replace(has_no_client=True),
        works._replace(told_to_stop=True),
    ):
        left = room.of_agent(board, other, 1)
        assert room.changes(left, "worker-1")[-1] == "ghp agent-release 9"
