"""Starting on an issue: once, again, after another, and after being killed."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.issues.issue import IssueChange
from ghp_agents.pulls import start_worktree as start_place
from tests.support.consent import mine
from tests.support.git import commit, git
from tests.support.repos import Restored
from tests.support.road import Road, everything, with_shared_issue

Clones = Callable[[int], list[Path]]


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_shared_issue).clones[0])


@pytest.fixture
def place(road: Road) -> Path:
    return Path.home() / ".ghp/worktrees/remote"


@pytest.mark.slow
def test_an_issue_is_claimed_and_has_a_branch_and_a_worktree(road: Road, place: Path) -> None:
    started = road.start("worker-1")
    assert (started.path, started.branch, started.how) == (
        place / "1-parse-files", "agent/worker-1/1-parse-files", "new",
    )  # fmt: skip
    assert git(started.path, "branch", "--show-current") == started.branch
    assert git(started.path, "rev-parse", "HEAD") == road.tip
    lease = road.house("worker-1").locks.read("issue/1")
    assert lease is not None
    assert lease.holder == "worker-1"


@pytest.mark.slow
def test_the_worktree_has_the_agents_name_and_its_presence(road: Road) -> None:
    started = road.start("worker-1")
    inner = Road(started.path).house("").ws
    assert inner.agent() == "worker-1"
    presence = inner.presence("worker-1") or {}
    assert (presence["issue"], presence["branch"], presence["worktree"], presence["status"]) == (
        1, "agent/worker-1/1-parse-files", "1-parse-files", "planning",
    )  # fmt: skip
    assert presence["lastAction"] == "Started #1"


@pytest.mark.slow
def test_the_worktree_of_the_caller_and_its_settings_stay_as_they_are(road: Road) -> None:
    (road.folder / "README.md").write_text("half-way\n")
    (road.folder / "new.txt").write_text("new\n")
    git(road.folder, "add", "new.txt")
    view = road.folder / ".ghp"
    before = everything(road.folder, lambda path: view in path.parents)
    config = (road.folder / ".git/config").read_text()
    road.start("worker-1")
    assert everything(road.folder, lambda path: view in path.parents) == before
    assert (road.folder / ".git/config").read_text() == config


@pytest.mark.slow
def test_the_branch_begins_at_the_trunk_as_the_remote_has_it_now(road: Road) -> None:
    other = road.folder.with_name("clone-2")
    new = Road(other).put({"news.txt": "new\n"})
    started = road.start("worker-1")
    assert git(started.path, "rev-parse", "HEAD") == new
    assert git(road.folder, "rev-parse", "main") != new


@pytest.mark.slow
def test_again_it_is_the_same_worktree_with_all_that_is_in_it(road: Road) -> None:
    first = road.start("worker-1")
    (first.path / "half.txt").write_text("half-way\n")
    again = road.start("worker-1")
    assert (again.path, again.branch, again.how, again.furnished) == (
        first.path, first.branch, "there", None,
    )  # fmt: skip
    assert (first.path / "half.txt").read_text() == "half-way\n"
    assert again.claimed.lock == first.claimed.lock


@pytest.mark.slow
def test_the_best_one_is_chosen(road: Road) -> None:
    road.issue("Urgent", priority="critical")
    assert road.start("worker-1", None).claimed.issue.title == "Urgent"


@pytest.mark.slow
def test_an_issue_of_another_is_refused_and_nothing_is_made(road: Road, place: Path) -> None:
    road.start("worker-1")
    with pytest.raises(RefusedError, match="#1 is claimed by worker-1"):
        road.start("worker-2")
    assert [path.name for path in place.iterdir()] == ["1-parse-files"]


@pytest.mark.slow
def test_what_a_dead_agent_left_is_gone_on_with(road: Road) -> None:
    first = road.start("worker-1")
    oid = commit(first.path, {"a.txt": "half\n"})
    (first.path / "b.txt").write_text("uncommitted\n")
    road.silence("worker-1")
    second = road.start("worker-2")
    assert (second.path, second.branch, second.how) == (first.path, first.branch, "there")
    assert git(second.path, "rev-parse", "HEAD") == oid
    assert (second.path / "b.txt").read_text() == "uncommitted\n"
    assert Road(second.path).house("").ws.agent() == "worker-2"


@pytest.mark.slow
def test_what_an_agent_of_another_clone_pushed_is_gone_on_with(road: Road) -> None:
    first = road.start("worker-1")
    oid = commit(first.path, {"a.txt": "half\n"})
    git(first.path, "push", "--quiet", "origin", "HEAD")
    road.sync()
    folder = road.folder.with_name("clone-2")
    other = Road(folder, road.clock)
    other.sync()
    house = other.house("@me")
    lease = house.locks.read("issue/1")
    assert lease is not None
    house.locks.release("issue/1", expected=lease)
    house.tracker.change(1, IssueChange(remove_assignees=("worker-1",)), house.ws.actor())
    second = other.start("worker-2")
    assert (second.branch, second.how) == (first.branch, "continued")
    assert second.path.name == "1-parse-files-2"  # the first clone has the other name
    assert git(second.path, "rev-parse", "HEAD") == oid


@pytest.mark.slow
def test_a_worktree_whose_folder_was_removed_is_made_again_from_its_branch(road: Road) -> None:
    first = road.start("worker-1")
    oid = commit(first.path, {"a.txt": "half\n"})
    shutil.rmtree(first.path)
    again = road.start("worker-1")
    assert (again.path, again.how) == (first.path, "continued")
    assert git(again.path, "rev-parse", "HEAD") == oid


@pytest.mark.slow
def test_a_worktree_that_a_killed_git_left_half_made_is_made_anew(road: Road) -> None:
    first = road.start("worker-1")
    # As git leaves it: locked with this word, nothing checked out, and our mark that it is ours.
    (road.folder / ".git/worktrees/1-parse-files/locked").write_text("initializing")
    start_place.pending(road.house("worker-1").ws, first.path).write_text("")
    (first.path / "README.md").unlink()
    again = road.start("worker-1")
    assert (again.path, again.how) == (first.path, "continued")
    assert (again.path / "README.md").exists()
    assert git(again.path, "status", "--porcelain") == ""


@pytest.mark.slow
def test_offline_it_goes_on_in_the_worktree_and_says_that_the_trunk_may_be_old(road: Road) -> None:
    first = road.start("worker-1")
    road.remote.rename(road.remote.with_suffix(".away"))
    place = start_place.place_worktree(road.house("worker-1"), "worker-1", first.claimed.issue)
    assert (place.path, place.how) == (first.path, "there")
    assert place.notes[0].startswith(
        "Using the last known state of the main branch, which may be outdated: Only "
    )


def test_without_a_remote_it_starts_at_the_trunk_here(repo: Path, home: Path) -> None:
    road = Road(repo)
    road.issue("Été: größer!")
    started = road.start("worker-1")
    assert started.path == home / ".ghp/worktrees/repo/1-t-gr-er"
    assert git(started.path, "rev-parse", "HEAD") == road.tip


@pytest.mark.slow
def test_the_configuration_says_where_and_under_which_name(road: Road) -> None:
    road.configure(worktreePath="../trees", branchPattern="{user}/{number}-{title}")
    started = road.start("worker-1")
    assert started.path == road.folder.parent / "trees/remote/1-parse-files"
    assert started.branch == "worker-1/1-parse-files"


@pytest.mark.slow
def test_a_name_that_is_taken_gets_a_number(road: Road, place: Path) -> None:
    (place / "1-parse-files").mkdir(parents=True)
    (place / "1-parse-files/mine.txt").write_text("mine\n")
    started = road.start("worker-1")
    assert started.path == place / "1-parse-files-2"
    assert (place / "1-parse-files/mine.txt").read_text() == "mine\n"


@pytest.mark.slow
def test_a_branch_of_a_person_with_the_number_is_left_alone(road: Road) -> None:
    git(road.folder, "branch", "ann/1-parse-files")
    assert road.start("worker-1").branch == "agent/worker-1/1-parse-files"


@pytest.mark.slow
def test_many_agents_that_start_at_one_moment_have_a_worktree_each(road: Road) -> None:
    for number in range(2, 7):
        road.issue(f"Issue {number}")
    with ThreadPoolExecutor(6) as pool:
        started = list(pool.map(lambda n: road.start(f"worker-{n}", n), range(1, 7)))
    assert len({one.path for one in started}) == 6
    assert {one.how for one in started} == {"new"}
    assert all(git(one.path, "status", "--porcelain") == "" for one in started)


@pytest.mark.slow
def test_one_agent_that_starts_twice_at_one_moment_has_one_worktree(road: Road) -> None:
    road.merger("worker-1")  # it is registered
    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(lambda _: road.start("worker-1"), range(4)))
    assert len({one.path for one in started}) == 1
    assert sorted(one.how for one in started) == ["new", "there", "there", "there"]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "This repository has no commits yet."),
        ({"trunk": "main"}, "main has no commits yet."),
    ],
)
def test_where_no_work_can_begin_nothing_is_claimed(
    repo: Path, settings: dict[str, str], why: str
) -> None:
    road = Road(repo)
    road.issue()
    mine({"agents": settings})
    git(repo, "update-ref", "-d", "refs/heads/main")
    with pytest.raises(RefusedError) as refused:
        road.start("worker-1")
    assert str(refused.value) == why
    assert refused.value.hint.startswith("Make the first commit")
    assert road.house("@me").locks.list("issue/") == []
