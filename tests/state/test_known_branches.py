"""Branches as last fetched: the remote is not asked."""

import json
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.state import known_branches as branches
from tests.support.git import commit, git
from tests.support.hosts import workspace


def test_a_tip_is_that_of_the_last_fetch(clone: Path) -> None:
    fetched = git(clone, "rev-parse", "origin/main")
    commit(clone, {"a.txt": "one\n"})
    ws = workspace(clone)
    assert branches.known_tip(ws, "main") == fetched
    assert branches.main_commit(ws) == fetched
    assert branches.known_tip(ws, "missing") == ""


def test_without_a_remote_it_is_that_of_the_clone(repo: Path) -> None:
    tip = commit(repo, {"a.txt": "one\n"})
    ws = workspace(repo)
    assert branches.where(ws) is None
    assert branches.known_tip(ws, "main") == tip
    assert branches.main_commit(ws) == tip


def test_a_remote_that_nobody_agreed_to_is_not_used(clone: Path) -> None:
    git(clone, "remote", "add", "elsewhere", "https://example.invalid/repo.git")
    config = clone / ".ghp/config.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(json.dumps({"agents": {"remote": "elsewhere"}}))
    git(clone, "add", str(config))
    git(clone, "commit", "--quiet", "-m", "Another remote")
    git(clone, "push", "--quiet", "origin", "HEAD:main")
    with pytest.raises(RefusedError, match="elsewhere"):
        branches.where(workspace(clone))
