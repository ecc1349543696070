"""Which token is for which host: GitHub's variables, with the names that `gh` uses."""

from collections.abc import Collection, Mapping

OF_GITHUB = ("GITHUB_TOKEN", "GH_TOKEN")  # for github.com and *.ghe.com, in this order
OF_ENTERPRISE = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")  # for a self-hosted server
TOKENS = OF_GITHUB + OF_ENTERPRISE


def is_githubs(host: str) -> bool:
    """Whether GitHub itself runs the host."""
    return host == "github.com" or host.endswith(".ghe.com")


def server_host(environ: Mapping[str, str]) -> str | None:
    """The host of the current GitHub Actions workflow."""
    address = environ.get("GITHUB_SERVER_URL", "")
    return address.partition("://")[2].rstrip("/").lower() or None


def hosts_in(environ: Mapping[str, str]) -> set[str]:
    """The GitHub hosts that the environment names."""
    named = (environ.get("GH_HOST", "").strip().lower(), server_host(environ))
    return {host for host in named if host}


def as_named(host: str, named: Collection[str]) -> str | None:
    """The host with its port, if one of the `named` hosts is this one; else None.

    A name without a port names every port: TLS proves the name, and `gh` accepts no ports. An ssh
    address has no port of the API, so the name's counts.
    """
    name, _, port = host.partition(":")
    if host in named or name in named:
        return host
    with_port = sorted(other for other in named if other.partition(":")[0] == name)
    return with_port[0] if with_port and not port else None


def names(host: str, environ: Mapping[str, str], named: Collection[str]) -> tuple[str, ...]:
    """The variables that hold the token of a host. A self-hosted server gets a token only if the
    person named it in `named`."""
    if is_githubs(host):
        return OF_GITHUB
    if host not in named:
        return ()
    return OF_ENTERPRISE + (OF_GITHUB if host == server_host(environ) else ())
