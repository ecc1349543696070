"""An agent closes an issue only with evidence that it is done, or with a reason."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.claims import service as claims
from ghp_agents.core.errors import RefusedError
from ghp_agents.issues import service as issues
from ghp_agents.pulls import close_evidence
from tests.support.git import git
from tests.support.repos import Restored
from tests.support.road import Road, merged, with_issue

REFUSED = (
    "Nothing shows that #1 is done. It has no merged pull request, and no commit on main (as "
    "last fetched) names it."
)
ELSE = "If nothing needs to be merged, say why: `ghp agent-issue close 1 --reason TEXT`."


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


def close(road: Road, name: str = "worker-1", reason: str = "") -> str:
    """Somebody closes #1; returns its state."""
    return close_evidence.close(road.house(name), "1", reason).issue.state


def refusal(road: Road, name: str = "worker-1") -> tuple[str, str]:
    """The refusal of an agent that closes #1, which stays open."""
    with pytest.raises(RefusedError) as caught:
        close(road, name)
    assert road.house(name).tracker.get(1).state == "open"
    return str(caught.value), caught.value.hint


def test_an_agent_without_evidence_is_refused_with_the_way_on(road: Road) -> None:
    finish = "Finish the work with `ghp agent-finish`, then merge it with `ghp agent-merge`."
    assert refusal(road) == (REFUSED, f"{finish} {ELSE}")


def test_a_reason_is_on_the_issue_before_it_closes(road: Road) -> None:
    outcome = close_evidence.close(road.house("worker-1"), "1", "The same as #2")
    (comment,) = outcome.issue.comments
    assert (outcome.issue.state, comment.author, comment.body) == (
        "closed", "worker-1", "The same as #2",
    )  # fmt: skip


def test_people_and_orchestrators_need_no_evidence(road: Road) -> None:
    assert close(road, "@me") == "closed"
    road.configure({"orchestrators": ["lead"]})
    issues.reopen(road.house("@me"), "1")
    assert refusal(road)[0] == REFUSED
    assert close(road, "lead") == "closed"


def test_a_closed_issue_can_be_closed_again_without_evidence(road: Road) -> None:
    close(road, "@me")
    assert not close_evidence.close(road.house("worker-1"), "1").changed


def test_who_does_not_hold_the_issue_is_told_that_and_not_about_evidence(road: Road) -> None:
    claims.claim(road.house("worker-2"), "1")
    assert refusal(road)[0].startswith("#1 is claimed by worker-2 since ")


@pytest.mark.slow
def test_an_open_pull_request_is_no_evidence_and_a_merged_one_is(road: Road) -> None:
    road.done("worker-1", 1, {"a.txt": "one\n"})
    assert refusal(road)[1] == f"Merge its pull request: `ghp agent-merge 2`. {ELSE}"
    merged(road.merge(1))
    issues.reopen(road.house("@me"), "1")
    assert close(road, "worker-2") == "closed"


@pytest.mark.slow
def test_a_merge_that_nobody_recorded_is_evidence_by_its_trailer(road: Road) -> None:
    head = road.done("worker-1", 1, {"a.txt": "one\n"}).pull.head
    road.put({"a.txt": "one\n"}, f"Merge it\n\nMerged-head: {head}")
    assert close(road) == "closed"


@pytest.mark.parametrize(
    "message",
    ["Parse files (#1)", "#1", "Fix #1: files", "Parse files\n\nThis closes #1.", "fixes:#1,#2"],
)
def test_a_commit_on_main_that_names_the_issue_is_evidence(road: Road, message: str) -> None:
    road.put({"a.txt": "one\n"}, message)
    assert close(road) == "closed"


@pytest.mark.parametrize(
    "message", ["Parse files (#12)", "Fix #21", "See other/repo#1", "#1a", "Number 1", "Work on 1"]
)
def test_a_commit_that_names_something_else_is_no_evidence(road: Road, message: str) -> None:
    road.put({"a.txt": "one\n"}, message)
    assert refusal(road)[0] == REFUSED


def test_a_commit_on_another_branch_is_no_evidence(road: Road) -> None:
    git(road.folder, "switch", "--quiet", "-c", "other")
    git(road.folder, "commit", "--quiet", "--allow-empty", "--message", "Fix #1")
    git(road.folder, "switch", "--quiet", "main")
    assert refusal(road)[0] == REFUSED


def test_a_commit_from_before_the_issue_is_no_evidence(road: Road) -> None:
    when = {"GIT_COMMITTER_DATE": "2025-06-01T00:00:00Z"}  # two weeks before
    git(road.folder, "commit", "--quiet", "--allow-empty", "--message", "Fix #1", env=when)
    assert refusal(road)[0] == REFUSED


def test_settings_of_git_for_searches_change_nothing(road: Road) -> None:
    git(road.folder, "config", "grep.patternType", "fixed")
    git(road.folder, "config", "log.showSignature", "true")
    road.put({"a.txt": "one\n"}, "Parse files (#1)")
    assert close(road) == "closed"


def test_a_repository_without_commits_has_no_evidence(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "config", "user.name", "Ann")
    road = Road(tmp_path)
    road.issue("Parse files")
    assert refusal(road)[0] == REFUSED


@pytest.mark.slow
def test_what_was_fetched_of_main_is_evidence_as_well(
    clones: Callable[[int], list[Path]],
) -> None:
    here, other = clones(2)
    road = Road(here)
    road.issue("Parse files")
    Road(other).put({"a.txt": "one\n"}, "Parse files (#1)")
    assert refusal(road)[0] == REFUSED
    git(here, "fetch", "--quiet")
    assert close(road) == "closed"
