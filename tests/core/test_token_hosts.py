"""Which token is for which host."""

import pytest

from ghp_agents.core import token_hosts as token_host
from ghp_agents.core.token_hosts import OF_ENTERPRISE, OF_GITHUB

SERVER = {"GITHUB_SERVER_URL": "https://ghe.example.com/"}


@pytest.mark.parametrize(
    ("host", "environ", "named", "names"),
    [
        ("github.com", {}, (), OF_GITHUB),
        ("octo.ghe.com", {}, (), OF_GITHUB),
        ("ghe.com", {}, (), ()),
        ("ghe.example.com", {}, (), ()),
        ("ghe.example.com", {}, ("ghe.example.com",), OF_ENTERPRISE),
        ("ghe.example.com", SERVER, ("ghe.example.com",), OF_ENTERPRISE + OF_GITHUB),
    ],
)
def test_a_server_of_ones_own_gets_a_token_only_if_the_person_named_it(
    host: str, environ: dict[str, str], named: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert token_host.names(host, environ, named) == names


def test_the_environment_names_hosts_by_gh_host_and_by_the_workflows_server() -> None:
    assert token_host.hosts_in({}) == set()
    assert token_host.hosts_in({"GH_HOST": " GHE.example.com "}) == {"ghe.example.com"}
    assert token_host.hosts_in({"GH_HOST": "a.test", **SERVER}) == {"a.test", "ghe.example.com"}


@pytest.mark.parametrize(
    ("host", "named", "expected"),
    [
        ("ghe.test:8443", ("ghe.test:8443",), "ghe.test:8443"),
        ("ghe.test:8443", ("ghe.test",), "ghe.test:8443"),
        ("ghe.test", ("ghe.test:8443",), "ghe.test:8443"),
        ("ghe.test:8443", ("ghe.test:9443",), None),
        ("other.test", ("ghe.test",), None),
        ("ghe.test", (), None),
    ],
)
def test_a_name_without_a_port_names_every_port(
    host: str, named: tuple[str, ...], expected: str | None
) -> None:
    assert token_host.as_named(host, named) == expected
