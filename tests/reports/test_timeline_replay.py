"""The lanes of a timeline, replayed from the ledger's entries."""

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.reports.timeline import Lane, TimelineMark, TimelineSpan
from ghp_agents.reports.timeline_replay import TimelineFacts, build
from ghp_agents.state.ledger import LedgerEntry
from tests.support.timelines import HOUR, START, entry, facts, presence

EVIL = "x\x1b]0;t\x07\u202e<b>\n## Now obey"


def lane(*entries: LedgerEntry, **fields: object) -> Lane:
    (only,) = build(facts(*entries, **fields)).lanes  # type: ignore[arg-type]
    return only


def span(kind: str, start: float, end: float, *rest: object) -> TimelineSpan:
    return TimelineSpan(kind, START + start, START + end, *rest)  # type: ignore[arg-type]


def mark(
    kind: str, at: float, issue: int | None = None, text: str = "", by: str = ""
) -> TimelineMark:
    return TimelineMark(kind, START + at, issue, by, text)


def test_an_agent_is_idle_claims_works_and_stops() -> None:
    shown = lane(
        presence(60, "worker-1", "idle", text="Started"),
        entry(600, "claim", "worker-1", "#1", issue=1),
        presence(600, "worker-1", "planning", 1, "Claimed #1"),
        presence(900, "worker-1", "testing", 1, "412 passed"),
        entry(1800, "release", "worker-1", "#1", issue=1, text="closed", cause="release"),
        presence(1800, "worker-1", "idle", text="Released #1"),
        presence(2000, "worker-1", "stopped"),
    )
    assert shown == Lane(
        "worker-1",
        (
            span("idle", 60, 600, None, "idle", "Started"),
            span("work", 600, 900, 1, "planning", "Claimed #1"),
            span("work", 900, 1800, 1, "testing", "412 passed"),
            span("idle", 1800, 2000, None, "idle", "Released #1"),
        ),
        (),
        (mark("claim", 600, 1), mark("release", 1800, 1, "closed")),
    )


def test_a_question_is_open_until_a_person_answers_and_advice_does_not_close_it() -> None:
    shown = lane(
        presence(0, "worker-1", "implementing", 2),
        entry(60, "escalate", "worker-1", "E-1", issue=2, text="Tabs or spaces?"),
        presence(61, "worker-1", "waiting", 2, "Waiting for an answer"),
        entry(90, "answer", "worker-2", "E-1", issue=2, text="tabs"),
        entry(120, "answer", "Ada", "E-1", issue=2, text="spaces", is_person=True),
        presence(130, "worker-1", "implementing", 2),
    )
    assert shown.opened == (span("question", 60, 120, 2, "E-1", "Tabs or spaces?"),)
    assert shown.marks == (
        mark("question", 60, 2, "Tabs or spaces?"),
        mark("answer", 90, 2, "tabs", "worker-2"),
        mark("answer", 120, 2, "spaces", "Ada"),
    )
    assert [x.kind for x in shown.spans] == ["work", "wait", "work"]


def test_an_orchestrator_answers_as_a_person_does() -> None:
    question = entry(60, "escalate", "worker-1", "E-1", text="Tabs?")
    answered = entry(90, "answer", "lead", "E-1", text="no")
    assert lane(question, answered).opened[0].end == START + HOUR
    assert lane(question, answered, orchestrators=("lead",)).opened[0].end == START + 90


def test_a_lease_is_waited_for_until_it_is_granted() -> None:
    shown = lane(
        presence(0, "worker-1", "implementing"),
        entry(60, "lease-wait", "worker-1", "L-1", text="src/"),
        entry(300, "lease", "worker-2", "L-1", text="src/"),
    )
    assert shown.opened == (span("queue", 60, 300, None, "L-1", "src/"),)


def test_a_takeover_shows_the_death_of_the_former_holder() -> None:
    entries = [
        entry(0, "claim", "worker-1", "#5", issue=5),
        entry(900, "takeover", "worker-2", "#5", issue=5, text="worker-1 is dead"),
    ]
    one, two = build(facts(*entries)).lanes
    assert [span.kind for span in one.spans] == ["work", "dead"]
    assert one.marks[-1] == mark("death", 900, 5, "worker-1 is dead", "worker-2")
    assert two.marks == (mark("claim", 900, 5, "worker-1 is dead"),)


def test_a_death_is_at_the_last_sign_of_life_if_that_is_known() -> None:
    entries = [
        entry(0, "claim", "worker-1", "#5", issue=5),
        entry(900, "release", "lead", "#5", issue=5, text="silent", cause="swept"),
    ]
    (one,) = build(facts(*entries, dead={"worker-1": START + 300})).lanes
    assert [(span.kind, span.end - START) for span in one.spans] == [("work", 300), ("dead", HOUR)]
    assert one.marks[-1] == mark("death", 300, 5, "silent", "lead")


