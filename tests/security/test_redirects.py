"""A repository's configuration does not choose whose word counts, nor where a token goes."""

import contextlib
import json
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.github.api import access
from ghp_agents.github.api.access import Access
from ghp_agents.workspace import open_workspace
from tests.support.ghp import invoke
from tests.support.git import commit, git

SECRET = "ghp_" + "a" * 36
ENVIRON = {"GITHUB_TOKEN": SECRET, "GH_ENTERPRISE_TOKEN": SECRET, "PATH": "/usr/bin:/bin"}


def found(repo: Path, home: Path) -> Access | None:
    return access.find(open_workspace(repo, {**ENVIRON, "HOME": str(home)}))


def put(repo: Path, github: dict[str, str]) -> None:
    """On the trunk; a person even agreed to it."""
    commit(repo, {".ghp/config.json": json.dumps({"agents": {"github": github}})}, "Configure")
    invoke("agent-trust --yes", repo)


@pytest.mark.parametrize("name", ["mallory/product", "mallory/widgets", "acme/widget"])
def test_another_repository_than_the_remotes_gives_no_orders(
    repo: Path, home: Path, name: str
) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    put(repo, {"repository": name})
    one = found(repo, home)
    assert one is not None
    assert one.repository == "acme/widgets"


def test_a_branch_that_is_checked_out_does_neither(repo: Path, home: Path) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    git(repo, "checkout", "--quiet", "-b", "pr-77")
    put(repo, {"repository": "mallory/product", "host": "evil.example"})
    one = found(repo, home)
    assert one is not None
    assert (one.host, one.repository) == ("github.com", "acme/widgets")


def test_the_person_names_another_repository_in_their_own_file(repo: Path, home: Path) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    own = home / ".config/ghp-cli/config.json"
    own.parent.mkdir(parents=True)
    own.write_text('{"agents": {"github": {"repository": "acme/tasks"}}}')
    one = found(repo, home)
    assert one is not None
    assert one.repository == "acme/tasks"


def test_a_repository_that_the_remote_names_by_another_host_may_be_said(
    repo: Path, home: Path
) -> None:
    git(repo, "remote", "add", "origin", "git@github-of-work:acme/widgets.git")
    put(repo, {"repository": "acme/widgets"})
    one = found(repo, home)
    assert one is not None
    assert (one.host, one.repository) == ("github.com", "acme/widgets")


@pytest.mark.parametrize(
    "said",
    [
        {"host": "evil.example"},
        {"api": "https://evil.example/api/v3"},
        {"api": "https://api.github.com@evil.example"},
        {"api": "https://api.github.com.evil.example"},
        {"host": "github.com.evil.example"},
    ],
    ids=["a host", "an API", "a user in the address", "a look-alike API", "a look-alike host"],
)
def test_the_token_goes_nowhere_else(repo: Path, home: Path, said: dict[str, str]) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    put(repo, said)
    with contextlib.suppress(GhpError):
        one = found(repo, home)
        assert one is None or (one.host, one.api) == ("github.com", "https://api.github.com")
