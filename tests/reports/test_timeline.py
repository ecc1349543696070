"""A timeline's values: times of several clocks, what is inside, and how much."""

from ghp_agents.core.ids import CloneId
from ghp_agents.reports import timeline as parts
from ghp_agents.reports.timeline import ITEMS, LANES, corrected, from_first, natural, of_issue
from ghp_agents.reports.timeline_replay import build
from tests.support.timelines import HOUR, START, entry, facts, presence

FAST = CloneId("ffffffffffff")
YEARS = 1e8  # seconds


def test_a_clone_whose_clock_is_ahead_is_moved_back_as_a_whole() -> None:
    now = START + HOUR
    ours = presence(60, "worker-1", "idle")
    theirs = [presence(at + 2 * HOUR, "worker-2", "idle")._replace(clone=FAST) for at in (0, 1800)]
    moved, unread, ahead = corrected([*theirs, ours], now)
    assert [(at - START, event.actor) for at, event in moved] == [
        (60, "worker-1"), (HOUR - 1800, "worker-2"), (HOUR, "worker-2"),
    ]  # fmt: skip
    assert (unread, ahead) == (0, HOUR + 1800)


def test_one_entry_of_the_far_future_moves_no_other() -> None:
    entries = [presence(at, "worker-1", "idle") for at in (0, YEARS, 60)]
    moved, _, ahead = corrected(entries, START + HOUR)
    assert ([at - START for at, _ in moved], ahead) == ([0, 60, HOUR], 0.0)


def test_entries_of_one_second_keep_the_ledgers_order() -> None:
    entries = [presence(5, "worker-1", status) for status in ("idle", "testing", "done")]
    assert [event.object for _, event in corrected(entries, START + HOUR)[0]] == [
        "idle", "testing", "done",
    ]  # fmt: skip


def test_lanes_are_in_the_order_that_people_count_in() -> None:
    names = ["worker-10", "worker-2", "claude-9f", "worker-2b", "7"]
    assert sorted(names, key=natural) == ["claude-9f", "worker-2", "worker-2b", "worker-10", "7"]


def test_only_what_is_between_both_times_is_shown() -> None:
    timeline = build(
        facts(
            presence(-600, "worker-1", "testing", 1),
            presence(600, "worker-1", "stopped"),
            entry(-600, "claim", "worker-2", "#2", issue=2),
            presence(-500, "worker-2", "stopped"),
            titles={1: "One", 2: "Two"},
        )
    )
    assert [lane.agent for lane in timeline.lanes] == ["worker-1"]
    assert (timeline.lanes[0].spans[0].start, timeline.titles) == (START, {1: "One"})


def test_a_timeline_is_bounded_and_the_rest_is_counted() -> None:
    crowd = [presence(n, f"worker-{n}", "testing") for n in range(LANES + 3)]
    busy = [entry(n, "handoff", "worker-1", "H-1") for n in range(ITEMS + 7)]
    timeline = build(facts(*crowd, *busy))
    assert (len(timeline.lanes), timeline.left_out, timeline.cut) == (LANES, 3, 7)
    assert max(len(lane.marks) for lane in timeline.lanes) == ITEMS


def test_one_issue_alone_keeps_who_worked_on_it() -> None:
    whole = build(
        facts(
            entry(0, "claim", "worker-1", "#1", issue=1),
            entry(60, "claim", "worker-1", "#2", issue=2),
            entry(90, "claim", "worker-2", "#3", issue=3),
            entry(95, "escalate", "worker-2", "E-1", issue=3),
            titles={1: "One", 2: "Two", 3: "Three"},
        )
    )
    timeline = of_issue(whole, 3)
    assert ([lane.agent for lane in timeline.lanes], timeline.titles) == (
        ["worker-2"],
        {3: "Three"},
    )
    assert of_issue(whole, 9).lanes == ()


def test_it_can_begin_where_something_begins() -> None:
    timeline = build(facts(entry(600, "claim", "worker-1", "#1", issue=1)))
    assert (timeline.since, from_first(timeline).since) == (START, START + 600)
    empty = build(facts())
    assert from_first(empty) == empty


def test_an_issue_without_a_number_has_a_label() -> None:
    assert [parts.label(12), parts.label(1_000_000_007)] == ["#12", "new issue"]
