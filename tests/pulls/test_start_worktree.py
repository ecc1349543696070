"""Where an agent works: paths by upstream's rule, and branches that are known from elsewhere."""

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AgentName, Timestamp
from ghp_agents.handoffs import service as handoff
from ghp_agents.presence import service as presence
from ghp_agents.pulls import start_worktree as start_place
from ghp_agents.pulls.branches import branch_records
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
    presence.heartbeat(house.ws, house.store, AgentName("worker-1"), {"issue": 1})
    place = start_place.place_worktree(house, "worker-1", house.tracker.get(1))
    assert (place.path, place.how) == (road.folder, "there")


def begun(road: Road, branch: str, files: dict[str, str]) -> str:
    """A branch with work that no record names."""
    git(road.folder, "switch", "--quiet", "-c", branch)
    oid = commit(road.folder, files)
    git(road.folder, "switch", "--quiet", "main")
    return oid


@pytest.mark.parametrize("name", ["agent/worker-1/1-parse-files", "agent/worker-2/1-old"])
def test_a_branch_of_another_issue_with_the_number_is_left_alone(road: Road, name: str) -> None:
    oid = begun(road, name, {"old.txt": "old\n"})
    house = road.house("worker-1")
    place = start_place.place_worktree(house, "worker-1", house.tracker.get(1))
    is_same = name == "agent/worker-1/1-parse-files"
    assert place.branch == "agent/worker-1/1-parse-files" + ("-2" if is_same else "")
    assert place.notes == (
        f"{name} is not known to be for this issue, so it stays as it is. The branch is "
        f"{place.branch}.",
    )
    assert not (place.path / "old.txt").exists()
    assert git(road.folder, "rev-parse", name) == oid
    again = start_place.place_worktree(house, "worker-2", house.tracker.get(1))
    assert (again.path, again.branch, again.how, again.notes) == (*place[:2], "there", ())


def test_a_branch_that_was_begun_for_another_issue_is_not_finished_for_this_one(road: Road) -> None:
    house = road.house("worker-1")
    issue = house.tracker.get(1)
    other = issue._replace(id="0" * 12, created_at=Timestamp("2020-01-01T00:00:00Z"))
    branch_records.note(house, "agent/worker-1/1-other", other, "main", "")
    branch_records.refuse_other(house.store.snapshot(), "agent/worker-1/1-other", other)
    branch_records.refuse_other(house.store.snapshot(), "agent/worker-1/1-mine", issue)
    with pytest.raises(RefusedError, match="was begun for another issue that was #1, too"):
        branch_records.refuse_other(house.store.snapshot(), "agent/worker-1/1-other", issue)


def test_a_tracker_that_begins_its_numbers_again_gets_no_work_of_the_last_one(road: Road) -> None:
    road.done("worker-1", 1, {"old.txt": "old\n"})
    house = road.house("worker-1")
    handoff.handoff(house, issue="1", note="Go on", to="worker-2")
    git(road.folder, "worktree", "remove", "--force", str(road.work))
    new = house.tracker.get(1)._replace(id="g1f", created_at=Timestamp("2099-01-01T00:00:00Z"))
    for agent in ("worker-1", "worker-2"):
        place = start_place.place_worktree(house, agent, new)
        assert not (place.path / "old.txt").exists()
    assert place.branch == "agent/worker-1/1-parse-files-2"


def test_a_branch_in_the_way_of_all_names_of_agents_changes_the_name(road: Road) -> None:
    git(road.folder, "branch", "agent")
    house = road.house("worker-1")
    place = start_place.place_worktree(house, "worker-1", house.tracker.get(1))
    assert place.branch == "agents/worker-1/1-parse-files"
    assert place.notes == (
        "There is a branch agent, so git allows none called agent/worker-1/1-parse-files. The "
        "branch is agents/worker-1/1-parse-files; `branchPattern` chooses other names.",
    )
    git(road.folder, "branch", "-m", "agent", "other")
    again = start_place.place_worktree(house, "worker-2", house.tracker.get(1))
    assert (again.branch, again.how) == (place.branch, "there")
