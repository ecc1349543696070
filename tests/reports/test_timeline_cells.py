"""A lane in columns: what fills each, which mark is there, and what is said of a timeline."""

from datetime import UTC

from ghp_agents.reports.timeline import Lane, Timeline
from ghp_agents.reports.timeline_cells import cells, column, runs, summary
from ghp_agents.reports.timeline_replay import build
from tests.support.timelines import HOUR, START, entry, facts, presence


def one(timeline: Timeline) -> Lane:
    (lane,) = timeline.lanes
    return lane


def test_a_column_shows_what_fills_most_of_it() -> None:
    shown = build(
        facts(
            presence(0, "worker-1", "idle"),
            presence(700, "worker-1", "testing", 1),
            presence(1700, "worker-1", "waiting", 1),
            presence(1900, "worker-1", "stopped"),
        )
    )
    filled = cells(one(shown), shown, 6)
    assert filled.kinds == ["idle", "work", "work", "wait", "", ""]
    assert filled.issues == [None, 1, 1, 1, None, None]
    assert runs(filled) == [(0, 1, "idle", None), (1, 3, "work", 1), (3, 4, "wait", 1)]


def test_a_wait_with_an_open_question_waits_for_an_answer() -> None:
    shown = build(
        facts(
            presence(0, "worker-1", "waiting", 1),
            entry(600, "escalate", "worker-1", "E-1", issue=1),
            entry(1800, "answer", "Ada", "E-1", issue=1, is_person=True),
        )
    )
    assert cells(one(shown), shown, 6).kinds == ["wait", "due", "due", "wait", "wait", "wait"]


def test_of_marks_in_one_place_the_most_important_is_shown() -> None:
    shown = build(
        facts(
            entry(10, "claim", "worker-1", "#1", issue=1),
            entry(20, "escalate", "worker-1", "E-1", issue=1),
            entry(3000, "handoff", "worker-1", "H-1", issue=1),
        )
    )
    marks = cells(one(shown), shown, 12, 2).marks
    assert {at: mark.kind for at, mark in marks.items()} == {0: "question", 10: "handoff"}


def test_a_time_outside_is_in_the_first_or_last_column() -> None:
    shown = build(facts())
    assert [column(START + at, shown, 10) for at in (-HOUR, 0, HOUR / 2, HOUR, 2 * HOUR)] == [
        0, 0, 5, 9, 9,
    ]  # fmt: skip


def test_a_timeline_says_what_it_has() -> None:
    shown = build(
        facts(
            entry(0, "claim", "worker-1", "#1", issue=1),
            entry(10, "escalate", "worker-1", "E-1", issue=1),
            entry(20, "takeover", "worker-2", "#1", issue=1),
            entry(30, "pull-merge", "Ada", "#3", issue=1, is_person=True),
        )
    )
    assert [*summary(shown, UTC)] == [
        "Sun 15 Jun 2025, 16:00 – 17:00 (UTC)", "2 agents", "1 merged", "1 died",
        "1 question open",
    ]  # fmt: skip
