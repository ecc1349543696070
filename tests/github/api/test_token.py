"""Tokens: that they do not show, where they come from, and to whom they are not sent."""

from pathlib import Path

import pytest

from ghp_agents.core import stored_logins
from ghp_agents.core import token_hosts as token_host
from ghp_agents.core.child_env import for_commands
from ghp_agents.github.api import token
from ghp_agents.github.api.token import Token
from tests.support.clock import ManualClock
from tests.support.hubs import SECRET, workspace


def test_a_token_does_not_show_itself() -> None:
    secret = Token(SECRET)
    shown = f"{secret} {secret!r} {[secret]} {(secret,)!s} {vars(secret.__class__)}"
    assert SECRET not in shown
    assert secret.reveal() == SECRET
    assert secret.masked(f"Bad {SECRET}.") == "Bad ***."


def test_a_fingerprint_tells_tokens_and_servers_apart_and_is_not_the_token() -> None:
    prints = {Token(secret).fingerprint(api) for secret in ("ghp_a", "ghp_b") for api in ("x", "y")}
    assert len(prints) == 4
    assert all(len(fingerprint) == 16 and "ghp" not in fingerprint for fingerprint in prints)


@pytest.mark.parametrize(
    ("environ", "host", "named", "secret"),
    [
        ({"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}, "github.com", True, "a"),
        ({"GH_TOKEN": "b"}, "github.com", True, "b"),
        ({"GITHUB_TOKEN": " ", "GH_TOKEN": "b"}, "github.com", True, "b"),
        ({"GITHUB_TOKEN": "a"}, "octo.ghe.com", True, "a"),
        ({"GITHUB_TOKEN": "a"}, "evil-ghe.com", True, None),
        ({"GITHUB_TOKEN": "a"}, "ghe.com", True, None),
        ({"GITHUB_TOKEN": "a"}, "github.com.evil.example", True, None),
        ({"GH_ENTERPRISE_TOKEN": "c"}, "github.com", True, None),
        ({"GITHUB_TOKEN": "a"}, "ghe.example.com", True, None),
        ({"GH_ENTERPRISE_TOKEN": "c"}, "ghe.example.com", True, "c"),
        ({"GITHUB_ENTERPRISE_TOKEN": "d"}, "ghe.example.com", True, "d"),
        ({"GH_ENTERPRISE_TOKEN": "c"}, "ghe.example.com", False, None),
        ({"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://ghe.example.com"},
         "ghe.example.com", True, "a"),
        ({"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://github.com"},
         "ghe.example.com", True, None),
        ({"GITHUB_TOKEN": "two words"}, "github.com", True, None),
        ({"GITHUB_TOKEN": "a\\nX-Evil: 1"}, "github.com", True, None),
        ({}, "github.com", True, None),
    ],
)  # fmt: skip
def test_a_token_goes_to_the_server_that_it_is_for_and_to_no_other(
    environ: dict[str, str], host: str, named: bool, secret: str | None
) -> None:
    own = token.of_environment(environ, host, (host,) if named else ())
    assert (own.reveal() if own else None) == secret


def test_a_child_that_has_no_business_with_github_gets_no_token() -> None:
    environ = {name: SECRET for name in token_host.TOKENS}
    assert for_commands({**environ, "PATH": "/bin"}) == {"PATH": "/bin"}


def gh(folder: Path, says: str) -> str:
    """A program called gh; the folder to put into PATH."""
    folder.mkdir(exist_ok=True)
    program = folder / "gh"
    program.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\n{says}\n')
    program.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def gh_calls(folder: Path) -> list[str]:
    file = folder / "asked"
    return file.read_text().splitlines() if file.exists() else []


def test_gh_is_asked_for_the_token_of_the_host(repo: Path, tmp_path: Path) -> None:
    ws = workspace(repo, PATH=gh(tmp_path / "bin", f"echo {SECRET}"))
    own = token.of_gh(ws, "ghe.example.com")
    assert own
    assert own.reveal() == SECRET
    assert gh_calls(tmp_path / "bin") == ["auth token --hostname ghe.example.com"]
    assert not (repo / ".git/ghp/cache/hub").exists()


def test_that_gh_has_none_is_remembered_for_an_hour(repo: Path, tmp_path: Path) -> None:
    clock = ManualClock()
    ws = workspace(repo, clock, PATH=gh(tmp_path / "bin", "exit 1"))
    assert [token.of_gh(ws, "github.com") for _ in range(3)] == [None] * 3
    assert len(gh_calls(tmp_path / "bin")) == 1
    assert token.of_gh(ws, "github.com", again=True) is None
    assert len(gh_calls(tmp_path / "bin")) == 2
    clock.wait(3_600)
    assert token.of_gh(ws, "github.com") is None
    assert len(gh_calls(tmp_path / "bin")) == 3


def test_without_gh_nothing_is_started(repo: Path) -> None:
    assert token.of_gh(workspace(repo, PATH="/nowhere"), "github.com") is None


def test_a_gh_that_cannot_be_run_is_no_gh(repo: Path, tmp_path: Path) -> None:
    path = gh(tmp_path / "bin", "")
    (tmp_path / "bin/gh").write_text("#!/no/such/interpreter\n")
    assert token.of_gh(workspace(repo, PATH=path), "github.com") is None


def test_in_a_run_our_question_to_gh_has_the_login_and_a_sandbox_asks_nobody(
    repo: Path, tmp_path: Path
) -> None:
    path = gh(tmp_path / "bin", f'[ -z "$GH_CONFIG_DIR" ] && echo {SECRET}')
    run = stored_logins.taken({}, tmp_path)
    own = token.of_gh(workspace(repo, PATH=path, **run), "github.com")
    assert own
    assert own.reveal() == SECRET
    boxed = stored_logins.taken({}, tmp_path, hidden=True)
    assert token.of_gh(workspace(repo, PATH=path, **boxed), "github.com") is None
    assert len(gh_calls(tmp_path / "bin")) == 1
    assert not (repo / ".git/ghp/cache/hub").exists()  # its supervisor asks again
