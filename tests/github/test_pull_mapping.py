"""GitHub's pull requests as ours: whose they are, which issue they close, what checks say."""

from typing import Any

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.github import pull_mapping as github_pull
from ghp_agents.pulls.pull import BODY_LIMIT, Checks, Pull, Sent

RAW: dict[str, Any] = {
    "number": 2,
    "user": {"login": "ada"},
    "head": {"ref": "agent/worker-1/1-parse", "sha": "a" * 40},
    "base": {"ref": "main", "sha": "b" * 40},
    "title": "Parse files",
    "body": None,
    "draft": False,
    "state": "open",
    "merged_at": None,
    "merge_commit_sha": "c" * 40,  # of a merge that GitHub tried
    "created_at": "2026-01-02T03:04:05Z",
    "updated_at": "2026-01-02T03:04:06Z",
    "html_url": "https://github.com/acme/widgets/pull/2",
}


def read(*, believed: bool = True, **fields: Any) -> Pull:
    return github_pull.pull({**RAW, **fields}, lambda login: believed)


def test_it_is_whose_the_line_says_if_its_account_may_write() -> None:
    body = github_pull.signed("What\n\nCloses #1", "agent/worker-1/1-parse", Actor("worker-1"))
    assert (read(body=body).author, read(body=body).body) == ("worker-1", "What\n\nCloses #1")
    forged = read(body=body, believed=False)
    assert (forged.author, forged.body) == ("@ada", body)


def test_what_was_merged_says_as_what_and_nothing_else_does() -> None:
    assert (read().state, read().merged_as) == ("open", None)
    merged = read(state="closed", merged_at="2026-01-02T03:04:06Z", draft=True)
    assert (merged.state, merged.merged_as, merged.draft) == ("merged", "c" * 40, False)


@pytest.mark.parametrize(
    ("body", "branch", "issue"),
    [
        ("Closes #7", "x", 7),
        ("Fixes #3\nmore\nresolves: #4\r\n", "x", 4),
        ("> Closes #9\n“Closes #8”", "agent/worker-1/1-parse", 1),
        (None, "agent/worker-1/1-parse", 1),
        ("", "feature", None),
    ],
)
def test_the_issue_that_it_closes(body: str | None, branch: str, issue: int | None) -> None:
    assert read(body=body, head={"ref": branch, "sha": "a" * 40}).issue == issue


def test_an_account_that_was_deleted_is_a_ghost() -> None:
    assert read(user=None).author == "@ghost"


def test_a_body_with_its_line_is_never_too_long() -> None:
    body = github_pull.signed("x" * BODY_LIMIT, "b", Actor("w" * 63))
    assert len(body) <= BODY_LIMIT
    assert body.endswith(" -->")


def run(name: str, conclusion: str | None, number: int = 1) -> dict[str, Any]:
    status = "completed" if conclusion else "in_progress"
    return {"id": number, "name": name, "status": status, "conclusion": conclusion}


@pytest.mark.parametrize(
    ("runs", "statuses", "expected"),
    [
        ([], [], Checks()),
        ([run("a", "success"), run("b", "neutral")], [], "green"),
        ([run("a", "success"), run("b", None)], [], "pending"),
        ([run("a", "cancelled"), run("b", None)], [], "red"),
        ([run("a", "failure"), run("a", "success", 2)], [], "green"),  # it ran again
        ([run("a", "success")], [{"context": "ci", "state": "error"}], "red"),
        ([], [{"context": "ci", "state": "pending"}], "pending"),
        (
            [],
            [{"context": "ci", "state": "success"}, {"context": "ci", "state": "failure"}],
            "green",
        ),
    ],
)
def test_checks_are_as_bad_as_the_worst_of_them(
    runs: list[Any], statuses: list[Any], expected: object
) -> None:
    checks = github_pull.checks(runs, statuses)
    assert checks == expected if isinstance(expected, Checks) else checks.state == expected


def test_the_failing_ones_come_first() -> None:
    checks = github_pull.checks([run("a", "success"), run("z", "failure"), run("m", None)], [])
    assert checks.details == (("z", "failure"), ("m", "pending"), ("a", "success"))


def test_two_workflows_with_a_job_of_one_name_are_two_checks() -> None:
    red = run("test", "failure") | {"id": 1, "check_suite": {"id": 1}}
    green = run("test", "success") | {"id": 2, "check_suite": {"id": 2}}
    again = run("test", "success") | {"id": 3, "check_suite": {"id": 1}}
    assert github_pull.checks([red, green], []).details == (
        ("test", "failure"), ("test", "success")
    )  # fmt: skip
    assert github_pull.checks([red, green, again], []).state == "green"


def test_the_newest_run_of_a_workflow_for_an_event_counts() -> None:
    fields = {"name": "CI", "workflow_id": 7, "event": "push", "status": "completed"}
    old = fields | {"id": 1, "conclusion": "failure"}
    new, other = old | {"id": 2, "conclusion": "success"}, old | {"id": 3, "event": "pull_request"}
    assert github_pull.checks(map(github_pull.as_check_run, [new, old]), []).state == "green"
    assert github_pull.checks(map(github_pull.as_check_run, [new, old, other]), []).state == "red"


@pytest.mark.parametrize("by", [Actor("worker-1"), Actor("worker-2"), Actor("Ann", is_person=True)])
def test_the_line_of_a_pull_request_says_what_was_sent_and_for_whom(by: Actor) -> None:
    body = github_pull.signed("Work", "b", Actor("worker-1"), Sent("c" * 40, by))
    pull = read(body=body)
    assert (pull.body, pull.author, pull.sent) == ("Work", "worker-1", Sent("c" * 40, by))
    assert read(body=body, believed=False).sent is None
    assert read(body=body.replace("c" * 40, "c" * 39)).sent is None


def test_what_failing_checks_say_is_kept_and_bounded() -> None:
    says = {"title": "2 errors", "summary": "a.py:7", "text": None}
    failed = run("build", "failure") | {"output": says, "html_url": "https://github.test/1"}
    statuses = [{"context": "ci", "state": "error"}]
    checks = github_pull.checks([failed, run("a", "success")], statuses)
    assert checks.output == "build: failure\n2 errors\na.py:7\nhttps://github.test/1\n\nci: error"
    huge = failed | {"output": {"summary": "x" * 10**6}}
    assert len(github_pull.checks([huge], []).output) == github_pull.OUTPUT_LIMIT