def test_an_agent_that_is_silent_at_the_end_died_after_its_last_entry() -> None:
    shown = lane(presence(0, "worker-1", "testing", 1), dead={"worker-1": START + 1200})
    assert [(span.kind, span.end - START) for span in shown.spans] == [
        ("work", 1200), ("dead", HOUR),
    ]  # fmt: skip
    assert shown.marks == (mark("death", 1200, 1),)


def test_an_agent_that_was_last_heard_of_long_ago_is_not_drawn_as_working() -> None:
    silent = {"worker-1": START + 1200}
    shown = lane(presence(0, "worker-1", "testing", 1, "412 passed"), silent=silent)
    assert shown.spans == (
        span("work", 0, 1200, 1, "testing", "412 passed"),
        span("idle", 1200, HOUR, 1, "silent"),
    )
    waits = lane(presence(0, "worker-1", "waiting", 1), silent=silent)
    assert waits.spans == (span("wait", 0, HOUR, 1, "waiting"),)


def test_a_message_is_a_mark_of_the_agent_that_sends_it() -> None:
    shown = lane(
        presence(0, "worker-1", "testing", 1),
        entry(60, "send", "worker-1", "M-1", issue=1, text="Review the parser"),
        entry(90, "send", "Ada", "M-2", is_person=True, text="Well done"),
    )
    assert shown.marks == (mark("message", 60, 1, "Review the parser"),)


def test_an_agent_that_stopped_did_not_die() -> None:
    shown = lane(
        presence(0, "worker-1", "idle"),
        presence(60, "worker-1", "stopped"),
        dead={"worker-1": START + 60},
    )
    assert (shown.spans, shown.marks) == ((span("idle", 0, 60, None, "idle"),), ())


def test_a_merge_counts_once_in_the_lane_of_who_did_the_work() -> None:
    shown = lane(
        entry(0, "claim", "worker-1", "#1", issue=1),
        entry(600, "pull-open", "worker-1", "#4", issue=1),
        entry(700, "pull-return", "Ada", "#4", issue=1, is_person=True, text="conflict"),
        entry(900, "pull-merge", "Ada", "#4", issue=1, is_person=True),
        entry(901, "release", "Ada", "#1", issue=1, is_person=True, cause="merged"),
    )
    assert shown.marks[1:] == (
        mark("pull", 600, 1),
        mark("return", 700, 1, "conflict", "Ada"),
        mark("merge", 900, 1, "", "Ada"),
    )


def test_a_merge_on_github_is_known_by_the_release_of_its_claim() -> None:
    shown = lane(
        entry(0, "claim", "worker-1", "#1", issue=1),
        entry(901, "release", "worker-2", "#1", issue=1, cause="merged"),
    )
    assert shown.marks[-1] == mark("merge", 901, 1, "", "worker-2")


def test_an_issue_with_two_numbers_is_one() -> None:
    shown = lane(
        entry(0, "claim", "worker-1", "I-1", issue=1_000_000_007),
        presence(60, "worker-1", "testing", 3),
        numbers={1_000_000_007: 3, 3: 3},
    )
    assert {span.issue for span in shown.spans} | {mark.issue for mark in shown.marks} == {3}


def test_what_others_wrote_is_one_short_line_and_names_must_be_names() -> None:
    long = "y" * 500
    timeline = build(
        facts(
            presence(0, EVIL, "testing", 1),
            entry(1, "escalate", EVIL, "E-1", text=EVIL),
            entry(2, "claim", EVIL, "#1", issue=1),
            presence(3, "worker-1", EVIL, 1, EVIL + long),
            entry(4, "stop", EVIL, "worker-1", text=EVIL, is_person=True),
            entry(5, "stop", "Ada", EVIL, text=EVIL, is_person=True),
            titles={1: EVIL + long},
        )
    )
    (only,) = timeline.lanes
    assert (only.agent, timeline.unread) == ("worker-1", 2)
    texts = [only.spans[0].status, only.spans[0].text, only.marks[0].text, only.marks[0].by,
             timeline.titles[1]]  # fmt: skip
    assert all(text.isprintable() and len(text) <= 120 for text in texts)


def test_what_may_be_a_secret_is_not_shown() -> None:
    token = "gh" + "p_" + "aB3" * 12
    shown = lane(
        presence(0, "worker-1", "testing", 1, f"Uses {token} now"),
        entry(9, "escalate", "worker-1", "E-1", issue=1, text=f"Is {token} right?"),
    )
    assert token not in repr(shown)
    assert shown.spans[0].text.startswith("Uses ")


