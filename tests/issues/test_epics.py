"""Epics and their parts, as pure values."""

from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues import epics
from ghp_agents.issues.issue import Issue


def issue(number: int, parent: int | None = None, state: str = "open") -> Issue:
    above = None if parent is None else IssueNumber(parent)
    return Issue(f"{number:08x}", IssueNumber(number), f"Title {number}", parent=above, state=state)


TREE = [
    issue(1), issue(2, 1), issue(3, 1, "closed"), issue(4, 2), issue(5, 2, "closed"), issue(6),
]  # fmt: skip
KNOWN: dict[int, Issue] = {x.number: x for x in TREE}


def test_parts_come_with_their_own_parts_open_and_closed() -> None:
    assert [(part.issue.number, part.depth) for part in epics.parts(TREE[0], TREE)] == [
        (2, 1), (4, 2), (5, 2), (3, 1),
    ]  # fmt: skip
    assert [part.number for part in epics.own_parts(TREE[0], TREE)] == [2, 3]
    assert epics.parts(issue(6), TREE) == []


def test_a_cycle_of_parts_ends() -> None:
    circle = [issue(1, 2), issue(2, 1)]
    assert [part.issue.number for part in epics.parts(circle[0], circle)] == [2]
    by_number: dict[int, Issue] = {x.number: x for x in circle}
    assert epics.managed(circle[0], by_number, lambda _: False, lambda _: False) is None


def test_an_epic_is_done_when_it_is_open_and_all_its_own_parts_are_closed() -> None:
    closed = [issue(2, 1, "closed"), issue(3, 1, "closed")]
    assert epics.is_done(issue(1), closed)
    assert not epics.is_done(issue(1, state="closed"), closed)
    assert not epics.is_done(issue(1), [*closed, issue(4, 1)])
    assert not epics.is_done(issue(1), [])


def test_the_proposal_names_the_command_that_closes_the_epic() -> None:
    command = "`ghp agent-issue close 1 --reason 'All parts are closed.'`"
    epic = issue(1)._replace(title="A ` »b")
    assert epics.proposal(epic, 2) == (
        f"All 2 parts of #1 «A ' 'b» are closed. If it is done: {command}."
    )
    assert epics.proposal(epic, 1) == (
        f"The only part of #1 «A ' 'b» is closed. If it is done: {command}."
    )


def test_the_nearest_epic_with_a_manager_decides_who_hears_of_a_part() -> None:
    part = KNOWN[IssueNumber(4)]

    def managed(mine: int, others: int = 0) -> int | None:
        nearest = epics.managed(
            part, KNOWN, lambda epic: epic.number == mine, lambda epic: epic.number == others
        )
        return nearest.number if nearest else None

    assert managed(1) == 1
    assert managed(2) == 2
    assert managed(1, others=2) is None
    assert managed(6) is None


def test_a_part_without_any_manager_is_of_the_orchestrators() -> None:
    part = KNOWN[IssueNumber(4)]

    def orchestrated(managers: int) -> Issue | None:
        return epics.managed(
            part, KNOWN, lambda _: False, lambda epic: epic.number == managers,
            is_orchestrator=True,
        )  # fmt: skip

    assert orchestrated(0) == KNOWN[IssueNumber(2)]
    assert orchestrated(1) is None
