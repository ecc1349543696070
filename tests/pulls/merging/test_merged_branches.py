"""Branches and worktrees of merged pull requests go together, unless one is in use."""

from pathlib import Path

import pytest

from ghp_agents.claims.effects import myself
from ghp_agents.pulls.merging import merged_branches
from ghp_agents.pulls.pull import Pull
from tests.support.git import commit, git, run_git
from tests.support.road import Road


@pytest.fixture(params=["alone", pytest.param("remote", marks=pytest.mark.slow)])
def road(request: pytest.FixtureRequest) -> Road:
    return Road(request.getfixturevalue("repo" if request.param == "alone" else "clone"))


def merged(road: Road, number: int) -> Pull:
    """A branch that main contains, in a worktree of its own."""
    name = f"agent/{number}"
    place = road.folder.parent / f"place-{number}"
    git(road.folder, "worktree", "add", "--quiet", "-b", name, str(place), "main")
    head = commit(place, {f"{number}.txt": "new\n"}, "Work")
    git(road.folder, "merge", "--quiet", "--no-ff", name)
    if git(road.folder, "remote"):
        git(road.folder, "push", "--quiet", "origin", "main", name)
    return Pull(number, name, "main", head, "Title", state="merged", merged_as=road.tip)


def remove(road: Road, *pulls: Pull) -> dict[int, list[str]]:
    return merged_branches.remove(myself(road.house("lead")), pulls, road.folder)


def branches(road: Road) -> list[str]:
    """The branches that are left, here and on the remote."""
    return [name for name in git(road.folder, "for-each-ref", "--format=%(refname)").split()
            if "agent/" in name]  # fmt: skip


@pytest.mark.slow
def test_several_go_with_their_worktrees_here_and_on_the_remote(road: Road) -> None:
    pulls = [merged(road, number) for number in (1, 2, 3)]
    assert remove(road, *pulls) == {1: [], 2: [], 3: []}
    assert branches(road) == []
    assert len(git(road.folder, "worktree", "list").splitlines()) == 1
    if git(road.folder, "remote"):
        assert git(road.folder, "ls-remote", "origin", "refs/heads/agent/*") == ""


@pytest.mark.slow
def test_one_that_is_kept_keeps_no_other(road: Road) -> None:
    one, two = merged(road, 1), merged(road, 2)
    place = road.folder.parent / "place-1"
    (place / "new.txt").write_text("not committed\n")
    assert remove(road, one, two) == {
        1: [f"Kept the worktree {place}: new.txt is not committed there."],
        2: [],
    }
    assert place.is_dir()
    assert "refs/heads/agent/1" in branches(road)
    assert "refs/heads/agent/2" not in branches(road)


@pytest.mark.slow
def test_a_branch_with_more_work_stays_with_its_worktree(road: Road) -> None:
    one, two = merged(road, 1), merged(road, 2)
    place = road.folder.parent / "place-1"
    commit(place, {"more.txt": "more\n"}, "More")
    assert remove(road, one, two)[1] == [
        f"Kept the worktree {place}: it has commits that are not merged."
    ]
    assert "refs/heads/agent/1" in branches(road)


def test_what_git_ignores_is_kept_and_named(repo: Path) -> None:
    road = Road(repo)
    pull = merged(road, 1)
    place = repo.parent / "place-1"
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/exclude").write_text("notes/\n")
    (place / "notes").mkdir()
    (place / "notes/plan.md").write_text("hours of work\n")
    ((note,),) = remove(road, pull).values()
    (kept,) = Path.home().glob(".ghp/worktrees/*/.kept/place-1.*")
    assert note == f"Only the worktree {place} had notes: kept for 30 days in {kept}."
    assert (kept / "notes/plan.md").read_text() == "hours of work\n"


def test_a_branch_whose_rebase_is_in_progress_stays_with_its_worktree(repo: Path) -> None:
    road = Road(repo)
    pull = merged(road, 1)
    place = repo.parent / "place-1"
    assert run_git(place, "rebase", "--quiet", "--exec", "false", "HEAD~1").returncode == 1
    assert remove(road, pull) == {1: [f"Kept the worktree {place}: a rebase is in progress there."]}
    assert "refs/heads/agent/1" in branches(road)
