"""What git is asked about a repository, and what comes of its answer."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.git.discovery import find_with_git
from ghp_agents.hotpath.locate import Location, locate
from tests.support.git import git


def test_where_git_finds_nothing_there_is_nothing(tmp_path: Path) -> None:
    assert find_with_git(tmp_path, {}) is None
    (tmp_path / ".git").write_text("nonsense\n")
    assert find_with_git(tmp_path, {}) is None


def test_git_answers_as_we_would(repo: Path, remote: Path) -> None:
    (repo / "a").mkdir()
    assert find_with_git(repo / "a", {}) == locate(str(repo), {})
    assert find_with_git(remote / "refs", {}) == Location(None, str(remote), str(remote))
    linked = repo.parent / "linked"
    git(repo, "worktree", "add", "--quiet", "--detach", str(linked))
    assert find_with_git(linked, {}) == locate(str(linked), {})


def test_a_repository_that_a_variable_names_is_not_looked_for(repo: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environ = {"GIT_DIR": f"{repo}/.git", "GIT_WORK_TREE": str(repo)}
    expected = Location(str(repo), f"{repo}/.git", f"{repo}/.git")
    assert find_with_git(elsewhere, environ) == find_with_git(repo, environ) == expected
    assert find_with_git(elsewhere, {"GIT_DIR": f"{repo}/.git/nothing"}) is None


def test_a_moved_worktree_is_used_after_git_has_agreed(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    moved = (tmp_path / "linked").rename(tmp_path / "moved")
    (moved / "a").mkdir()
    assert locate(str(moved / "a"), {}) is None
    expected = Location(str(moved), f"{repo}/.git/worktrees/linked", f"{repo}/.git")
    assert find_with_git(moved / "a", {}) == expected


def test_what_git_refuses_is_an_error_with_its_reason_and_advice(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(RefusedError) as refused:
        find_with_git(repo, os.environ)
    assert str(refused.value) == (
        f"git does not use the repository at {repo}: detected dubious ownership in repository at "
        f"'{repo}'."
    )
    trust = f"git config --global --add safe.directory {repo}"
    assert refused.value.hint == f"If you trust everybody who can write there, run `{trust}`."
    git(repo, "config", "--global", "--add", "safe.directory", str(repo))
    assert find_with_git(repo, os.environ) == locate(str(repo), {})
