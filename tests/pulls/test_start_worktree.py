"""Where an agent works: paths by upstream's rule, and branches that are known from elsewhere."""

from pathlib import Path

import pytest

from ghp_agents.claims import service as claims
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AgentName, Timestamp
from ghp_agents.git.process import GitError
from ghp_agents.handoffs import service as handoff
from ghp_agents.presence import service as presence
from ghp_agents.pulls import issue_work
from ghp_agents.pulls import start_worktree as start_place
from ghp_agents.pulls.branches import branch_records
from tests.support.git import commit, git, run_git
from tests.support.repos import Restored
from tests.support.road import Road, with_issue


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


@pytest.mark.slow
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
    branch_records.refuse_other(house, "agent/worker-1/1-other", other)
    branch_records.refuse_other(house, "agent/worker-1/1-mine", issue)
    with pytest.raises(RefusedError, match="was begun for another issue that was #1, too"):
        branch_records.refuse_other(house, "agent/worker-1/1-other", issue)


@pytest.mark.slow
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


def in_conflict(road: Road, *how: str) -> Path:
    """The worktree of worker-1, who ended in the middle of a rebase."""
    place = road.start("worker-1").path
    commit(place, {"README.md": "mine\n"})
    road.put({"README.md": "theirs\n"})
    assert run_git(place, "rebase", *how, "main").returncode != 0
    return place


@pytest.mark.slow
@pytest.mark.parametrize("how", ["--merge", "--apply"])
def test_a_rebase_in_progress_is_gone_on_with_where_it_is(road: Road, how: str) -> None:
    place = in_conflict(road, how)
    again = road.start("worker-1")
    assert (again.path, again.branch, again.how) == (place, "agent/worker-1/1-parse-files", "there")
    assert again.notes == (
        "A rebase of agent/worker-1/1-parse-files is in progress there: `git rebase --continue` "
        "continues it, `git rebase --abort` ends it.",
    )
    house = road.house("worker-1")
    found = issue_work.without_pulls(house, house.tracker.get(1)).checkout
    assert found is not None
    assert (found.path, found.operation) == (place, "a rebase")
    git(place, "rebase", "--abort")  # as it says
    assert road.start("worker-1").notes == ()


@pytest.mark.slow
def test_another_agent_goes_on_with_the_rebase_of_one_that_ended(road: Road) -> None:
    place = in_conflict(road)
    claims.release(road.house("worker-1"), "1")
    road.silence("worker-1")
    assert road.start("worker-2", None).path == place


@pytest.mark.slow
def test_a_bisect_in_progress_is_gone_on_with_where_it_is(road: Road) -> None:
    place = road.start("worker-1").path
    for text in ("one\n", "two\n", "three\n"):
        commit(place, {"a.txt": text})
    git(place, "bisect", "start", "HEAD", "main")
    again = road.start("worker-1")
    assert again.path == place
    assert again.notes == (
        "A bisect of agent/worker-1/1-parse-files is in progress there: `git bisect reset` ends "
        "it.",
    )
    git(place, "bisect", "reset")  # as it says
    assert road.start("worker-1").notes == ()


@pytest.mark.slow
def test_commits_on_a_detached_head_are_not_hidden_by_another_worktree(road: Road) -> None:
    place = road.start("worker-1").path
    git(place, "checkout", "--quiet", "--detach")
    oid = commit(place, {"a.txt": "aside\n"})
    again = road.start("worker-1")
    assert (again.path, again.how) == (place, "there")
    (note,) = again.notes
    assert note.startswith(f"HEAD is detached there, at {oid[:12]}, with commits that no branch")
    branch = "agent/worker-1/1-parse-files"
    assert f"`git switch {branch} && git merge {oid[:12]}`" in note
    git(place, "switch", "--quiet", branch)  # as it says
    git(place, "merge", "--quiet", oid[:12])
    again = road.start("worker-1")
    assert (again.path, again.notes, git(place, "rev-parse", branch)) == (place, (), oid)


@pytest.mark.slow
def test_a_detached_head_that_has_nothing_of_its_own_is_in_nobodys_way(road: Road) -> None:
    place = road.start("worker-1").path
    git(place, "checkout", "--quiet", "--detach")
    again = road.start("worker-1")
    assert (again.path, again.how) == (place.with_name("1-parse-files-2"), "continued")


@pytest.mark.slow
def test_a_start_that_fails_releases_only_the_claim_that_it_took(
    road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise GitError("no", hint="")

    with monkeypatch.context() as patch:
        patch.setattr(start_place, "place_worktree", fail)
        with pytest.raises(GitError):
            road.start("worker-1")
    assert 1 not in road.house("@me").world.claims
    road.start("worker-1")
    with monkeypatch.context() as patch:
        patch.setattr(start_place, "place_worktree", fail)
        with pytest.raises(GitError):
            road.start("worker-1")
    assert road.house("@me").world.claims[1].holder == "worker-1"
