"""Commits that a pull request does not have, though they look like the same work."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.pulls.branches import other_branches
from tests.support.git import commit, git
from tests.support.repos import Restored
from tests.support.road import Road, with_work

BRANCH = "agent/worker-1/1-parse-files"


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_work).repo)


def warnings(road: Road, place: Path) -> list[str]:
    house = road.house("worker-1", place)
    branch, head = git(place, "branch", "--show-current"), git(place, "rev-parse", "HEAD")
    issue = house.tracker.get(1)
    return [*other_branches.warnings(house.ws, issue, "worker-1", branch, head, "main")]


def test_the_other_branches_of_its_worktree_and_issue_are_named_with_what_adds_them(
    road: Road,
) -> None:
    place = road.work
    git(place, "switch", "--quiet", "--create", "feature")
    commit(place, {"b.txt": "b\n"})
    assert warnings(road, place) == []  # it has all of the issue's branch
    git(place, "switch", "--quiet", BRANCH)
    commit(place, {"c.txt": "c\n"})
    assert warnings(road, place) == [
        f"feature has 1 commit that is not in the pull request of {BRANCH}. To add it: `git merge "
        "feature`, then `ghp agent-finish`."
    ]
    git(place, "switch", "--quiet", "feature")
    assert [x.partition(" has ")[0] for x in warnings(road, place)] == [BRANCH]
    git(place, "merge", "--quiet", "--no-edit", BRANCH)
    assert warnings(road, place) == []


def test_commits_of_others_and_of_main_are_not_missed(road: Road) -> None:
    commit(road.folder, {"main.txt": "m\n"})
    git(road.folder, "branch", "agent/worker-2/1-parse-files", BRANCH)
    git(road.folder, "branch", "agent/worker-1/3-print", BRANCH)
    place = road.work
    commit(place, {"a.txt": "two\n"})
    git(place, "switch", "--quiet", "--detach", "main")
    git(place, "switch", "--quiet", BRANCH)
    assert warnings(road, place) == []


def test_another_branch_in_another_worktree_is_refused_with_the_way_to_its_own(
    road: Road,
) -> None:
    git(road.folder, "switch", "--quiet", "--create", "side")
    house = road.house("worker-1")
    issue = house.tracker.get(1)
    with pytest.raises(RefusedError) as refused:
        other_branches.refuse_elsewhere(house.ws, Actor("worker-1"), issue, "side")
    place = road.work
    assert str(refused.value) == (
        f"side is not the branch of #1. That is {BRANCH}, in {place}, and its pull "
        "request does not get the commits of side."
    )
    assert refused.value.hint == (
        f"Run `cd {place} && git merge side && ghp agent-finish`. Without these commits: `cd "
        f"{place} && ghp agent-finish`."
    )
    other_branches.refuse_elsewhere(house.ws, Actor("Ann", is_person=True), issue, "side")
    other_branches.refuse_elsewhere(house.ws, Actor("worker-2"), issue, "side")
    inner = road.house("worker-1", place)
    other_branches.refuse_elsewhere(inner.ws, Actor("worker-1"), issue, "feature")
