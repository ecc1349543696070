"""Which remote coordinates the clones."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.state.coordination import CUSTOM, Remote, coordination_remote
from ghp_agents.workspace import Workspace
from tests.support.consent import mine
from tests.support.git import git
from tests.support.hosts import workspace


def test_a_repository_without_remotes_has_none(repo: Path) -> None:
    assert coordination_remote(workspace(repo)) is None


def test_the_only_remote_is_it_whatever_its_name(repo: Path, remote: Path) -> None:
    git(repo, "remote", "add", "team.hub/one", str(remote))
    assert coordination_remote(workspace(repo)) == Remote("team.hub/one", CUSTOM)


def test_of_two_remotes_origin_is_it(repo: Path, remote: Path) -> None:
    git(repo, "remote", "add", "fork", "/nowhere")
    git(repo, "remote", "add", "origin", str(remote))
    coordination = coordination_remote(workspace(repo))
    assert coordination is not None
    assert coordination.name == "origin"


def test_the_remote_is_the_same_in_all_worktrees(repo: Path) -> None:
    git(repo, "remote", "add", "origin", "/of/the/clone")
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "config", "--worktree", "remote.origin.url", "/of/this/worktree")
    assert workspace(repo).remotes == {"origin": "/of/the/clone"}


def test_of_two_remotes_neither_of_them_origin_none_is_chosen(repo: Path) -> None:
    git(repo, "remote", "add", "one", "/nowhere")
    git(repo, "remote", "add", "two", "/nowhere")
    assert coordination_remote(workspace(repo)) is None


def configured(folder: Path, **settings: object) -> Workspace:
    """The workspace of a repository with settings."""
    mine({"agents": settings})
    return workspace(folder)


def test_the_configured_remote_is_it(repo: Path, remote: Path) -> None:
    git(repo, "remote", "add", "origin", "/nowhere")
    git(repo, "remote", "add", "fork", str(remote))
    coordination = coordination_remote(configured(repo, remote="fork"))
    assert coordination == Remote("fork", CUSTOM)


def test_a_configured_remote_that_is_not_there_is_an_error(clone: Path) -> None:
    with pytest.raises(GhpError) as caught:
        coordination_remote(configured(clone, remote="fork"))
    assert (str(caught.value), caught.value.hint) == (
        "The configured remote 'fork' does not exist in this repository.",
        "Remotes: origin. Fix `agents.remote` in the configuration, or add the remote with "
        "`git remote add`.",
    )


def test_what_stays_at_home_has_no_remote(clone: Path) -> None:
    assert coordination_remote(configured(clone, push=False)) is None
