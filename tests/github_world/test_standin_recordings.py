"""Where the stand-in is ours, it is held beside conversations with the real GitHub."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import outside, recordings
from tests.support.github import ADMIN, GitHub, World
from tools import emulate

# What the real one says of repositories with more history, and of organisations.
ELSEWHERE = {
    "pull_request", "milestone", "draft", "type", "issue_field_values", "performed_via_github_app",
    "pinned_comment", "closed_by", "repository",
}  # fmt: skip


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The conversations; without them there is nothing to compare with."""
    return outside.need("recordings of GitHub", emulate.recordings)


def spoken(folder: Path, *names: str) -> dict[tuple[str, str], recordings.Recorded]:
    """The last exchange of each kind: verb and end of the path."""
    by_end = {}
    for name in names:
        for path in sorted(folder.glob(f"{name}.txt")):
            for recorded in recordings.conversation(path):
                end = "/".join(x for x in recorded.path.split("/")[5:] if not x.isdecimal())
                if recorded.said:
                    by_end[recorded.verb, end] = recorded
    return by_end


def keys(body: Any) -> set[str]:
    return set(body[0] if isinstance(body, list) else body)


@pytest.mark.parametrize(
    "name", ["SubIssue.*", "IssueDependencies.*", "IssueComment.*", "IssueEvent.*"]
)
def test_the_judge_takes_what_the_real_one_said(
    github_world: World, recorded: Path, name: str
) -> None:
    judge, judged = github_world.openapi, 0
    assert judge
    wrong = []
    for path in recorded.glob(f"{name}.txt"):
        for exchange in recordings.conversation(path):
            at = exchange.path.partition("?")[0]
            wrong += judge.of_request(exchange.verb, at, {}, exchange.asked)
            # Of older answers only what they were asked for is still as it was then.
            if name.startswith(("Sub", "IssueDep")):
                wrong += judge.of_answer(exchange.verb, at, exchange.status, exchange.said)
            judged += 1
    assert judged
    assert wrong == []


def test_relations_are_asked_for_and_answered_as_there(github: GitHub, recorded: Path) -> None:
    one, two, three = (github.issue(title) for title in ("One", "Two", "Three"))
    ids = {n: github.act(ADMIN, "GET", f"issues/{n}")["id"] for n in (one, two, three)}
    real = spoken(recorded, "SubIssue.test*", "IssueDependencies.test*")
    ours = (
        ("POST", f"issues/{one}/sub_issues", {"sub_issue_id": ids[two]}),
        ("POST", f"issues/{one}/dependencies/blocked_by", {"issue_id": ids[three]}),
        ("GET", f"issues/{one}/sub_issues", None),
        ("GET", f"issues/{one}/dependencies/blocked_by", None),
        ("DELETE", f"issues/{one}/sub_issue", {"sub_issue_id": ids[two]}),
        ("DELETE", f"issues/{one}/dependencies/blocked_by/{ids[three]}", None),
    )
    for verb, path, body in ours:
        end = "/".join(x for x in path.split("/")[2:] if not x.isdecimal())
        theirs = real[verb, end]
        response = github.try_to(ADMIN, verb, path, body)
        assert response.status == theirs.status, (verb, end)
        assert set(body or {}) == set(theirs.asked or {}), (verb, end)
        assert keys(theirs.said) - keys(response.body) <= ELSEWHERE, (verb, end)
