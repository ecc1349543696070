"""A new worktree gets its submodules, without a network where the main worktree has them."""

import os
from pathlib import Path

import pytest

from ghp_agents.wiring import App
from ghp_agents.worktrees import submodules
from ghp_agents.worktrees.submodules import MissingSubmodule
from tests.support.git import commit, git
from tests.support.submodules import ALLOWED, add


def new_worktree(repo: Path) -> Path:
    place = repo.parent / "place"
    git(repo, "worktree", "add", "--quiet", "--detach", str(place))
    return place


def check_out(repo: Path, place: Path, *, exact: bool = False) -> tuple[MissingSubmodule, ...]:
    ws = App(repo, os.environ, name="@me").ws
    return submodules.check_out(ws, place, exact=exact)


@pytest.mark.slow
def test_they_come_from_the_main_worktree_with_those_inside_of_them(repo: Path) -> None:
    lib = add(repo)
    inner = add(lib, "deps/inner")
    copy = repo / "vendor/lib"
    git(copy, "pull", "--quiet")
    git(copy, *ALLOWED, "submodule", "--quiet", "update", "--init")
    commit(copy, {"own.c": "own\n"})  # on main of this copy only
    git(repo, "commit", "--quiet", "-am", "Use the new library")
    for remote in (lib, inner):
        remote.rename(remote.with_name(f"{remote.name}-away"))
    place = new_worktree(repo)
    assert check_out(repo, place) == ()
    for path in ("vendor/lib", "vendor/lib/deps/inner"):
        assert git(place / path, "rev-parse", "HEAD") == git(repo / path, "rev-parse", "HEAD")
    new = place / "vendor/lib"
    assert git(new, "config", "remote.origin.url") == str(lib)
    assert git(new, "rev-list", "--count", "HEAD", "--not", "--remotes") == "1"  # not sent
    assert git(place, "status", "--porcelain") == ""


@pytest.mark.slow
def test_what_is_not_here_is_fetched_by_the_rules_of_git_and_else_named(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lib = add(repo)
    git(repo, "submodule", "--quiet", "deinit", "--force", "vendor/lib")
    (repo / ".git/modules").rename(repo.parent / "modules")
    place = new_worktree(repo)
    ((path, missing),) = check_out(
        repo, place
    )  # a path is no address that git takes from a repository
    assert path == "vendor/lib"
    assert missing.startswith("Submodule vendor/lib is not checked out: `git submodule` failed:")
    assert "transport 'file' not allowed" in missing
    assert missing.endswith(
        f"not allowed. Later, in {place}: `git submodule update --init vendor/lib`."
    )
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.file.allow")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "always")
    assert check_out(repo, place) == ()
    inner = place / "vendor/lib"
    git(inner, "checkout", "--quiet", "--detach")
    own = commit(inner, {"lib.c": "own\n"})
    assert check_out(repo, place) == ()
    assert git(inner, "rev-parse", "HEAD") == own  # somebody's work
    assert check_out(repo, place, exact=True) == ()
    assert git(inner, "rev-parse", "HEAD") == git(lib, "rev-parse", "main")


def test_a_repository_may_do_without(repo: Path) -> None:
    add(repo)
    commit(repo, {".ghp/config.json": '{"agents": {"submodules": false}}'})
    place = new_worktree(repo)
    assert check_out(repo, place) == ()
    assert [*(place / "vendor/lib").iterdir()] == []
