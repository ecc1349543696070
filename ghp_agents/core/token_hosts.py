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


def names(host: str, environ: Mapping[str, str], named: Collection[str]) -> tuple[str, ...]:
    """The variables that hold the token of a host. A self-hosted server gets a token only if the
    person named it in `named`."""
    if is_githubs(host):
        return OF_GITHUB
    if host not in named:
        return ()
    return OF_ENTERPRISE + (OF_GITHUB if host == server_host(environ) else ())
