"""Requests of clones without a token: as files, and from hostile ones."""

import json
from typing import Any

import pytest

from ghp_agents.core.ids import Actor, CloneId, IssueNumber, Timestamp
from ghp_agents.github.tokenless import request
from ghp_agents.github.tokenless.request import RequestResult, WriteRequest
from ghp_agents.issues.issue import IssueChange
from ghp_agents.pulls.pull import NewPull

AT = Timestamp("2026-01-02T03:04:05Z")
CLONE = CloneId("aaaaaaaaaaaa")
WORKER = Actor("worker-1")
PLAIN = WriteRequest("0123456789ab", "comment", 7, CLONE, AT, WORKER, 4, body="Hello\n\nyou")
REQUESTS = [
    PLAIN,
    PLAIN._replace(marker="E-1"),
    PLAIN._replace(
        kind="change",
        body="",
        by=Actor("Ann Example", is_person=True),
        change=IssueChange(
            title="T", body="B", state="closed", priority="high", parent=IssueNumber(3),
            add_labels=("a",), remove_labels=("b",), add_assignees=("worker-2",),
            remove_assignees=("@ann",), add_blockers=(IssueNumber(1),),
            remove_blockers=(IssueNumber(2),),
        ),
    ),
    PLAIN._replace(kind="change", body="", change=IssueChange(no_parent=True, body="")),
    PLAIN._replace(kind="create", issue=0, body="", change=IssueChange(title="New")),
    PLAIN._replace(
        kind="pull", body="", pull=NewPull("agent/x", "main", "0" * 40, "T", "B", 4, draft=True)
    ),
]  # fmt: skip
RESULT = RequestResult(PLAIN.id, Actor("ghp-agents"), AT, 9, CLONE, "sent", "", 12)


def files(*entry: WriteRequest) -> dict[str, bytes]:
    return {
        path: data for one_entry in entry for path, data in request.request_record(one_entry).files
    }


@pytest.mark.parametrize("entry", REQUESTS)
def test_a_request_is_read_as_it_was_written(entry: WriteRequest) -> None:
    outgoing = request.read_outgoing(files(entry))
    assert (outgoing.requests, outgoing.waiting, outgoing.problems) == ((entry,), [entry], ())


@pytest.mark.parametrize(
    ("entry", "says"),
    [*zip(
        REQUESTS,
        ["a comment on #4", "a comment on #4", "a change of #4", "a change of #4",
         "the new issue «New»", "the pull request of agent/x"],
        strict=True,
    )],
)  # fmt: skip
def test_people_read_what_is_asked_for(entry: WriteRequest, says: str) -> None:
    assert entry.says == says


def test_with_a_result_it_does_not_wait() -> None:
    both = files(PLAIN) | dict(request.result_record(RESULT, PLAIN).files)
    outgoing = request.read_outgoing(both)
    assert (outgoing.waiting, outgoing.results, outgoing.refused) == ([], {PLAIN.id: RESULT}, [])
    refused = RESULT._replace(fate="refused", why="no")
    both |= dict(request.result_record(refused, PLAIN).files)
    assert request.read_outgoing(both).refused == [(PLAIN, refused)]


def test_requests_come_in_the_order_of_the_ledger() -> None:
    second = PLAIN._replace(id="1" * 12, clock=8)
    assert request.read_outgoing(files(second, PLAIN)).requests == (PLAIN, second)


def test_what_was_sent_long_ago_is_settled_and_what_waits_is_not() -> None:
    waits = PLAIN._replace(id="1" * 12)
    contents = files(PLAIN, waits) | dict(request.result_record(RESULT, PLAIN).files)
    (subject,) = request.settled(contents, 2e9)
    assert subject.paths == {f".ghp/outgoing/{PLAIN.id}/request.json"}
    assert subject.last == {f".ghp/outgoing/{PLAIN.id}/result.json"}
    assert request.settled(contents, 0.0) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"issue": -1},
        {"issue": "4"},
        {"body": 5},
        {"body": "x" * 70_000},
        {"by": "../evil"},
        {"marker": "x" * 301},
        {"change": []},
        {"change": {"addLabels": ["x"] * 101}},
        {"change": {"addLabels": "x"}},
        {"change": {"addBlockers": ["1"]}},
        {"change": {"title": "x" * 70_000}},
        {"kind": "pull", "pull": None},
        {"kind": "pull", "pull": {"branch": "x"}},
        {"clock": -1},
    ],
)
def test_a_wrong_request_is_a_problem_and_hides_nothing(fields: dict[str, object]) -> None:
    ((path, data),) = files(PLAIN._replace(id="2" * 12)).items()
    wrong = json.dumps(json.loads(data) | fields).encode()
    outgoing = request.read_outgoing(files(PLAIN) | {path: wrong})
    assert outgoing.requests == (PLAIN,)
    assert [problem.place for problem in outgoing.problems] == [path]


def test_a_kind_of_a_newer_version_is_left_alone() -> None:
    ((path, data),) = files(PLAIN).items()
    newer = json.dumps(json.loads(data) | {"kind": "merge"}).encode()
    assert request.read_outgoing({path: newer}) == request.Outgoing()


@pytest.mark.parametrize(
    "change", [{"state": "weird"}, {"priority": ["x"]}, {"title": "x" * 301}, {"title": 1}]
)
def test_a_change_that_no_tracker_knows_is_a_problem(change: dict[str, Any]) -> None:
    outgoing = request.read_outgoing(_changed(change))
    assert (outgoing.requests, len(outgoing.problems)) == ((), 1)


def test_a_title_of_others_is_one_line() -> None:
    (entry,) = request.read_outgoing(_changed({"title": "a\nb\x1b[31m"})).requests
    assert entry.change.title is not None
    assert entry.change.title.isprintable()


def _changed(change: dict[str, Any]) -> dict[str, bytes]:
    fields = {
        "by": "Ann", "person": True, "at": "2026-01-02T03:04:05Z", "clock": 1, "clone": "a" * 12,
        "kind": "change", "issue": 1, "change": change,
    }  # fmt: skip
    return {f"{request.FOLDER}{'b' * 12}/request.json": json.dumps(fields).encode()}
