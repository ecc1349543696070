"""Tokens: they reach neither a repository's commands nor a host that they are not for, and what
commands print of them is not kept."""

import base64
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from ghp_agents.core import child_env
from ghp_agents.github.api import access
from ghp_agents.workspace import open_workspace
from tests.support.consent import configure
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.road import Road

TOKEN = "tok-" + "a1B2c3D4e5F6g7"
BASIC = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
HEADER = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "http.https://github.com/.extraheader",
    "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {BASIC}",
}
SECRETS = {
    **{"GITHUB_TOKEN": TOKEN, "DEPLOY_PASSWORD": "correct-horse", "STRIPE_KEY": "cash-for-all"},
    **{"GIT_ASKPASS": "/opt/askpass-helper", "SSH_AUTH_SOCK": "/run/agent-socket"},
    **{"ACTIONS_RUNTIME_TOKEN": "runs-on-github", "ACTIONS_RESULTS_URL": "https://results.test"},
    **HEADER,
}  # fmt: skip
SPILL = "env > spilled.txt; env | base64 -w0; env; git config --get-regexp extraheader; true"


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def enter(patch: pytest.MonkeyPatch, environ: Mapping[str, str]) -> None:
    for name, value in environ.items():
        patch.setenv(name, value)


def encoded(secret: str) -> list[str]:
    """A secret as base64 has it, after nothing, one byte and two."""
    return [base64.b64encode(b"." * before + secret.encode()).decode() for before in range(3)]


def held(text: str, secret: str) -> bool:
    """Whether a text has a secret, plain or within base64 of more."""
    return any(form in text for form in [secret, *(each[4:-4] for each in encoded(secret))])


# ---------------------------------------------------------------- the repository's commands


