"""The decision: what keeps an issue from an agent, and which is next."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.budgets.budget import UsedUp
from ghp_agents.claims import decision
from ghp_agents.claims.decision import Board, Candidate, ClaimRule, Rank
from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.issue import PRIORITIES, Issue
from ghp_agents.locks.lock import Lock

ME = Candidate("worker-1", 1, "here", ("rust",))
OVER = UsedUp("agent", "usd", 5.0, 4.0)


def issue(number: int, **fields: object) -> Issue:
    return Issue(f"{number:08x}", IssueNumber(number), f"Issue {number}")._replace(**fields)  # type: ignore[arg-type]


def lock(number: int, holder: str, epoch: int = 1) -> Lock:
    return Lock(f"issue/{number}", holder, 1, epoch, Timestamp("2026-01-01T00:00:00Z"), "n")


def against(board: Board, number: int, who: Candidate = ME) -> list[tuple[str, tuple[str, ...]]]:
    return [(x.rule.value, x.names) for x in decision.obstacles(board, named(board, number), who)]


def named(board: Board, number: int) -> Issue:
    return board.by_number[IssueNumber(number)]


def numbers(issues: Sequence[Issue]) -> list[int]:
    return [x.number for x in issues]


def test_every_rule_names_what_it_is_about_in_the_order_of_the_rules() -> None:
    everything = issue(
        2, blocked_by=(1,), labels=("Agent:needs-human", "epic", "needs:gpu"), offered=False,
        assignees=("worker-3",),
    )  # fmt: skip
    board = Board(
        [issue(1), everything], {2: lock(2, "worker-2")}, {"issue/2"}, {2: "E-1a2b"}, {2}, set(),
        gave_up={2: "worker-1"},
        left={2: "E-3c4d"},
        spent={"worker-2": OVER, "worker-1": OVER},
        full=3,
    )  # fmt: skip
    obstacles = against(board, 2)
    assert obstacles == [
        ("blocked", ("#1",)),
        ("person", ("agent:needs-human",)),
        ("split", ("epic",)),
        ("taken", ("worker-2",)),
        ("assigned", ("worker-3",)),
        ("unable", ("gpu",)),
        ("asked", ("E-1a2b",)),
        ("left", ("E-3c4d",)),
        ("gave-up", ()),
        ("stopped", ()),
        ("outside", ()),
        ("spent", ("$5.00 of $4.00 today by this agent (agents.budgets.agent.usd)",)),
        ("review", ("3",)),
    ]
    assert [name for name, _ in obstacles] == [*ClaimRule]
    assert against(replace(board, spent={"worker-2": OVER}, full=0), 1) == []


def test_a_used_up_budget_keeps_agents_from_what_they_have_not_begun() -> None:
    board = Board([issue(1), issue(2)], {2: lock(2, "worker-1")}, spent={"": OVER})
    assert [rule for rule, _ in against(board, 1)] == ["spent"]
    assert against(board, 2) == []
    assert against(board, 1, Candidate("ann", 0)) == []


def test_while_pull_requests_wait_agents_begin_only_what_is_theirs_already() -> None:
    issues = [issue(1), issue(2), issue(3, assignees=("worker-1",))]
    board = Board(issues, {2: lock(2, "worker-1")}, full=2)
    assert against(board, 1) == [("review", ("2",))]
    assert [against(board, number) for number in (2, 3)] == [[], []]
    assert against(board, 1, Candidate("ann", 0)) == []


def test_a_holder_may_go_on_with_an_epic_and_with_what_agents_died_on() -> None:
    mine = issue(1, labels=("epic",), offered=False, assignees=("worker-1",))
    held = {1: lock(1, "worker-1")}
    assert against(Board([mine], held, {"issue/1"}, {1: "E-1"}, {1}), 1) == []


def test_a_dead_holders_issue_is_workable_and_its_assignment_does_not_count() -> None:
    board = Board([issue(1, assignees=("worker-2",))], {1: lock(1, "worker-2")})
    assert against(board, 1) == []
    assert against(Board([issue(1, assignees=("worker-2",))]), 1) == [("assigned", ("worker-2",))]


def test_people_can_do_everything() -> None:
    wanted = issue(1, labels=("needs:gpu",))
    assert against(Board([wanted]), 1) == [("unable", ("gpu",))]
    assert against(Board([wanted]), 1, Candidate("Ann", 0)) == []


def test_the_next_is_mine_then_critical_then_assigned_then_by_priority_due_nearness_age() -> None:
    issues = [
        issue(1, priority="high", parent=8),
        issue(2, priority="high", parent=9),
        issue(3, priority="high", body="## Due\n\n2026-12-31"),
        issue(4, priority="high", body="## Due\n\n2026-06-01"),
        issue(5, priority="critical"),
        issue(6, priority="low", assignees=("worker-1",)),
        issue(7, priority="low"),
    ]
    done = [issue(10, parent=9, state="closed", assignees=("worker-1",))]
    board = Board(issues, {7: lock(7, "worker-1")}, {"issue/7"}, done=lambda: done)
    left, order = list(issues), []
    while (first := decision.best(board, left, ME)) is not None:
        order.append(first)
        left.remove(first)
    assert numbers(order) == [7, 5, 6, 4, 3, 2, 1]
    assert numbers(sorted(issues, key=lambda x: decision.rank(board, x, ME))) == [
        7, 5, 6, 4, 3, 2, 1,
    ]  # fmt: skip
    assert decision.rank(board, issues[3], ME) == Rank(4, 1, "2026-06-01", 0)
    assert decision.best(board, [], ME) is None


@given(st.lists(st.tuples(st.sampled_from(PRIORITIES), st.booleans(), st.booleans()), min_size=1))
def test_what_is_begun_goes_first_then_what_is_critical_then_what_is_assigned(
    kinds: list[tuple[str, bool, bool]],
) -> None:
    """A critical issue ends nothing that was begun, and waits for nothing that was only assigned;
    whoever assigned one gets it before other critical ones."""
    issues = [
        issue(n, priority=priority, assignees=("worker-1",) if is_assigned else ())
        for n, (priority, is_assigned, _) in enumerate(kinds, 1)
    ]
    begun = {n: lock(n, "worker-1") for n, (_, _, is_begun) in enumerate(kinds, 1) if is_begun}
    board = Board(issues, begun, {f"issue/{n}" for n in begun})
    first = decision.best(board, issues, ME)
    assert first
    critical = [x for x in issues if x.priority == "critical"]
    assigned = [x for x in issues if x.assignees]
    groups = (
        [x for x in issues if x.number in begun],
        [x for x in critical if x.assignees],
        critical,
        assigned,
        issues,
    )
    assert first in next(group for group in groups if group)


def test_closed_issues_are_read_only_if_two_are_equal_and_one_has_relations() -> None:
    read: list[str] = []

    def done() -> Sequence[Issue]:
        read.append("done")
        return ()

    alone = Board([issue(1), issue(2, priority="low", parent=1)], done=done)
    assert decision.best(alone, alone.issues, ME) == alone.issues[0]
    plain = Board([issue(1), issue(2)], done=done)
    assert decision.best(plain, plain.issues, ME) == plain.issues[0]
    assert read == []
    related = Board([issue(1), issue(2, parent=1)], done=done)
    assert decision.best(related, related.issues, ME) == related.issues[0]
    assert read == ["done"]