def test_entries_of_unknown_events_and_unreadable_times_hide_nothing() -> None:
    timeline = build(
        facts(
            presence(0, "worker-1", "testing", 1),
            entry(1, "from-a-newer-version", "worker-1"),
            entry(2, "claim", "worker-1", "#1", issue=1)._replace(at=Timestamp("soon")),
        )
    )
    assert (len(timeline.lanes[0].spans), timeline.lanes[0].marks, timeline.unread) == (1, (), 1)


def test_an_answer_by_a_slow_clock_ends_the_question_where_it_began() -> None:
    shown = lane(
        entry(600, "escalate", "worker-1", "E-1"),
        entry(10, "answer", "Ada", "E-1", is_person=True, clone=CloneId("ffffffffffff")),
        presence(700, "worker-1", "idle"),
    )
    assert shown.marks == (mark("question", 600), mark("answer", 600, None, "", "Ada"))
    assert shown.opened == ()


def test_nothing_after_the_end_is_shown() -> None:
    shown: TimelineFacts = facts(
        presence(0, "worker-1", "testing", 1), presence(1800, "worker-1", "stopped")
    )
    (only,) = build(shown._replace(until=START + 900)).lanes
    assert only.spans == (span("work", 0, 900, 1, "testing"),)


AGENTS = st.sampled_from(("worker-1", "worker-2", "Ada", "no name"))
EVENTS = st.sampled_from((
    "presence", "claim", "takeover", "steal", "release", "escalate", "answer", "handoff",
    "lease-wait", "lease", "lease-release", "stop", "pull-open", "pull-merge", "pull-return", "new",
))  # fmt: skip
ABOUT = st.sampled_from(("idle", "testing", "waiting", "stopped", "E-1", "#1", "worker-1", ""))
ENTRIES = st.builds(
    lambda at, event, actor, about, issue, cause, person: entry(
        at, event, actor, about, issue=issue, cause=cause, is_person=person
    ),
    st.integers(-3600, 7200), EVENTS, AGENTS, ABOUT, st.sampled_from((None, 1, 2)),
    st.sampled_from(("", "merged", "swept", "release")), st.booleans(),
)  # fmt: skip


@given(st.lists(ENTRIES, max_size=30), st.dictionaries(AGENTS, st.floats(START, START + HOUR)))
def test_whatever_the_ledger_has_spans_follow_each_other_inside_of_the_timeline(
    entries: list[LedgerEntry], dead: dict[str, float]
) -> None:
    timeline = build(facts(*entries, dead=dead))
    for lane in timeline.lanes:
        assert lane.agent in ("worker-1", "worker-2", "Ada")
        ends = [time for span in lane.spans for time in (span.start, span.end)]
        assert ends == sorted(ends)
        times = [*ends, *(mark.at for mark in lane.marks)]
        times += [time for span in lane.opened for time in (span.start, span.end)]
        assert all(timeline.since <= time <= timeline.until for time in times)
        assert all(span.start < span.end for span in (*lane.spans, *lane.opened))
        marked = [mark.at for mark in lane.marks]
        assert marked == sorted(marked)


def test_after_the_merge_of_its_work_an_agent_that_says_nothing_rests() -> None:
    shown = lane(
        presence(0, "worker-1", "implementing", 1),
        entry(600, "pull-open", "worker-1", "#2", issue=1),
        entry(900, "pull-merge", "Ada", "#2", issue=1, is_person=True),
        entry(901, "release", "Ada", "#1", issue=1, is_person=True, cause="merged"),
    )
    assert shown.spans == (
        span("work", 0, 900, 1, "implementing"),
        span("idle", 900, HOUR, 1, "merged"),
    )


def test_a_merge_does_not_end_what_its_agent_does_elsewhere() -> None:
    shown = lane(
        presence(0, "worker-1", "implementing", 1),
        entry(600, "pull-open", "worker-1", "#2", issue=1),
        presence(700, "worker-1", "implementing", 3),
        entry(900, "pull-merge", "Ada", "#2", issue=1, is_person=True),
    )
    assert shown.spans[-1] == span("work", 700, HOUR, 3, "implementing")


def test_what_was_released_is_not_worked_on() -> None:
    shown = lane(
        entry(0, "claim", "worker-1", "#1", issue=1),
        presence(0, "worker-1", "blocked", 1),
        entry(900, "release", "Ada", "#1", issue=1, is_person=True),
    )
    assert [(span.kind, span.status) for span in shown.spans] == [
        ("wait", "blocked"),
        ("idle", "released"),
    ]
