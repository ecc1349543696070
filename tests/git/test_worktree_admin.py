"""Worktrees and branches of a clone: looked at, made, brought forward, taken away."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.git import worktree_admin as checkouts
from ghp_agents.git.process import GitError
from ghp_agents.git.worktree_admin import Checkout
from tests.support.git import commit, git
from tests.support.road import everything

MakeWorktree = Callable[[Path, str], Path]


def test_all_worktrees_are_listed_the_main_one_first(repo: Path, worktree: MakeWorktree) -> None:
    place = worktree(repo, "one")
    head = git(repo, "rev-parse", "HEAD")
    git(place, "switch", "--quiet", "--detach")
    assert checkouts.listed(place) == [
        Checkout(repo, "main", head, is_main=True), Checkout(place, None, head),
    ]  # fmt: skip


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_branch_in_a_rebase_or_bisect_is_in_use_there(
    repo: Path, worktree: MakeWorktree, is_plain: bool
) -> None:
    place = worktree(repo, "one")
    git_dir = repo / f".git/worktrees/{place.name}"
    head = git(repo, "rev-parse", "HEAD")
    if not is_plain:
        git(repo, "config", "include.path", "none")  # then git is asked
    git(place, "switch", "--quiet", "--detach")
    (git_dir / "BISECT_START").write_text(f"{head}\n")
    assert checkouts.of_branch(repo, "agent/one") is None
    (git_dir / "BISECT_START").write_text("agent/one\n")
    assert checkouts.of_branch(repo, "agent/one") == Checkout(
        place, "agent/one", head, operation="a bisect"
    )
    (git_dir / "rebase-merge").mkdir()
    (git_dir / "rebase-merge/head-name").write_text("refs/heads/agent/one\n")
    found = checkouts.of_branch(repo, "agent/one")
    assert found
    assert found.operation == "a rebase"
    assert not checkouts.delete_branch(repo, "agent/one", head)
    other = git(repo, "commit-tree", "-p", head, "-m", "more", f"{head}^{{tree}}")
    why = checkouts.forward(repo, "agent/one", head, other)
    assert why == f"a rebase of agent/one is in progress in {place}"


def test_a_new_one_begins_where_it_should_and_configures_nothing(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    commit(repo, {"a.txt": "one\n"})
    config = (repo / ".git/config").read_text()
    place = repo.parent / "deep/er/place"
    checkouts.add(repo, place, "agent/one", first)
    assert git(place, "rev-parse", "HEAD", "--abbrev-ref", "HEAD").split() == [first, "agent/one"]
    assert (repo / ".git/config").read_text() == config
    with pytest.raises(GitError, match="already checked out"):
        checkouts.add(repo, repo.parent / "other", "agent/one")


def test_what_git_was_killed_over_is_known_and_cleared(repo: Path, worktree: MakeWorktree) -> None:
    place = worktree(repo, "one")
    (repo / f".git/worktrees/{place.name}/locked").write_text("initializing")
    (half_made,) = [checkout for checkout in checkouts.listed(repo) if checkout.half_made]
    assert half_made.path == place
    checkouts.clear(repo, place)
    assert place.exists()  # locked: only where that is meant
    checkouts.clear(repo, place, locked=True)
    assert not place.exists()
    assert len(checkouts.listed(repo)) == 1


def test_a_branch_goes_only_if_it_is_where_it_was_and_nobody_is_on_it(
    repo: Path, worktree: MakeWorktree
) -> None:
    head = git(repo, "rev-parse", "HEAD")
    worktree(repo, "one")
    git(repo, "branch", "free")
    assert not checkouts.delete_branch(repo, "agent/one", head)
    assert not checkouts.delete_branch(repo, "free", "1" * 40)
    assert checkouts.delete_branch(repo, "free", head)
    assert set(checkouts.branches(repo)) == {"main", "agent/one"}


@pytest.fixture
def ahead(repo: Path) -> tuple[str, str]:
    """Where main is, and a commit that goes on from there."""
    here = git(repo, "rev-parse", "main")
    git(repo, "switch", "--quiet", "-c", "work")
    oid = commit(repo, {"README.md": "new\n", "a.txt": "one\n"})
    git(repo, "switch", "--quiet", "main")
    return here, oid


def test_a_branch_comes_forward_with_its_worktree(repo: Path, ahead: tuple[str, str]) -> None:
    (repo / "mine.txt").write_text("mine\n")
    assert checkouts.forward(repo, "main", *ahead) == ""
    assert git(repo, "rev-parse", "HEAD") == ahead[1]
    assert (repo / "a.txt").read_text() == "one\n"
    assert git(repo, "status", "--porcelain") == "?? mine.txt"
    assert checkouts.forward(repo, "main", *ahead) == ""  # it is there


def test_nobodys_work_is_overwritten(repo: Path, ahead: tuple[str, str]) -> None:
    (repo / "README.md").write_text("half-way\n")
    before = everything(repo)
    assert checkouts.forward(repo, "main", *ahead) == (
        f"main is checked out in {repo}, where these differ: README.md"
    )
    assert everything(repo) == before


def test_a_file_that_git_does_not_know_is_not_overwritten(
    repo: Path, ahead: tuple[str, str]
) -> None:
    (repo / "a.txt").write_text("mine\n")
    assert "where these differ: a.txt" in checkouts.forward(repo, "main", *ahead)
    assert (repo / "a.txt").read_text() == "mine\n"


@pytest.mark.parametrize("checked_out", [True, False])
def test_a_branch_that_moved_is_left(repo: Path, ahead: tuple[str, str], checked_out: bool) -> None:
    moved = commit(repo, {"b.txt": "two\n"})
    if not checked_out:
        git(repo, "switch", "--quiet", "work")
    assert checkouts.forward(repo, "main", *ahead) == "main has moved"
    assert git(repo, "rev-parse", "main") == moved


def test_in_the_middle_of_a_merge_it_stays(repo: Path, ahead: tuple[str, str]) -> None:
    git(repo, "switch", "--quiet", "-c", "other", "main")
    commit(repo, {"README.md": "other\n"})
    git(repo, "switch", "--quiet", "main")
    (repo / ".git/MERGE_HEAD").write_text(f"{ahead[1]}\n")
    why = checkouts.forward(repo, "main", *ahead)
    assert why.startswith(f"main is checked out in {repo} and was not updated there (")
    assert git(repo, "rev-parse", "main") == ahead[0]


def test_branches_of_a_remote_are_known_without_asking(clone: Path) -> None:
    head = git(clone, "rev-parse", "HEAD")
    assert checkouts.remote_branches(clone, "origin") == {"main": head}
    assert checkouts.tip(clone, "refs/heads/nothing") == ""
