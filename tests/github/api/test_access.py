"""Who has access: the repository and server by remote and configuration, and what is missing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import ExitCode, NotSetUpError
from ghp_agents.github.api import access
from tests.support import consent
from tests.support.consent import mine
from tests.support.git import git
from tests.support.hubs import SECRET, workspace

TOKEN = {"GITHUB_TOKEN": SECRET}


def configured(repo: Path, **fields: Any) -> None:
    (repo / ".ghp").mkdir(exist_ok=True)
    (repo / ".ghp/config.json").write_text(json.dumps({"agents": fields}))


def agreed(repo: Path, **fields: Any) -> None:
    """On the trunk, and a person agreed to it."""
    consent.configure(repo, {"agents": fields}, repo.parent)


def origin(repo: Path, address: str) -> None:
    git(repo, "remote", "add", "origin", address)


def found(repo: Path, **environ: str) -> tuple[str, str, str] | None:
    granted = access.find(workspace(repo, **environ))
    if granted is None:
        return None
    assert granted.token.reveal() == SECRET
    return granted.host, granted.repository, granted.api


@pytest.mark.parametrize(
    ("address", "environ", "host", "api"),
    [
        ("git@github.com:acme/widgets.git", TOKEN, "github.com", "https://api.github.com"),
        ("git@octo.ghe.com:acme/widgets", TOKEN, "octo.ghe.com", "https://api.octo.ghe.com"),
        (
            "https://ghe.example.com/acme/widgets",
            {"GH_ENTERPRISE_TOKEN": SECRET, "GH_HOST": "ghe.example.com"},
            "ghe.example.com",
            "https://ghe.example.com/api/v3",
        ),
        (
            "https://ghe.example.com/acme/widgets",
            {**TOKEN, "GITHUB_SERVER_URL": "https://ghe.example.com"},
            "ghe.example.com",
            "https://ghe.example.com/api/v3",
        ),
        (
            "https://github.com/acme/widgets",
            {**TOKEN, "GHP_GITHUB_API": "http://127.0.0.1:1/"},
            "github.com",
            "http://127.0.0.1:1",
        ),
    ],
)
def test_the_remote_says_the_server_and_the_repository(
    repo: Path, address: str, environ: dict[str, str], host: str, api: str
) -> None:
    origin(repo, address)
    assert found(repo, **environ) == (host, "acme/widgets", api)


@pytest.mark.parametrize(
    "address",
    ["https://gitlab.com/acme/widgets", "/tmp/remote.git", "git@ghe.example.com:acme/widgets"],
)
def test_another_hosts_remote_means_issues_in_the_state(repo: Path, address: str) -> None:
    origin(repo, address)
    assert found(repo, **TOKEN) is None


def test_without_a_remote_or_without_a_token_issues_are_in_the_state(repo: Path) -> None:
    assert found(repo, **TOKEN) is None
    origin(repo, "https://github.com/acme/widgets")
    assert found(repo) is None


def test_where_all_stays_in_the_clone_nobody_asks_github(repo: Path) -> None:
    origin(repo, "https://github.com/acme/widgets")
    configured(repo, push=False)
    assert found(repo, **TOKEN) is None
    configured(repo, push=False, tracker="github")
    assert found(repo, **TOKEN) == ("github.com", "acme/widgets", "https://api.github.com")


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("https://ghe.example.com:8443/acme/widgets", "ghe.example.com:8443"),
        ("https://ghe.example.com:8443/acme/widgets", "ghe.example.com"),
        ("ssh://git@ghe.example.com:2222/acme/widgets", "ghe.example.com:8443"),
    ],
)
def test_a_servers_port_is_kept(repo: Path, address: str, named: str) -> None:
    origin(repo, address)
    assert found(repo, GH_ENTERPRISE_TOKEN=SECRET, GH_HOST=named) == (
        "ghe.example.com:8443",
        "acme/widgets",
        "https://ghe.example.com:8443/api/v3",
    )


def test_a_configured_server_keeps_the_remotes_port(repo: Path) -> None:
    origin(repo, "https://ghe.example.com:8443/acme/widgets")
    mine({"agents": {"github": {"host": "ghe.example.com"}}}, repo.parent)
    assert found(repo, GH_ENTERPRISE_TOKEN=SECRET) == (
        "ghe.example.com:8443",
        "acme/widgets",
        "https://ghe.example.com:8443/api/v3",
    )


def test_a_port_that_the_person_did_not_name_gets_no_token(repo: Path) -> None:
    origin(repo, "https://ghe.example.com:9443/acme/widgets")
    assert found(repo, GH_ENTERPRISE_TOKEN=SECRET, GH_HOST="ghe.example.com:8443") is None


def test_a_token_whose_server_nobody_names_is_said_once(repo: Path) -> None:
    origin(repo, "https://ghe.example.com:8443/acme/widgets")
    lines: list[str] = []
    for _ in range(2):
        ws = workspace(repo, GITHUB_ENTERPRISE_TOKEN=SECRET)
        assert access.find(ws) is None
        access.warn_once(ws, lines.append)
    assert lines == [
        "Issues are kept in git, not on ghe.example.com:8443/acme/widgets: "
        "GITHUB_ENTERPRISE_TOKEN is set, but nothing names its server. If ghe.example.com:8443 is "
        "your GitHub server, set GH_HOST to ghe.example.com:8443. If not, set "
        '`"tracker": "local"` under `agents` in .ghp/config.json.'
    ]


@pytest.mark.parametrize(
    ("address", "environ"),
    [
        ("https://ghe.example.com/acme/widgets", TOKEN),
        ("https://ghe.example.com/acme/widgets", {}),
        ("https://gitlab.com/acme/widgets", {"GH_ENTERPRISE_TOKEN": SECRET}),
        ("/srv/widgets.git", {"GH_ENTERPRISE_TOKEN": SECRET}),
        ("https://github.com/acme/widgets", {"GH_ENTERPRISE_TOKEN": SECRET}),
        (
            "https://ghe.example.com/acme/widgets",
            {"GH_ENTERPRISE_TOKEN": SECRET, "GH_HOST": "ghe.example.com"},
        ),
    ],
)
def test_without_doubt_about_the_server_nothing_is_said(
    repo: Path, address: str, environ: dict[str, str]
) -> None:
    origin(repo, address)
    assert access.unnamed(workspace(repo, **environ)) is None


def test_local_is_local(repo: Path) -> None:
    origin(repo, "https://github.com/acme/widgets")
    configured(repo, tracker="local")
    assert found(repo, **TOKEN) is None


def test_the_persons_file_names_the_repository_where_the_remote_does_not(repo: Path) -> None:
    origin(repo, "/srv/git/widgets.git")
    mine({"agents": {"github": {"repository": "acme/tasks"}}}, repo.parent)
    assert found(repo, **TOKEN) == ("github.com", "acme/tasks", "https://api.github.com")


def test_the_persons_file_wins_over_the_remotes_repository(repo: Path) -> None:
    origin(repo, "https://github.com/acme/widgets")
    mine({"agents": {"github": {"repository": "acme/tasks"}}}, repo.parent)
    assert found(repo, **TOKEN) == ("github.com", "acme/tasks", "https://api.github.com")


def test_a_configured_server_gets_its_token_once_the_person_names_it_too(repo: Path) -> None:
    origin(repo, "git@ghe.example.com:acme/widgets")
    agreed(repo, github={"host": "GHE.example.com", "api": "https://api.ghe.example.com/x/"})
    assert found(repo, GH_ENTERPRISE_TOKEN=SECRET) is None
    mine({"agents": {"github": {"host": "GHE.example.com"}}}, repo.parent)
    assert found(repo, GH_ENTERPRISE_TOKEN=SECRET) == (
        "ghe.example.com",
        "acme/widgets",
        "https://api.ghe.example.com/x",
    )


# A configuration file comes with the repository: it may be an attacker's.


def test_a_server_that_only_the_configuration_names_gets_no_token(repo: Path) -> None:
    origin(repo, "https://github.com/acme/widgets")
    agreed(repo, github={"host": "evil.example", "repository": "a/b"})
    environ = {**TOKEN, "GH_TOKEN": SECRET, "GH_ENTERPRISE_TOKEN": SECRET}
    assert found(repo, **environ) is None
    assert found(repo, **environ, GH_HOST="evil.example") == (
        "evil.example",
        "acme/widgets",
        "https://evil.example/api/v3",
    )


@pytest.mark.parametrize(
    "api",
    [
        "https://evil.example/api/v3",
        "http://api.github.com",
        "https://github.com.evil.example",
        "https://api-github.com",
    ],
)
def test_an_api_that_is_not_the_servers_own_gets_no_token(repo: Path, api: str) -> None:
    origin(repo, "https://github.com/acme/widgets")
    agreed(repo, github={"api": api})
    with pytest.raises(NotSetUpError) as caught:
        access.find(workspace(repo, **TOKEN))
    assert str(caught.value) == (
        f"`agents.github.api` is {api!r}, which is not an https address of github.com; the token "
        "would be sent there."
    )
    assert "GHP_GITHUB_API" in caught.value.hint
    assert SECRET not in str(caught.value) + caught.value.hint


def test_github_is_wanted_and_there_is_no_repository(repo: Path) -> None:
    configured(repo, tracker="github")
    with pytest.raises(NotSetUpError) as caught:
        access.find(workspace(repo, **TOKEN))
    assert caught.value.exit_code is ExitCode.NOT_SET_UP
    assert (
        str(caught.value)
        == "The configuration puts issues on GitHub, but this repository has no remote there."
    )
    assert '"repository": "owner/name"' in caught.value.hint


def test_a_repository_that_only_the_committed_file_names_is_one_for_ones_own_file(
    repo: Path,
) -> None:
    agreed(repo, tracker="github", github={"repository": "acme/widgets"})
    with pytest.raises(NotSetUpError) as caught:
        access.find(workspace(repo, **TOKEN))
    assert str(caught.value) == (
        ".ghp/config.json names the repository 'acme/widgets', but no remote of this clone does, "
        "so it is not used."
    )
    assert caught.value.hint.startswith("If it is the right one, put it into your own file, ~/.co")


def test_a_server_is_wanted_that_only_the_repository_names(repo: Path) -> None:
    fields = {"host": "ghe.example.com", "repository": "acme/widgets"}
    origin(repo, "git@ghe.example.com:acme/widgets")
    agreed(repo, tracker="github", github=fields)
    with pytest.raises(NotSetUpError) as caught:
        access.find(workspace(repo, GH_ENTERPRISE_TOKEN=SECRET))
    assert str(caught.value) == (
        "The configuration puts issues on ghe.example.com, but only files of the repository name "
        "that server, so it gets no token."
    )
    assert caught.value.hint == (
        "If you trust it, set GH_HOST to ghe.example.com, or name it in your own "
        "~/.config/ghp-cli/config.json: `agents.github.host`."
    )


@pytest.mark.parametrize(
    ("host", "hint"),
    [
        (
            "github.com",
            "Run `gh auth login --hostname github.com`, or set GITHUB_TOKEN or GH_TOKEN in the "
            "environment.",
        ),
        (
            "ghe.example.com",
            "Run `gh auth login --hostname ghe.example.com`, or set GH_ENTERPRISE_TOKEN in the "
            "environment.",
        ),
    ],
)
def test_github_is_wanted_and_there_is_no_token(repo: Path, host: str, hint: str) -> None:
    fields = {"host": host, "repository": "acme/widgets"}
    mine({"agents": {"tracker": "github", "github": fields}}, repo.parent)
    with pytest.raises(NotSetUpError) as caught:
        access.find(workspace(repo, GH_HOST=host))
    assert str(caught.value) == (
        f"The configuration puts issues on GitHub, but there is no token for {host}."
    )
    assert caught.value.hint == hint


def test_to_look_for_access_loads_neither_pygithub_nor_requests() -> None:
    code = "import sys, ghp_agents.github.api.access; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"github", "requests", "urllib3", "pydantic", "filelock", "git"}
    assert heavy.isdisjoint(done.stdout.split())
