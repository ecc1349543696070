"""What a timeline is read from: the ledger, and the state at both ends, on real git."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.reports.read_timeline import last_day, read_timeline
from ghp_agents.reports.timeline import Lane, Timeline
from tests.support.ghp import invoke
from tests.support.road import Road, merged

Clones = Callable[[int], list[Path]]
HOUR = 3_600.0
W1 = {"GHP_AGENT": "worker-1"}


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def lanes(road: Road, since: float, until: float | None = None) -> dict[str, Lane]:
    timeline = read_timeline(road.house("@me"), since, until)
    return {lane.agent: lane for lane in timeline.lanes}


def must(road: Road, words: list[str], env: dict[str, str]) -> str:
    done = invoke(words, road.folder, env, clock=road.clock)
    assert done.code == 0, done.err
    return done.out.strip()


@pytest.mark.slow
def test_work_from_the_claim_to_the_merge_is_in_the_lane_of_its_agent(road: Road) -> None:
    began = road.clock.now()
    road.issue("Parse files")
    road.clock.wait(HOUR)
    road.done("worker-1", 1, {"a.txt": "one\n"})
    road.clock.wait(HOUR)
    merged(road.merge(2))
    timeline = read_timeline(road.house("@me"), began)
    (lane,) = timeline.lanes
    assert (lane.agent, timeline.titles) == ("worker-1", {1: "Parse files"})
    assert [(mark.kind, round((mark.at - began) / HOUR)) for mark in lane.marks] == [
        ("claim", 1), ("pull", 1), ("merge", 2),
    ]  # fmt: skip


@pytest.mark.slow
def test_what_an_agent_did_before_the_beginning_still_counts(road: Road) -> None:
    road.issue("Parse files")
    must(road, ["agent-claim", "1"], W1)
    name = must(road, ["agent-escalate", "Tabs or spaces?", "--issue", "1"], W1)
    must(road, ["agent-sync"], W1)
    road.clock.wait(60)
    since = road.clock.now()
    road.clock.wait(60)
    must(road, ["agent-answer", name, "tabs"], {})
    lane = lanes(road, since)["worker-1"]
    assert (lane.spans[0].start, lane.spans[0].issue) == (since, 1)
    assert [(span.kind, span.start, span.end) for span in lane.opened] == [
        ("question", since, since + 60)
    ]


def test_an_agent_that_is_silent_for_long_is_dead_since_its_last_sign_of_life(road: Road) -> None:
    road.issue("Parse files")
    must(road, ["agent-claim", "1"], W1)
    must(road, ["agent-sync"], W1)
    last = road.clock.now()
    road.silence("worker-1", 2 * HOUR)
    lane = lanes(road, last - 60)["worker-1"]
    assert lane.marks[-1].kind == "death"
    assert abs(lane.marks[-1].at - last) <= 1
    assert lane.spans[-1].end == road.clock.now()


@pytest.mark.slow
def test_an_agent_that_was_dead_at_the_beginning_is_no_lane(road: Road) -> None:
    must(road, ["agent-heartbeat", "--status", "testing"], W1)
    must(road, ["agent-sync"], W1)
    road.silence("worker-1", 2 * HOUR)
    assert lanes(road, road.clock.now() - HOUR) == {}


def test_an_earlier_end_shows_agents_as_they_were(road: Road) -> None:
    began = road.clock.now()
    must(road, ["agent-heartbeat", "--status", "testing"], W1)
    must(road, ["agent-sync"], W1)
    road.silence("worker-1", 2 * HOUR)
    lane = lanes(road, began - 60, began + 60)["worker-1"]
    assert ([span.kind for span in lane.spans], lane.marks) == (["work"], ())


def published(road: Road, *, titled: bool = True) -> Timeline:
    app = road.house("@me")
    return last_day(app, app.store.snapshot(), titled=titled)


@pytest.mark.slow
def test_the_last_day_ends_with_the_newest_entry_whenever_it_is_read(road: Road) -> None:
    assert published(road).lanes == ()
    road.issue("Parse files")
    must(road, ["agent-claim", "1"], W1)
    must(road, ["agent-sync"], W1)
    shown = published(road)
    assert (shown.until, shown.titles) == (road.clock.now(), {1: "Parse files"})
    assert [lane.agent for lane in shown.lanes] == ["worker-1"]
    for wait in (HOUR, 30 * HOUR, 100 * HOUR):
        road.clock.wait(wait)
        assert published(road) == shown
    assert published(road, titled=False) == shown._replace(titles={})


@pytest.mark.slow
def test_another_clone_reads_the_same_lanes(clones: Clones) -> None:
    first, second = clones(2)
    road = Road(first)
    began = road.clock.now()
    road.issue("Parse files")
    must(road, ["agent-claim", "1"], W1)
    must(road, ["agent-sync"], W1)
    invoke("agent-sync", second, clock=road.clock)
    elsewhere = Road(second, road.clock)
    assert lanes(elsewhere, began - 60) == lanes(road, began - 60)


def test_a_question_that_needs_no_answer_any_more_is_open_until_then(road: Road) -> None:
    began = road.clock.now()
    road.issue("Parse files")
    must(road, ["agent-claim", "1"], W1)
    must(road, ["agent-escalate", "Tabs or spaces?", "--issue", "1"], W1)
    road.clock.wait(HOUR)
    must(road, ["agent-issue", "close", "1", "--reason", "Not needed", "--as", "@me"], {})
    must(road, ["agent-status", "--set", "stopped"], W1)
    must(road, ["agent-sync"], {})
    road.clock.wait(HOUR)
    (span,) = lanes(road, began)["worker-1"].opened
    assert (span.kind, round((span.end - began) / HOUR)) == ("question", 1)
