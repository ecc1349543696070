"""A repository that a box has left in its worktree makes git outside run nothing."""

from pathlib import Path

import pytest

from ghp_agents.runs.boxes import nested_repos
from tests.support.git import git


def nested(top: Path, name: str, marker: Path) -> Path:
    """A repository in a worktree, in its index, with a filter that makes a file."""
    inner = top / name
    git(top, "init", "-q", str(inner))
    (inner / ".gitattributes").write_text("* filter=x\n")
    (inner / "file").write_text("1\n")
    git(inner, "add", ".")
    git(inner, "commit", "-q", "-m", "One")
    git(inner, "config", "filter.x.clean", f"touch '{marker}'; cat")
    git(top, "add", name)
    (inner / "file").write_text("2\n")
    return inner


@pytest.fixture
def tree(repo: Path) -> Path:
    git(repo, "worktree", "add", "-q", "-b", "agent/a/1", str(repo.parent / "tree"))
    return repo.parent / "tree"


def test_git_outside_runs_no_filter_of_a_repository_in_the_worktree(repo: Path, tree: Path) -> None:
    marker = repo.parent / "ran"
    inner = nested(tree, "sub", marker)
    git(tree, "status", "--short")
    assert marker.exists(), "git would run it"
    marker.unlink()
    (inner / "file").write_text("3\n")
    safe = [repo / ".git/modules"]
    assert len([*nested_repos.set_aside(tree, safe)]) == 1
    git(tree, "status", "--short")
    assert not marker.exists()
    assert git(inner / nested_repos.ASIDE, "log", "--format=%s") == "One", "its work is there"
    assert [*nested_repos.set_aside(tree, safe)] == []


def test_a_link_is_followed_only_to_where_no_box_writes(repo: Path, tree: Path) -> None:
    inner, modules = nested(tree, "sub", repo.parent / "ran"), repo / ".git/modules"
    modules.mkdir()
    (inner / ".git").rename(modules / "sub")
    (inner / ".git").write_text(f"gitdir: {modules / 'sub'}\n")
    deep = nested(inner, "deep", repo.parent / "ran")
    assert len([*nested_repos.set_aside(tree, [modules])]) == 1
    assert (inner / ".git").is_file()
    assert not (deep / ".git").exists()
    (deep / nested_repos.ASIDE).rename(repo.parent / "elsewhere")
    (inner / ".git").write_text(f"gitdir: {modules}/../../../elsewhere\n")
    assert len([*nested_repos.set_aside(tree, [modules])]) == 1
    (inner / ".git").symlink_to(repo.parent / "elsewhere")
    assert len([*nested_repos.set_aside(tree, [modules])]) == 1
    assert not (inner / ".git").is_symlink()


def test_a_folder_that_leads_out_of_the_worktree_is_left_alone(repo: Path, tree: Path) -> None:
    inner = nested(tree, "sub", repo.parent / "ran")
    inner.rename(repo.parent / "mine")
    inner.symlink_to(repo.parent / "mine")
    assert [*nested_repos.set_aside(tree, [])] == []
    assert (repo.parent / "mine/.git").is_dir()
