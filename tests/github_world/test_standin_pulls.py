"""Pull requests of the stand-in live on a real remote, and are refused where GitHub refuses."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.git import commit, git
from tests.support.github import ADMIN, OUTSIDER, WORKER_1, GitHub


@pytest.fixture
def github(github_or_twin: GitHub) -> GitHub:
    return github_or_twin


@pytest.fixture
def clone(github: GitHub) -> Path:
    return github.clone("clone")


def branch(clone: Path, name: str, files: dict[str, str], onto: str = "origin/main") -> str:
    git(clone, "checkout", "--quiet", "-B", name, onto)
    oid = commit(clone, files, f"Work on {name}")
    git(clone, "push", "--quiet", "--force", "origin", name)
    return oid


def opened(github: GitHub, head: str, **fields: Any) -> dict[str, Any]:
    new = {"title": f"About {head}", "head": head, "base": "main", **fields}
    pull: dict[str, Any] = github.act(WORKER_1, "POST", "pulls", new)
    return pull


def merged(github: GitHub, number: int, **how: str) -> tuple[int, str]:
    response = github.try_to(WORKER_1, "PUT", f"pulls/{number}/merge", how)
    return response.status, response.body["message"]


@pytest.mark.slow
def test_one_is_where_its_branch_is_and_merging_it_closes_the_issue(
    github: GitHub, clone: Path
) -> None:
    issue = github.issue("Wanted")
    head = branch(clone, "agent/a/1", {"a.txt": "a\n"})
    pull = opened(github, "agent/a/1", body=f"Closes #{issue}")
    assert (pull["head"]["sha"], pull["mergeable_state"]) == (head, "clean")
    newer = branch(clone, "agent/a/1", {"b.txt": "b\n"}, "agent/a/1")
    number = pull["number"]
    assert merged(github, number, sha=head)[0] == 409
    assert merged(github, number, sha=newer, merge_method="squash")[0] == 200
    git(clone, "fetch", "--quiet")
    assert git(clone, "show", "--stat", "--format=%s", "origin/main").splitlines()[0] == (
        f"About agent/a/1 (#{number})"
    )
    assert git(clone, "cat-file", "-p", "origin/main:b.txt") == "b"
    pull = github.act(ADMIN, "GET", f"pulls/{number}")
    assert (pull["merged"], pull["merge_commit_sha"], pull["head"]["sha"]) == (
        True, git(clone, "rev-parse", "origin/main"), newer
    )  # fmt: skip
    assert github.act(ADMIN, "GET", f"issues/{issue}")["state"] == "closed"
    assert merged(github, number)[0] == 405
    github.act(WORKER_1, "DELETE", "git/refs/heads/agent/a/1")
    assert git(github.remote, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert github.try_to(WORKER_1, "DELETE", "git/refs/heads/agent/a/1").status == 422


@pytest.mark.slow
@pytest.mark.parametrize(("how", "parents"), [("merge", 2), ("squash", 1), ("rebase", 1)])
def test_each_way_of_merging_makes_its_commit(
    github: GitHub, clone: Path, how: str, parents: int
) -> None:
    branch(clone, "one", {"a.txt": "a\n"})
    branch(clone, "two", {"b.txt": "b\n"})
    for name in ("one", "two"):
        assert merged(github, opened(github, name)["number"], merge_method=how)[0] == 200
    git(clone, "fetch", "--quiet")
    assert len(git(clone, "show", "--no-patch", "--format=%P", "origin/main").split()) == parents
    assert git(clone, "ls-tree", "--name-only", "origin/main").split()[-2:] == ["a.txt", "b.txt"]


@pytest.mark.slow
def test_what_conflicts_or_is_a_draft_is_not_merged(github: GitHub, clone: Path) -> None:
    branch(clone, "one", {"README.md": "one\n"})
    branch(clone, "two", {"README.md": "two\n"})
    one, two = opened(github, "one"), opened(github, "two", draft=True)
    assert merged(github, two["number"]) == (405, "Pull Request is not mergeable")
    github.act(WORKER_1, "PATCH", f"pulls/{two['number']}", {"title": "Two"})
    mutation = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"  # noqa: E501
    data = github.act(
        WORKER_1, "POST", "/graphql", {"query": mutation, "variables": {"id": two["node_id"]}}
    )
    assert data["data"]["markPullRequestReadyForReview"]["pullRequest"]["isDraft"] is False
    assert merged(github, one["number"])[0] == 200
    pull = github.act(ADMIN, "GET", f"pulls/{two['number']}")
    assert (pull["draft"], pull["mergeable_state"]) == (False, "dirty")
    assert merged(github, two["number"]) == (405, "Pull Request is not mergeable")


def test_what_makes_no_sense_is_not_opened(github: GitHub, clone: Path) -> None:
    branch(clone, "one", {"a.txt": "a\n"})
    git(clone, "push", "--quiet", "origin", "origin/main:refs/heads/nothing-new")
    opened(github, "one")
    for head, why in (
        ("one", "A pull request already exists for ada:one."),
        ("nowhere", None),
        ("nothing-new", "No commits between main and nothing-new"),
    ):
        new = {"title": "t", "head": head, "base": "main"}
        response = github.try_to(WORKER_1, "POST", "pulls", new)
        assert (response.status, response.body["errors"][0].get("message")) == (422, why)
    assert github.try_to(OUTSIDER, "POST", "pulls", new).status == 403


def test_they_are_listed_among_the_issues_too(github: GitHub, clone: Path) -> None:
    issue = github.issue("One")
    branch(clone, "one", {"a.txt": "a\n"})
    number = opened(github, "one")["number"]
    listed = github.act(ADMIN, "GET", "issues", state="all", sort="created", direction="asc")
    assert [(x["number"], "pull_request" in x) for x in listed] == [(issue, False), (number, True)]
    assert "pull_request" in github.act(ADMIN, "GET", f"issues/{number}")
    pulls = github.act(ADMIN, "GET", "pulls", head="ada:one", state="all")
    assert [pull["number"] for pull in pulls] == [number]


def test_checks_are_of_a_commit(github: GitHub, clone: Path) -> None:
    head = branch(clone, "one", {"a.txt": "a\n"})
    assert github.act(ADMIN, "GET", f"commits/{head}/check-runs")["total_count"] == 0
    run = {"name": "tests", "head_sha": head, "status": "completed", "conclusion": "failure"}
    created = github.act(ADMIN, "POST", "check-runs", run)
    github.act(ADMIN, "PATCH", f"check-runs/{created['id']}", {"conclusion": "success"})
    page = github.act(ADMIN, "GET", "commits/one/check-runs")
    assert [(run["name"], run["conclusion"]) for run in page["check_runs"]] == [
        ("tests", "success")
    ]
    assert github.act(ADMIN, "GET", f"commits/{head}/status")["total_count"] == 0
