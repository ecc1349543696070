"""Which of the environment's tokens git may have."""

from pathlib import Path

import pytest

from ghp_agents.state import git_credentials as credentials
from ghp_agents.workspace import open_workspace
from tests.support.git import git

HUBS = {"GITHUB_TOKEN": "hub-1", "GH_TOKEN": "hub-2"}
OWNS = {"GH_ENTERPRISE_TOKEN": "own-1", "GITHUB_ENTERPRISE_TOKEN": "own-2"}
OWN = {"GH_HOST": "ghe.example.com"}
ACTIONS = {"GITHUB_SERVER_URL": "https://ghe.example.com"}


@pytest.mark.parametrize(
    ("address", "environ", "given"),
    [
        ("https://github.com/acme/widgets.git", {}, HUBS),
        ("https://x-access-token@GitHub.com/acme/widgets.git", {}, HUBS),
        ("https://octo.ghe.com/acme/widgets.git", {}, HUBS),
        ("https://ghe.example.com/acme/widgets.git", OWN, OWNS),
        ("https://ghe.example.com/acme/widgets.git", ACTIONS, {**HUBS, **OWNS}),
        ("https://ghe.example.com:8443/acme/widgets.git", OWN, {}),
        ("https://ghe.example.com/acme/widgets.git", {}, {}),
        ("https://github.com.evil.example/acme/widgets.git", OWN, {}),
        ("https://github.com@evil.example/acme/widgets.git", OWN, {}),
        ("https://evil-ghe.com/acme/widgets.git", OWN, {}),
        ("http://github.com/acme/widgets.git", {}, {}),
        ("git@github.com:acme/widgets.git", {}, {}),
        ("https://[github.com/acme/widgets.git", {}, {}),
        ("/srv/git/widgets.git", {}, {}),
    ],
)
def test_git_is_given_the_tokens_of_the_remotes_host_and_no_other(
    repo: Path, address: str, environ: dict[str, str], given: dict[str, str]
) -> None:
    git(repo, "remote", "add", "origin", address)
    git(repo, "remote", "add", "other", "https://github.com/acme/other.git")
    ws = open_workspace(repo, {**HUBS, **OWNS, **environ})
    assert credentials.for_remote(ws, "origin") == given


def test_the_address_is_the_one_that_git_talks_to(repo: Path) -> None:
    git(repo, "remote", "add", "origin", "hub:acme/widgets")
    git(repo, "config", "url.https://github.com/.insteadOf", "hub:")
    ws = open_workspace(repo, HUBS)
    assert credentials.for_remote(ws, "origin") == HUBS
    git(repo, "remote", "set-url", "--push", "origin", "https://evil.example/x.git")
    assert credentials.for_remote(ws, "origin") == {}


def test_git_is_asked_for_the_addresses_once(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets.git")
    ws = open_workspace(repo, HUBS)
    assert credentials.for_remote(ws, "origin") == HUBS
    monkeypatch.setenv("PATH", "/nowhere")
    assert credentials.for_remote(ws, "origin") == HUBS


def test_the_users_own_file_names_a_server_and_the_repositorys_does_not(
    repo: Path, home: Path
) -> None:
    git(repo, "remote", "add", "origin", "https://ghe.example.com/acme/widgets.git")
    ws = open_workspace(repo, {**OWNS, "HOME": str(home)})
    theirs, own = repo / ".ghp/config.json", home / ".config/ghp-cli/config.json"
    for file, given in ((theirs, {}), (own, OWNS)):
        file.parent.mkdir(parents=True)
        file.write_text('{"agents": {"github": {"host": "ghe.example.com"}}}')
        assert credentials.for_remote(ws, "origin") == given


def test_without_a_token_git_is_not_asked(repo: Path) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets.git")
    ws = open_workspace(repo, {"PATH": "/nowhere"})
    assert credentials.for_remote(ws, "origin") == {}
