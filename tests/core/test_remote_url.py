"""Addresses as they may be shown: no credentials, and the host that they name."""

import pytest

from ghp_agents.core.remote_url import host_of, is_public, masked


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://github.com/o/r.git", "https://github.com/o/r.git"),
        ("https://token@github.com/o/r.git", "https://***@github.com/o/r.git"),
        ("https://user:token@github.com/o/r", "https://***@github.com/o/r"),
        ("HTTPS://u:p@ss@host/r", "HTTPS://***@host/r"),
        ("https://host/r.git?private_token=abc&x=1", "https://host/r.git?***"),
        ("ssh://git@host:22/o/r.git", "ssh://git@host:22/o/r.git"),
        ("ssh://git:secret@host/o/r.git", "ssh://git:***@host/o/r.git"),
        ("git@github.com:o/r.git", "git@github.com:o/r.git"),
        ("/home/me/r.git", "/home/me/r.git"),
        ("../r@v2:x", "../r@v2:x"),
        (
            "fatal: unable to access 'https://u:p@host/r/': Could not resolve host: host",
            "fatal: unable to access 'https://***@host/r/': Could not resolve host: host",
        ),
        (
            "https://a:b@one/x, https://c:d@two/y?token=e",
            "https://***@one/x, https://***@two/y?***",
        ),
    ],
)
def test_what_is_shown_carries_no_credentials(address: str, shown: str) -> None:
    assert masked(address) == shown
    assert masked(shown) == shown


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://user:token@GitHub.com:443/o/r.git", "github.com"),
        ("ssh://git@host.example:22/o/r.git", "host.example"),
        ("git@github.com:o/r.git", "github.com"),
        ("host:o/r.git", "host"),
        ("/home/me/r.git", None),
        ("./here:there", None),
        ("file:///home/me/r.git", None),
    ],
)
def test_the_host_is_what_an_address_names(address: str, host: str | None) -> None:
    assert host_of(address) == host


def test_a_host_is_public_by_its_name_or_that_of_its_parent() -> None:
    assert is_public("github.com")
    assert is_public("gist.github.com")
    assert not is_public("notgithub.com")
    assert not is_public("git.example.com")
    assert not is_public(None)
