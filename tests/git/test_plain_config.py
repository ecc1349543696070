"""What is read of a configuration by hand is what git reads; the rest is left to git."""

from pathlib import Path

import pytest

from ghp_agents.git import plain_config
from tests.support.git import git


def by_git(repo: Path) -> dict[str, str]:
    """Each remote with its first address."""
    addresses: dict[str, str] = {}
    for line in git(repo, "config", "--local", "--list").splitlines():
        key, _, value = line.partition("=")
        if key.startswith("remote.") and key.endswith(".url"):
            addresses.setdefault(key.removeprefix("remote.").removesuffix(".url"), value)
    return addresses


def add(repo: Path, config: str) -> None:
    with (repo / ".git/config").open("a") as file:
        file.write(config)


PLAIN = [
    '[remote "origin"]\n\turl = https://example.invalid/a.git\n\tfetch = +refs/*:refs/*\n',
    '[remote "origin"]\n\turl = a.git\n\turl = b.git\n[remote "fork"]\nurl=c\n',
    '[REMOTE "Origin"]\r\n\tURL=a.git\r\n[branch "main"]\r\n\tremote = Origin\r\n',
    '[remote "one.two"]\n\tpushurl = p\n\turl = a.git\n# url = no\n',
    '[remote "origin"]\n\tproxy = http://[::1]:80\n\turl = a.git\n',
]
LEFT = [
    '[remote "origin"]\n\turl = "a b.git"\n',
    '[remote "origin"]\n\turl = a.git # ours\n',
    '[remote "origin"] url = a.git\n',
    '[remote "origin"] # ours\n\turl = a.git\n',
    '[remote "a\\"b"]\n\turl = a.git\n',
    "[remote.origin]\n\turl = a.git\n",
    '[remote "origin"]\n\tproxy = a\\\n\turl = a.git\n\turl = b.git\n',
    '[remote "origin"]\n\turl = gh:a\n[url "https://example.invalid/"]\n\tinsteadOf = gh:\n',
    "[include]\n\tpath = more\n",
    "[core] bare = false\n",
]


@pytest.mark.parametrize("config", PLAIN)
def test_a_plain_file_is_read_as_git_reads_it(repo: Path, config: str) -> None:
    add(repo, config)
    assert plain_config.remotes(repo / ".git") == by_git(repo) != {}


@pytest.mark.parametrize("config", LEFT)
def test_what_may_mean_more_is_left_to_git(repo: Path, config: str) -> None:
    git(repo, "remote", "add", "known", "a.git")
    add(repo, config)
    assert plain_config.remotes(repo / ".git") is None


def test_a_repository_without_a_remote_has_none(repo: Path) -> None:
    assert plain_config.remotes(repo / ".git") == {}


def test_a_file_that_cannot_be_read_is_left_to_git(tmp_path: Path) -> None:
    assert plain_config.remotes(tmp_path) is None
    (tmp_path / "config").write_bytes(b'[remote "\xff"]\n\turl = a\n')
    assert plain_config.remotes(tmp_path) is None


def test_our_own_include_needs_no_git_to_be_read(repo: Path) -> None:
    git(repo, "remote", "add", "origin", "/there")
    git(repo, "config", 'includeIf.gitdir:/a "b" \\[c]/.path', plain_config.HOOKS_FILE)
    assert plain_config.remotes(repo / ".git") == {"origin": "/there"}
    git(repo, "config", "includeIf.gitdir:/a/.path", "other")
    assert plain_config.remotes(repo / ".git") is None
