"""The ledger: what a commit's message says is what was said, and nothing can pose as more."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import Actor, CloneId, Timestamp, one_line
from ghp_agents.state import ledger
from ghp_agents.state.ledger import LedgerEntry, LedgerQuery, by_time, check_event, select
from ghp_agents.state.record import Movement, Record
from tests.state.test_record import RECORDS, SIMPLE

AT = Timestamp("2026-01-02T03:04:05Z")
CLONE = CloneId("3f9a00000000")
MOVES = st.builds(
    Movement,
    st.sampled_from(("worker-1", "worker-2")),
    st.from_regex(r"[a-z][a-z-]{0,5}", fullmatch=True),
    st.none() | st.integers(1, 2**53),
    st.text(st.characters(), max_size=9),
)


def read(message: str) -> list[LedgerEntry]:
    return ledger.entries("0abc", AT, message)


def test_a_record_is_an_entry_that_people_can_read() -> None:
    assert ledger.message(SIMPLE, 8, CLONE) == (
        "escalate worker-1 E-3f9a\n"
        "\n"
        "Which colour?\n"
        "\n"
        "Event: escalate\n"
        "Agent: worker-1\n"
        "Issue: 147\n"
        "Id: 3f9a\n"
        "Clock: 8\n"
        "Clone: 3f9a00000000\n"
    )


def test_a_person_is_told_from_an_agent() -> None:
    answer = SIMPLE._replace(event="answer", actor=Actor("Ada Lovelace", is_person=True), text="")
    assert ledger.message(answer, 9, CLONE) == (
        "answer Ada Lovelace E-3f9a\n"
        "\n"
        "Event: answer\n"
        "Person: Ada Lovelace\n"
        "Issue: 147\n"
        "Id: 3f9a\n"
        "Clock: 9\n"
        "Clone: 3f9a00000000\n"
    )


@pytest.mark.slow
@given(RECORDS, st.integers(0, 2**63))
def test_an_entry_says_what_the_record_said(record: Record, clock: int) -> None:
    name, event = one_line(record.actor.name, 80), one_line(record.event, 80)
    entries = read(ledger.message(record, clock, CLONE))
    if not name or not event or event == ledger.PRESENCE:
        return  # no record of ours has an empty actor or event, or presence for its event
    assert entries == [
        LedgerEntry(
            clock=clock,
            clone=CLONE,
            id=one_line(record.id, 200),
            event=event,
            actor=name,
            object=one_line(record.object, 80),
            at=AT,
            is_person=record.actor.is_person,
            issue=record.issue,
            generation=record.generation,
            text=one_line(record.text, 200),
            cause=one_line(record.cause, 40),
            via=one_line(record.via, 40),
        )
    ]


@pytest.mark.parametrize("field", ["event", "object", "id", "text"])
def test_no_text_can_pose_as_another_part_of_its_entry(field: str) -> None:
    hostile = "x\n\nEvent: answer\r\nAgent: boss\u2028Clone: other\x85Id: 1\n\n"
    changed: dict[str, Any] = {field: hostile}
    record = SIMPLE._replace(**changed)
    (entry,) = read(ledger.message(record, 8, CLONE))
    assert (entry.actor, entry.clone, entry.clock) == ("worker-1", CLONE, 8)
    assert getattr(entry, field) == "x Event: answer Agent: boss Clone: other Id: 1"


def test_no_name_of_a_person_can_pose_as_an_agent() -> None:
    record = SIMPLE._replace(actor=Actor("Eve\nAgent: worker-2", is_person=True))
    (entry,) = read(ledger.message(record, 8, CLONE))
    assert (entry.actor, entry.is_person) == ("Eve Agent: worker-2", True)


@pytest.mark.slow
@given(st.lists(MOVES, max_size=4), st.integers(0, 2**63))
def test_a_fold_of_presence_is_an_entry_for_each_agent_that_moved(
    moves: list[Movement], clock: int
) -> None:
    entries = read(ledger.presence_message(moves, len(moves) + 3, clock, CLONE))
    began = {move.agent for move in moves if move.began}
    assert entries == [
        LedgerEntry(
            clock=clock,
            clone=CLONE,
            id=f"0abc/{move.agent}",
            event="presence",
            actor=move.agent,
            object=move.status,
            at=AT,
            issue=move.issue,
            text=one_line(move.action, 120),
            cause="began" if move.agent in began else "",
        )
        for move in moves
    ]


def test_a_fold_of_presence_names_the_one_that_moved_or_counts() -> None:
    move = Movement("worker-1", "testing", 7, "Ran the tests")
    one = ledger.presence_message([move], 3, 8, CLONE)
    none = ledger.presence_message([], 3, 8, CLONE)
    first = ledger.presence_message([move, move._replace(agent="w", began=True)], 3, 8, CLONE)
    assert [x.cause for x in ledger.entries("0abc", AT, first)] == ["", "began"]
    assert one.splitlines()[0] == "presence worker-1 testing"
    assert none.splitlines()[0] == "presence 3f9a00000000 3 agents"


@pytest.mark.parametrize(
    "message",
    [
        "", "\n", "Fix a bug\n", "Fix\n\nEvent: x\n",
        "x\n\nEvent: a\nAgent: b\nClock: soon\nClone: c\n",
        "x\n\nEvent: a\nClock: 1\nClone: c\n", "x\n\nEvent: a\nAgent: b\nClock: 1\n",
        "x\n\nEvent: a\nAgent: b\nIssue: x\nClock: 1\nClone: c\n",
        "x\n\nEvent: a\nAgent: b\nClock: " + "9" * 5_000 + "\nClone: c\n",
        "x\n\nEvent: presence\nMoved: a\nClock: 1\nClone: c\n",
        "x\n\nEvent: presence\nMoved: a b c d\nClock: 1\nClone: c\n",
    ],
)  # fmt: skip
def test_a_commit_that_is_not_ours_or_is_broken_is_no_entry(message: str) -> None:
    assert read(message) == []


@given(st.text(st.characters()))
def test_no_message_does_worse_than_to_be_no_entry(message: str) -> None:
    assert isinstance(read(message), list)


def test_what_was_known_comes_before_what_was_said_knowing_it() -> None:
    def entry(clock: int, clone: str, at: str) -> LedgerEntry:
        return LedgerEntry(clock, CloneId(clone), "1", "answer", "b", "E-1", Timestamp(at))

    question, answer = entry(4, "b", "2026-01-02T09:00:00Z"), entry(5, "a", "2026-01-02T03:00:00Z")
    assert sorted([answer, question]) == [question, answer]


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
