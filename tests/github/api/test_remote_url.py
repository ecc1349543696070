"""Addresses of remotes: how they are written, and which of them counts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.github.api import remote_url as remotes
from tests.support.consent import mine
from tests.support.git import git
from tests.support.hubs import workspace

WIDGETS = ("github.com", "acme/widgets")


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("https://github.com/acme/widgets", WIDGETS),
        ("https://github.com/acme/widgets.git", WIDGETS),
        ("https://github.com/acme/widgets/", WIDGETS),
        ("https://GitHub.com/acme/widgets", WIDGETS),
        ("https://www.github.com/acme/widgets", WIDGETS),
        ("https://x-access-token:ghs_abc@github.com/acme/widgets.git", WIDGETS),
        ("https://octocat@github.com/acme/widgets.git", WIDGETS),
        ("http://github.com/acme/widgets", WIDGETS),
        ("git://github.com/acme/widgets.git", WIDGETS),
        ("git@github.com:acme/widgets.git", WIDGETS),
        ("git@github.com:/acme/widgets.git", WIDGETS),
        ("github.com:acme/widgets", WIDGETS),
        ("ssh://git@github.com/acme/widgets.git", WIDGETS),
        ("ssh://git@ssh.github.com:443/acme/widgets.git", WIDGETS),
        ("https://ghe.example.com:8443/a-b/c.d_e", ("ghe.example.com:8443", "a-b/c.d_e")),
        ("https://ghe.example.com:443/a/b", ("ghe.example.com", "a/b")),
        ("http://ghe.example.com:8080/a/b", ("ghe.example.com", "a/b")),
        ("ssh://git@ghe.example.com:2222/a/b", ("ghe.example.com", "a/b")),
        ("https://github.com:8443/acme/widgets", WIDGETS),
        ("git@octo.ghe.com:a/b.git", ("octo.ghe.com", "a/b")),
        ("https://github.com/acme/widgets/extra", None),
        ("https://github.com/acme", None),
        ("https://github.com/", None),
        ("https://github.com/acme/.git", None),
        ("https://github.com/acme/..", None),
        ("https://github.com/acme/.", None),
        ("https://github.com/acme/.github.git", ("github.com", "acme/.github")),
        ("/home/me/acme/widgets", None),
        ("../widgets", None),
        ("file:///home/acme/widgets", None),
        ("file://github.com/acme/widgets", None),
        ("", None),
    ],
)
def test_every_way_to_write_an_address_is_understood(
    address: str, place: tuple[str, str] | None
) -> None:
    assert remotes.parse_remote_url(address) == place


@given(st.text())
def test_no_text_is_more_than_no_address(address: str) -> None:
    place = remotes.parse_remote_url(address)
    assert place is None or place[1].count("/") == 1


def test_without_a_remote_there_is_no_address(repo: Path) -> None:
    assert remotes.addresses(workspace(repo)) == []


def test_origin_counts_and_no_other(repo: Path) -> None:
    git(repo, "remote", "add", "fork", "https://github.com/me/widgets")
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    git(repo, "remote", "add", "other", "https://github.com/you/widgets")
    assert remotes.addresses(workspace(repo)) == ["https://github.com/acme/widgets"]


def test_the_only_remote_counts_whatever_it_is_called(repo: Path) -> None:
    git(repo, "remote", "add", "upstream", "https://github.com/acme/widgets")
    assert remotes.addresses(workspace(repo)) == ["https://github.com/acme/widgets"]


def test_of_several_of_which_none_is_origin_none_counts(repo: Path) -> None:
    git(repo, "remote", "add", "one", "https://github.com/acme/widgets")
    git(repo, "remote", "add", "two", "https://github.com/acme/widgets")
    assert remotes.addresses(workspace(repo)) == []


def test_the_coordination_remote_comes_before_origin(repo: Path) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/acme/widgets")
    git(repo, "remote", "add", "team", "git@github.com:team/widgets")
    mine({"agents": {"remote": "team"}}, repo.parent)
    assert remotes.addresses(workspace(repo)) == [
        "git@github.com:team/widgets",
        "https://github.com/acme/widgets",
    ]


@pytest.mark.parametrize(
    ("config", "address"),
    [
        ('[remote "origin"]\n\turl = "https://github.com/acme/widgets"\n',
         "https://github.com/acme/widgets"),
        ('[remote "origin"]\n\turl = https://github.com/acme/widgets # ours\n',
         "https://github.com/acme/widgets"),
        ('[remote "origin"]\n\turl = gh:acme/widgets\n[url "https://github.com/"]\n'
         "\tinsteadOf = gh:\n", "https://github.com/acme/widgets"),
        ('[REMOTE "origin"]\nURL=https://github.com/acme/widgets\n',
         "https://github.com/acme/widgets"),
    ],
)  # fmt: skip
def test_what_only_git_reads_rightly_is_read_by_git(repo: Path, config: str, address: str) -> None:
    with (repo / ".git/config").open("a") as file:
        file.write(config)
    assert remotes.addresses(workspace(repo)) == [address]


def test_an_address_that_the_persons_own_settings_shorten_is_read_by_git(
    repo: Path, home: Path
) -> None:
    git(repo, "remote", "add", "origin", "gh:acme/widgets")
    git(repo, "config", "--global", "url.https://github.com/.insteadOf", "gh:")
    assert remotes.addresses(workspace(repo)) == ["https://github.com/acme/widgets"]


def test_an_included_file_is_read_by_git(repo: Path) -> None:
    (repo / ".git/more").write_text('[remote "origin"]\n\turl = https://github.com/acme/widgets\n')
    git(repo, "config", "include.path", "more")
    assert remotes.addresses(workspace(repo)) == ["https://github.com/acme/widgets"]
