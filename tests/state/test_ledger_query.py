"""The ledger, as people ask for it."""

import pytest

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.ledger_query import LedgerQuery, by_time, check_event, newer, select


def entry(clock: int, event: str, actor: str, issue: int | None, at: str) -> LedgerEntry:
    when = Timestamp(f"2026-01-25T{at}Z")
    return LedgerEntry(
        clock=clock, clone=CloneId("c1"), id=f"id-{clock}", event=event, actor=actor,
        object=f"#{issue}", at=when, issue=issue,
    )  # fmt: skip


STORY = [
    entry(1, "issue-new", "Dana", 1_000_000_007, "10:00:00"),
    entry(2, "issue-assign", "Dana", 12, "10:05:00"),
    entry(3, "escalate", "worker-1", 12, "10:10:00"),
    entry(4, "escalate", "worker-2", 13, "10:15:00"),
    entry(5, "sweep", "Dana", None, "10:20:00"),
]


@pytest.mark.parametrize(
    ("question", "clocks"),
    [
        (LedgerQuery(), [1, 2, 3, 4, 5]),
        (LedgerQuery(agent="Dana"), [1, 2, 5]),
        (LedgerQuery(event="escalate"), [3, 4]),
        (LedgerQuery(issues=frozenset([12])), [2, 3]),
        (LedgerQuery(issues=frozenset([12, 1_000_000_007])), [1, 2, 3]),
        (LedgerQuery(since=to_seconds("2026-01-25T10:10:00Z")), [3, 4, 5]),
        (LedgerQuery(until=to_seconds("2026-01-25T10:10:00Z")), [1, 2, 3]),
        (LedgerQuery(agent="worker-1", event="escalate", issues=frozenset([13])), []),
    ],
)
def test_only_what_fits_all_of_the_question_is_told(
    question: LedgerQuery, clocks: list[int]
) -> None:
    assert [entry.clock for entry in select(STORY, question)] == clocks


def test_what_was_told_is_not_told_again() -> None:
    delivered: set[str] = set()
    assert newer(STORY[:3], delivered) == STORY[:3]
    assert newer(STORY, delivered) == STORY[3:]
    assert newer(STORY, delivered) == []


def test_an_event_that_only_another_version_says_can_be_asked_for_where_it_was_said() -> None:
    check_event("sweep", STORY)
    with pytest.raises(UsageError):
        check_event("sweep", STORY[:-1])
    check_event("checkpoint", ())


def test_people_read_entries_in_the_order_of_their_times() -> None:
    late = entry(6, "answer", "Dana", 12, "10:12:00")
    same = entry(7, "handoff", "worker-1", 12, "10:10:00")
    odd = entry(8, "sweep", "Dana", None, "??")
    assert [entry.clock for entry in by_time([*STORY, late, odd, same])] == [1, 2, 3, 7, 6, 8, 4, 5]
    assert by_time([odd]) == [odd]
