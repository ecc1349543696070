"""The last fetch of a branch is found without git."""

import os
from pathlib import Path

from ghp_agents.git.last_fetch import fetched_at
from tests.support.git import commit, git

DAY = 86_400.0


def age(clone: Path, seconds: float) -> None:
    """Make all that git wrote older."""
    for path in [*clone.joinpath(".git").rglob("FETCH_HEAD"), *clone.glob(".git/logs/refs/**/*")]:
        os.utime(path, (seconds, seconds))


def test_a_clone_and_each_fetch_of_the_branch_count(clone: Path) -> None:
    commons = clone / ".git"
    age(clone, DAY)
    assert fetched_at(commons, "origin", "main") == DAY
    git(clone, "fetch", "--quiet", "origin")
    assert (fetched_at(commons, "origin", "main") or 0) > DAY
    age(clone, 2 * DAY)
    git(clone, "branch", "dev")
    git(clone, "push", "--quiet", "origin", "dev")
    git(clone, "fetch", "--quiet", "origin", "dev")
    assert fetched_at(commons, "origin", "main") == 2 * DAY, "another branch"
    linked = clone.parent / "linked"
    git(clone, "worktree", "add", "--quiet", str(linked), "dev")
    git(linked, "fetch", "--quiet", "origin", "main")
    assert (fetched_at(commons, "origin", "main") or 0) > 2 * DAY


def test_a_push_of_the_branch_counts(clone: Path) -> None:
    age(clone, DAY)
    commit(clone, {"a": "1"})
    git(clone, "push", "--quiet", "origin", "HEAD:main")
    assert (fetched_at(clone / ".git", "origin", "main") or 0) > DAY


def test_without_any_trace_nothing_is_known(repo: Path) -> None:
    assert fetched_at(repo / ".git", "origin", "main") is None
