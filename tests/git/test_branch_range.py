"""The commits that a branch adds, and what they change."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.git.branch_range import Lines, between
from tests.support.git import commit, git


def test_whoever_asks_for_the_same_commits_gets_the_same_object(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    head = commit(repo, {"a": "1\n2\n"}, "One")
    assert between(repo, base, head) is between(repo, base, head)
    assert between(repo, base, "HEAD") is not between(repo, base, "HEAD")  # it moves


def test_a_branch_has_its_changes_messages_and_lines(repo: Path) -> None:
    base = commit(repo, {"kept": "1\n", "gone": "1\n"})
    git(repo, "rm", "--quiet", "gone")
    commit(repo, {"new": "1\n2\n"}, "One\n\nWhy")
    head = commit(repo, {"kept": "2\n"}, "Two")
    added = between(repo, base, head)
    assert added.forks == (base,)
    assert [(x.path, x.kind) for x in added.changes] == [
        ("gone", "D"), ("kept", "M"), ("new", "A")
    ]  # fmt: skip
    assert [text.strip() for _, text in added.messages] == ["Two", "One\n\nWhy"]
    assert added.count_lines() == (Lines("gone", 0, 1), Lines("kept", 1, 1), Lines("new", 2, 0))


def test_what_the_base_got_meanwhile_is_no_change_of_the_branch(repo: Path) -> None:
    fork = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "--quiet", "-b", "work")
    head = commit(repo, {"mine": "1\n"})
    git(repo, "checkout", "--quiet", "main")
    base = commit(repo, {"theirs": "1\n"})
    added = between(repo, base, head)
    assert (added.forks, added.paths) == ((fork,), ["mine"])


def test_histories_without_a_common_commit_are_refused(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "--quiet", "--orphan", "other")
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "Other")
    added = between(repo, base, git(repo, "rev-parse", "HEAD"))
    assert added.forks == ()
    with pytest.raises(RefusedError, match="no common commit"):
        _ = added.changes
