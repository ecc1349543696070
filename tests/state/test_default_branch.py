"""The trunk is found as a person would find it."""

from pathlib import Path

import pytest

from ghp_agents.state.default_branch import remote_name, trunk, trunk_refs
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.consent import mine
from tests.support.git import git


def at(folder: Path) -> Workspace:
    return open_workspace(folder, {"HOME": str(folder.parent)}, ManualClock())


def test_main_is_the_trunk_of_a_repository_without_a_remote(repo: Path) -> None:
    assert trunk(at(repo)) == "main"
    assert trunk_refs(at(repo)) == []
    git(repo, "checkout", "--quiet", "-b", "work")
    assert trunk_refs(at(repo)) == ["refs/heads/main"]


def test_the_remote_says_what_its_trunk_is(clone: Path) -> None:
    git(clone, "push", "--quiet", "origin", "HEAD:develop")
    git(clone, "remote", "set-head", "origin", "develop")
    assert trunk(at(clone)) == "develop"
    assert trunk_refs(at(clone)) == ["refs/remotes/origin/develop"]


def test_the_configuration_wins(clone: Path) -> None:
    mine({"agents": {"trunk": "stable"}}, clone.parent)
    assert trunk(at(clone)) == "stable"
    assert trunk_refs(at(clone)) == []


@pytest.mark.parametrize("name", ["main", "master"])
def test_a_remote_without_a_word_is_guessed_from(clone: Path, name: str) -> None:
    git(clone, "remote", "set-head", "origin", "--delete")
    git(clone, "branch", "--move", "main", name)
    git(clone, "push", "--quiet", "origin", name)
    if name == "master":
        git(clone, "update-ref", "-d", "refs/remotes/origin/main")
    assert trunk(at(clone)) == name
    assert trunk_refs(at(clone)) == [f"refs/remotes/origin/{name}"]


def test_nothing_of_the_kind_is_no_trunk(repo: Path, tmp_path: Path) -> None:
    git(repo, "branch", "--move", "main", "work")
    git(repo, "branch", "other")
    assert trunk(at(repo)) is None
    assert trunk_refs(at(repo)) == []
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    assert trunk(at(tmp_path / "bare.git")) is None


def test_a_remote_that_is_not_called_origin_counts_if_it_is_the_only_one(clone: Path) -> None:
    git(clone, "remote", "rename", "origin", "upstream")
    assert remote_name(at(clone)) == "upstream"
    assert trunk(at(clone)) == "main"
    git(clone, "checkout", "--quiet", "-b", "work")
    assert trunk_refs(at(clone)) == ["refs/heads/main", "refs/remotes/upstream/main"]
