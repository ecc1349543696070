"""No pull request points to a commit of a submodule that nobody else can fetch."""

import os
import re
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.git.gitlinks import Submodule
from ghp_agents.pulls import submodule_pointers
from ghp_agents.wiring import App
from tests.support.git import commit, git
from tests.support.submodules import add


def refuse(repo: Path) -> None:
    ws = App(repo, os.environ, name="@me").ws
    submodule_pointers.refuse(ws, git(repo, "rev-parse", "main"), git(repo, "rev-parse", "HEAD"))


@pytest.mark.slow
def test_a_commit_that_only_this_clone_has_is_refused_with_the_push_that_is_missing(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote, inner = add(repo), repo / "vendor/lib"
    git(repo, "switch", "--quiet", "--create", "work")
    refuse(repo)
    oid = commit(inner, {"lib.c": "more\n"})
    git(repo, "commit", "--quiet", "-am", "Use it")
    with pytest.raises(UnknownError, match="transport 'file' not allowed"):
        refuse(repo)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.file.allow")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "always")
    with pytest.raises(RefusedError) as refused:
        refuse(repo)
    assert str(refused.value) == (
        f"The commit {oid[:12]} of the submodule vendor/lib is not on its remote: nobody else "
        "could check it out."
    )
    assert "`git -C vendor/lib push origin HEAD:NAME`" in refused.value.hint
    remote.rename(remote.with_name("away"))
    with pytest.raises(UnknownError, match="Cannot tell whether the remote of the submodule"):
        refuse(repo)
    remote.with_name("away").rename(remote)
    git(inner, "push", "--quiet", "origin", "HEAD:fix")
    git(inner, "update-ref", "-d", "refs/remotes/origin/fix")
    refuse(repo)  # the remote was asked


def test_an_address_that_runs_a_program_is_not_used(repo: Path) -> None:
    add(repo)
    git(repo, "switch", "--quiet", "--create", "work")
    oid = git(repo, "commit-tree", "-m", "x", git(repo, "rev-parse", "HEAD^{tree}"))
    git(repo, "config", "--unset", "submodule.vendor/lib.url")
    mark = repo.parent / "ran"
    modules = (repo / ".gitmodules").read_text()
    text = re.sub(r"url = .*", f'url = "ext::sh -c touch% {mark}"', modules)
    (repo / ".gitmodules").write_text(text)
    git(repo, "add", ".gitmodules")
    git(repo, "update-index", "--cacheinfo", f"160000,{oid},vendor/lib")
    git(repo, "commit", "--quiet", "-m", "Use it")
    with pytest.raises(UnknownError, match="transport 'ext' not allowed"):
        refuse(repo)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("https://host/acme/app.git", "https://host/acme/lib.git"),
        ("git@host:acme/app.git", "git@host:acme/lib.git"),
        ("/srv/acme/app.git", "/srv/acme/lib.git"),
    ],
)
def test_a_relative_address_counts_from_the_remote(repo: Path, remote: str, expected: str) -> None:
    git(repo, "remote", "add", "origin", remote)
    ws = App(repo, os.environ, name="@me").ws
    submodule = Submodule("lib", "lib", "../lib.git", "")
    assert submodule_pointers.address(ws, submodule) == expected
