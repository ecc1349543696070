"""What a report is made of: times of others, GitHub's merges, and who is idle."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import UnknownError
from ghp_agents.core.ids import Actor, AgentName, Timestamp
from ghp_agents.handoffs import what_runs
from ghp_agents.ports import Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.pulls.merging import record_review
from ghp_agents.reports.report import LISTED, Report, ReportItem, is_since, read_report
from ghp_agents.state.join import SetAside
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.wiring import App
from tests.support.context import make_context
from tests.support.git import git
from tests.support.road import Road

DAY = 86_400.0


class NoForge:
    """GitHub, which cannot be reached."""

    def list(self, *, closed: bool = False) -> list[Any]:
        raise UnknownError("GitHub cannot be reached", hint="")


class Refusing:
    """A store whose remote refused a record."""

    def __init__(self, store: object, kept: SetAside) -> None:
        self._store, self._kept = store, kept

    def set_aside(self) -> list[SetAside]:
        return [self._kept]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def read(road: Road, since: float = 0.0) -> Report:
    return read_report(App(road.folder, os.environ, clock=road.clock), since)


def record(road: Road, *records: Record) -> None:
    def decide(snapshot: Snapshot) -> tuple[None, Sequence[Record]]:
        return None, [x._replace(clock=snapshot.clock + 1) for x in records]

    transact(road.house("@me").store, decide)


def entry(road: Road, event: str, about: str, **fields: Any) -> Record:
    at = Timestamp(to_text(road.clock.now()))
    return Record(event, Actor("worker-1"), about, f"{event}-{about}", at, 1, (), **fields)


@pytest.mark.parametrize("at", ["", "yesterday", "T", "9" * 400])
def test_a_time_that_cannot_be_read_is_before_any_other(at: str) -> None:
    assert not is_since(at, 0.0)


def test_a_time_counts_from_its_beginning() -> None:
    assert is_since("1970-01-02T00:00:00Z", DAY)
    assert not is_since("1970-01-01T23:59:59Z", DAY)


def test_a_merge_on_github_is_known_by_the_release_of_its_claim(repo: Path) -> None:
    road = Road(repo)
    road.issue("Parse files")
    road.put({".ghp/config.json": "{}\n"}, "Merge")
    text = f"merged by #9 into main as {git(repo, 'rev-parse', '--short=12', 'main')}"
    record(road, entry(road, "release", "#1", issue=1, cause="merged", text=text))
    (item,) = read(road).sections["merged"]
    assert (item.id, item.title, item.by) == ("#1", "Parse files", Actor("worker-1"))
    assert item.text == "changed files that make programs run: .ghp/config.json"


def test_pull_requests_that_cannot_be_listed_are_a_note_and_hide_nothing(repo: Path) -> None:
    road = Road(repo)
    road.issue("Parse files")
    app = road.house("@me")
    store, forge = cast(Any, app.store), cast(Any, NoForge())
    ctx = make_context(app.ws, store, app.locks, app.tracker, forge=forge)
    report = read_report(ctx, 0.0)
    assert report.counts["opened"] == 1
    assert report.notes == ("Cannot list the open pull requests: GitHub cannot be reached",)


def test_a_section_is_bounded_and_the_rest_is_counted(repo: Path) -> None:
    road = Road(repo)
    record(road, *(entry(road, "handoff", f"H-{n}", issue=1) for n in range(LISTED + 5)))
    report = read(road)
    assert len(report.sections["handedOver"]) == LISTED
    assert report.counts["handedOver"] == LISTED + 5


@pytest.mark.slow
def test_an_agent_that_works_without_a_record_is_not_idle(repo: Path) -> None:
    road = Road(repo)
    start = road.clock.now()
    for name in ("worker-1", "worker-2"):
        road.start(name, road.issue(f"For {name}").number)
    road.clock.wait(DAY)
    app = road.house("worker-1")

    presence.heartbeat(app.ws, app.store, AgentName("worker-1"), {}, progress=True)
    presence.heartbeat(app.ws, app.store, AgentName("worker-2"), {})
    names = {item.id for item in read(road, start + DAY / 2).sections["idle"]}
    assert names == {"worker-2"}


def test_an_agent_that_was_dead_before_did_not_die_since(repo: Path) -> None:
    road = Road(repo)
    road.start("worker-1", road.issue("Parse files").number)
    road.house("worker-1").store.fold()
    road.silence("worker-1", 2 * DAY)
    died = read(road, road.clock.now() - 3 * DAY).sections["died"]
    assert [(item.id, item.issue, item.command) for item in died] == [
        ("worker-1", 1, "ghp agent-sweep")
    ]
    assert read(road, road.clock.now() - DAY).sections["died"] == ()


def test_a_record_that_the_remote_refused_waits_for_a_person(repo: Path) -> None:
    road = Road(repo)
    app = road.house("@me")
    refused = entry(road, "handoff", "H-1", issue=1)
    kept = SetAside("R-3f9a", refused, "It has a secret.\nLook.", at=road.clock.now())
    store = cast(Any, Refusing(app.store, kept))
    ctx = make_context(app.ws, store, app.locks, app.tracker, forge=app.forge)
    (item,) = read_report(ctx, 0.0).sections["waiting"]
    assert item == ReportItem(
        "R-3f9a", to_text(road.clock.now()), "handoff H-1", Actor("worker-1"), 1, "refused",
        text="It has a secret.", command="ghp agent-sync --refused R-3f9a",
    )  # fmt: skip


@pytest.mark.slow
def test_work_that_was_sent_back_is_not_ready_to_merge(repo: Path) -> None:
    road = Road(repo)
    for number in (1, 2):
        road.issue(f"Part {number}")
    for number in (1, 2):
        road.done(f"worker-{number}", number, {"a.txt": f"{number}\n"})
    ready = [item.id for item in read(road).sections["mergeable"]]
    road.queue()  # the second conflicts with the first
    assert len(ready) == 2
    assert read(road).sections["mergeable"] == ()
    (item,) = read(road).sections["sentBack"]
    assert (item.id, item.state, item.text) == ("#4", "it conflicts with main", "a.txt")


@pytest.mark.slow
def test_requested_changes_are_sent_back_to_the_agent_and_not_ready(repo: Path) -> None:
    road = Road(repo)
    road.issue("Parse files")
    road.done("worker-1", 1, {"a.txt": "1\n"})
    reviewer = road.house("worker-2")
    record_review.review(reviewer, reviewer.forge.get(2), "request-changes", "Add a test\nof tabs")
    sections = read(road).sections
    assert sections["sentBack"] == (
        ReportItem(
            "#2", to_text(road.clock.now()), "Parse files", Actor("worker-2"), 1,
            "changes requested", "Add a test", command="ghp agent-pull show 2",
        ),
    )  # fmt: skip
    assert sections["mergeable"] == ()
    assert [item.id for item in sections["opened"]] == ["#1"]


@pytest.mark.slow
def test_a_pull_request_that_changes_what_runs_is_named_as_such(repo: Path) -> None:
    road = Road(repo)
    road.issue()
    road.done("worker-1", 1, {".ghp/config.json": "{}\n"})
    (item,) = read(road).sections["mergeable"]
    assert item.text == "changes files that make programs run: .ghp/config.json"
    road.merge(2, "@me")
    (item,) = read(road).sections["merged"]
    assert item.text == "changed files that make programs run: .ghp/config.json"


def test_a_merge_whose_commit_is_not_here_is_judged_by_its_recorded_paths(repo: Path) -> None:
    paths = ["a.txt", ".claude/settings.json", "CLAUDE.md"]
    assert what_runs.of_merge(repo, "0" * 40, paths).words == (
        "files that make programs run: .claude/settings.json; instructions of agents: CLAUDE.md"
    )