@pytest.mark.slow
def test_no_check_and_no_set_up_command_sees_a_credential(
    road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    road.configure({"checks": [SPILL]}, worktreeSetupCommand="env > set-up.txt")
    road.put({".gitignore": "spilled.txt\nset-up.txt\n"})
    road.issue()
    enter(monkeypatch, {**SECRETS, "PLAIN_SETTING": "seen"})
    made = road.start("worker-1")
    commit(made.path, {"a.txt": "one\n"}, "Parse one file")
    finished = road.finish("worker-1", made.path)

    kept = next((road.folder / ".git/ghp/checks").iterdir()).read_text()
    seen = [(made.path / name).read_text() for name in ("spilled.txt", "set-up.txt")]
    for text in (*seen, kept, finished.pull.body):
        assert "PLAIN_SETTING=seen" in text or text == finished.pull.body
        assert [name for name in SECRETS if f"{name}=" in text] == []
        assert [value for value in SECRETS.values() if len(value) > 8 and held(text, value)] == []


@pytest.mark.slow
def test_what_a_check_prints_of_a_secret_is_masked_in_all_that_is_kept(
    road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(monkeypatch, {"DEPLOY_PASSWORD": "correct-horse", **HEADER})
    words = ["correct-horse", TOKEN, BASIC, *encoded("correct-horse"), *encoded(TOKEN)]
    road.configure({"checks": ["./print"]})
    road.put({"print": f"echo {' '.join(words)}"})
    git(road.folder, "update-index", "--chmod=+x", "print")
    git(road.folder, "commit", "-qm", "Let it run")
    git(road.folder, "reset", "-q", "--hard")
    road.issue()
    finished = road.done("worker-1", 1, {"a.txt": "one\n"})
    kept = next((road.folder / ".git/ghp/checks").iterdir()).read_text()
    (check,) = finished.checks
    assert check.output.startswith("*** *** *** ***")
    for text in (check.output, kept, finished.pull.body):
        assert [word for word in ("correct-horse", TOKEN, BASIC) if held(text, word)] == []


def test_no_variable_whose_value_is_a_credential_reaches_a_check() -> None:
    word = "q8Lm2" + "Zx9k7"
    hidden = {
        "DATABASE_URL": f"postgres://app:{word}@db/app",
        "PIP_INDEX": f"https://me:{word}@pypi.example/simple",
        "SESSION": "ey" + "J" + "a1B" * 7 + ".ey" + "J" + "b2C" * 7 + "." + "c3D" * 9,
        "GOOGLE": '{"private_key": "-----BEGIN ' + f'PRIVATE KEY-----\\n{"aB3/" * 12}"}}',
        "CI_JOB_JWT": "x", "APP_CREDS": "x", "BROWSER_COOKIE": "x", "SLACK_WEBHOOK": "x",
        "SENTRY_DSN": "x",
    }  # fmt: skip
    plain = {"PATH": "/usr/bin", "LANG": "C", "PASSAGE": "x", "HOMEPAGE": "https://a.example/b"}
    assert child_env.for_commands({**hidden, **plain}) == plain
    assert child_env.left_out({**hidden, **plain}) == sorted(hidden)
    named = child_env.for_commands({**hidden, **plain}, {"DATABASE_URL"})
    assert named == {**plain, "DATABASE_URL": hidden["DATABASE_URL"]}


@pytest.mark.slow
def test_only_the_person_gives_a_credential_to_checks(
    road: Road, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent-socket")
    said = {"checksKeepEnv": ["SSH_AUTH_SOCK"]}
    road.configure({"checks": ['echo "<$SSH_AUTH_SOCK>"'], **said})
    road.issue()
    path = road.start("worker-1").path
    commit(path, {"a.txt": "one\n"})
    assert [check.output for check in road.finish("worker-1", path).checks] == ["<>"]

    own = home / ".config/ghp-cli/config.json"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(json.dumps({"agents": said}))
    assert [check.output for check in road.finish("worker-1", path).checks] == [
        "</run/agent-socket>"
    ]


# ------------------------------------------------------------------------- git and its host

TOKENS = {
    **{"GITHUB_TOKEN": "hub-1", "GH_TOKEN": "hub-2"},
    **{"GH_ENTERPRISE_TOKEN": "own-1", "GITHUB_ENTERPRISE_TOKEN": "own-2"},
}


def spying_git(folder: Path) -> dict[str, str]:
    """A git that writes down which tokens it was given, and the PATH with it."""
    folder.mkdir()
    program = folder / "git"
    names = '"$GITHUB_TOKEN,$GH_TOKEN,$GH_ENTERPRISE_TOKEN,$GITHUB_ENTERPRISE_TOKEN"'
    program.write_text(
        f"#!/bin/sh\nprintf '%s %s\\n' {names} \"$(echo $*)\" >> {folder}/log\n"
        f'exec {shutil.which("git")} "$@"\n'
    )
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def given(folder: Path) -> tuple[set[str], set[str]]:
    """The tokens that git got to talk to a remote, and for all else."""
    afar: set[str] = set()
    here: set[str] = set()
    for line in (folder / "log").read_text().splitlines():
        tokens, _, words = line.partition(" ")
        talks = any(f" {verb} " in f" {words} " for verb in ("fetch", "push", "ls-remote"))
        (afar if talks else here).add(tokens.strip(","))
    return afar, here


@pytest.mark.parametrize(
    ("address", "tokens"),
    [
        ("https://github.com/acme/widgets.git", "hub-1,hub-2"),
        ("https://ghe.example.com/acme/widgets.git", "own-1,own-2"),
        ("https://evil.example/acme/widgets.git", ""),
    ],
)
def test_git_gets_a_token_only_for_the_host_that_it_belongs_to(
    repo: Path, tmp_path: Path, address: str, tokens: str
) -> None:
    git(repo, "remote", "add", "origin", address)
    git(repo, "config", "http.proxy", "http://127.0.0.1:1")  # nothing leaves this machine
    commit(repo, {".ghp/config.json": '{"agents": {"tracker": "local"}}'})
    environ = {**spying_git(tmp_path / "bin"), **TOKENS, "GH_HOST": "ghe.example.com"}
    invoke("agent-sync", repo, {**environ, "GHP_AGENT": "worker-1"})
    assert given(tmp_path / "bin") == ({tokens}, {""})


# --------------------------------------------------------------------------- the program gh


def fake_gh(folder: Path) -> dict[str, str]:
    """A gh as the real one: a token of the environment for any host, and one that it keeps."""
    folder.mkdir()
    program = folder / "gh"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/asked\n'
        'for each in "$GH_ENTERPRISE_TOKEN" "$GITHUB_ENTERPRISE_TOKEN" "$GH_TOKEN" "$GITHUB_TOKEN"'
        "\n"
        'do [ -n "$each" ] && echo "$each" && exit 0; done\necho kept-by-gh\n'
    )
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def found(repo: Path, environ: Mapping[str, str]) -> str | None:
    one = access.find(open_workspace(repo, {"HOME": str(repo.parent / "home"), **environ}))
    return one.token.reveal() if one else None


@pytest.mark.parametrize("remote", ["https://github.com/acme/widgets", "https://evil.example/a/b"])
def test_a_host_that_only_the_repository_names_gets_no_token_and_gh_is_not_asked(
    repo: Path, tmp_path: Path, remote: str
) -> None:
    git(repo, "remote", "add", "origin", remote)
    said = {"github": {"host": "evil.example", "repository": "a/b"}}
    configure(repo, {"agents": said}, repo.parent / "home")
    environ = {**fake_gh(tmp_path / "bin"), **TOKENS}
    assert found(repo, environ) is None
    assert not (tmp_path / "bin/asked").exists()


def test_gh_is_asked_without_the_environments_tokens(repo: Path, tmp_path: Path) -> None:
    git(repo, "remote", "add", "origin", "git@ghe.example.com:acme/widgets")
    own = {"GH_ENTERPRISE_TOKEN": "two words, so none", "GITHUB_TOKEN": "for-github-alone"}
    environ = {**fake_gh(tmp_path / "bin"), **own, "GH_HOST": "ghe.example.com"}
    assert found(repo, environ) == "kept-by-gh"


def test_a_tenant_of_githubs_that_only_the_repository_names_gets_no_token(
    repo: Path, tmp_path: Path
) -> None:
    said = {"github": {"host": "evil.ghe.com", "repository": "a/b"}}
    configure(repo, {"agents": said}, repo.parent / "home")
    environ = {**fake_gh(tmp_path / "bin"), **TOKENS}
    assert found(repo, environ) is None


# -------------------------------------------------------------- credentials in the address

PASSWORD = "hunter2-in-the-address"
COMMANDS = (
    "agent-init", "agent-sync", "agent-status", "agent-doctor", "agent-issue create Parse",
    "agent-claim 1", "agent-lease src/", "agent-handoff --message Half", "agent-resume",
    "agent-log", "agent-note add 'Dates are in UTC'", "agent-escalate 'Which?'", "agent-check",
    "agent-leases",
)  # fmt: skip


@pytest.mark.slow
def test_credentials_in_a_remotes_address_are_in_nothing_that_commands_say_or_keep(
    clone: Path, remote: Path
) -> None:
    address = f"https://ann:{PASSWORD}@git.example.invalid/acme/widgets.git"
    git(clone, "remote", "set-url", "origin", address)
    git(clone, "config", f"url.{remote}.insteadOf", address)
    for words in COMMANDS:
        done = invoke(words, clone, {"GHP_AGENT": "worker-1"})
        assert PASSWORD not in done.out + done.err, words
    ours = [path for path in (clone / ".git/ghp").rglob("*") if path.is_file()]
    everywhere = [*ours, *(path for path in (clone / ".ghp").rglob("*") if path.is_file())]
    assert [path for path in everywhere if PASSWORD.encode() in path.read_bytes()] == []
    for bare in (*(path.parent for path in ours if path.name == "HEAD"), remote):
        assert PASSWORD not in git(bare, "cat-file", "--batch-all-objects", "--batch")
