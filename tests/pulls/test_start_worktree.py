"""Where an agent works: paths by upstream's rule, and branches that are known from elsewhere."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.handoffs import service as handoff
from ghp_agents.pulls import start_worktree as start_place
from tests.support.git import commit, git
from tests.support.repos import Restored
from tests.support.road import Road, with_issue


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


def test_the_branch_that_a_handoff_names_is_gone_on_with(road: Road) -> None:
    issue = road.house("@me").tracker.get(1)
    git(road.folder, "branch", "feature/1-parser")
    house = road.house("worker-1")
    git(road.folder, "switch", "--quiet", "feature/1-parser")
    oid = commit(road.folder, {"a.txt": "half\n"})
    handoff.handoff(house, issue="1", note="Go on")
    git(road.folder, "switch", "--quiet", "main")
    place = start_place.place_worktree(house, "worker-2", issue)
    assert (place.branch, place.how) == ("feature/1-parser", "continued")
    assert git(place.path, "rev-parse", "HEAD") == oid


def test_without_a_trunk_nothing_is_begun(road: Road) -> None:
    git(road.folder, "branch", "--move", "work")
    git(road.folder, "branch", "other")
    house = road.house("worker-1")
    with pytest.raises(RefusedError) as refused:
        start_place.place_worktree(house, "worker-1", house.tracker.get(1))
    assert str(refused.value) == "Cannot tell which branch is the main branch: other, work."
    assert refused.value.hint == (
        'Choose one, such as work: commit `{"agents": {"trunk": "work"}}` there, as '
        ".ghp/config.json."
    )
    commit(road.folder, {".ghp/config.json": '{"agents": {"trunk": "work"}}'})  # as it says
    house = road.house("worker-1")
    place = start_place.place_worktree(house, "worker-1", house.tracker.get(1))
    assert git(place.path, "rev-parse", "HEAD") == git(road.folder, "rev-parse", "work")


def test_two_branches_that_name_themselves_are_no_main_branch(road: Road) -> None:
    git(road.folder, "branch", "--move", "work")
    commit(road.folder, {".ghp/config.json": '{"agents": {"trunk": "work"}}'})
    git(road.folder, "switch", "--quiet", "-c", "other")
    commit(road.folder, {".ghp/config.json": '{"agents": {"trunk": "other"}}'})
    git(road.folder, "switch", "--quiet", "-c", "agent/w1/1-x", "work")
    commit(road.folder, {".ghp/config.json": '{"agents": {"trunk": "agent/w1/1-x"}}'})
    assert road.house("worker-1").ws.settings.trunk is None
    git(road.folder, "branch", "-D", "other")
    git(road.folder, "branch", "third")
    assert road.house("worker-1").ws.settings.trunk == "work", "a branch for an issue is none"


def test_a_branch_that_is_checked_out_in_the_main_worktree_is_worked_on_there(road: Road) -> None:
    git(road.folder, "switch", "--quiet", "-c", "agent/worker-1/1-parse-files")
    house = road.house("worker-1")
    place = start_place.place_worktree(house, "worker-1", house.tracker.get(1))
    assert (place.path, place.how) == (road.folder, "there")
