"""Which repository on which server, through which token; cheap where there is none.

Asks nobody but, where a remote is GitHub's and the environment has no token, the program `gh`.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from ghp_agents.errors import NotSetUpError
from ghp_agents.hub import remotes, token
from ghp_agents.hub.token import Token
from ghp_agents.workspace import Workspace

LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")
OVERRIDE = "GHP_GITHUB_API"  # the address of the API, for tests and for proxies

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")


class Place(NamedTuple):
    """A repository on a server. `trusted`: a remote or the environment names the server."""

    host: str
    repository: str
    trusted: bool


class Access(NamedTuple):
    """All that is needed to talk to one repository."""

    host: str
    repository: str
    api: str  # without a slash at its end
    token: Token


def find(ws: Workspace, *, again: bool = False) -> Access | None:
    """The access that there is; None where issues live in the state.

    Raises NotSetUpError where the configuration wants GitHub and something is missing.
    """
    if ws.settings.tracker == "local":
        return None
    wanted = ws.settings.tracker == "github"
    if not wanted and not ws.settings.push:
        return None  # all stays in this clone
    place = where(ws)
    if place is None:
        if wanted:
            raise _no_repository()
        return None
    api = _api(ws, place)
    found = token.of_environment(ws.environ, place.host, place.trusted) or token.of_gh(
        ws, place.host, again=again or wanted
    )
    if found is None:
        if wanted:
            raise _no_token(place)
        return None
    return Access(place.host, place.repository, api, found)


def where(ws: Workspace) -> Place | None:
    """The repository that the configuration names, else the remote's; None: it is not GitHub's."""
    said = ws.settings.github
    hosts = known_hosts(ws.environ, said.get("host"))
    for address in remotes.addresses(ws):
        found = remotes.understood(address)
        if found and (token.is_githubs(found[0]) or found[0] in hosts):
            host, repository = found
            break
    else:
        host, repository = None, None
    if said.get("host") and said["host"].lower() != host:
        named = _environment_host(ws.environ) == said["host"].lower()
        host, trusted = said["host"].lower(), named
    else:
        trusted = host is not None
    repository = said.get("repository") or repository
    if repository is None:
        return None
    if not _REPOSITORY.fullmatch(repository):
        raise _bad_repository(repository)
    return Place(host or "github.com", repository, trusted)


def known_hosts(environ: Mapping[str, str], configured: str | None) -> set[str]:
    """The servers, beside GitHub's own, that somebody said to be GitHub's."""
    named = (_environment_host(environ), token.server_host(environ), configured)
    return {host.lower() for host in named if host}


def _environment_host(environ: Mapping[str, str]) -> str | None:
    return environ.get("GH_HOST", "").strip().lower() or None


def api_of(host: str) -> str:
    """The address of a server's API."""
    if host == "github.com":
        return "https://api.github.com"
    if host.endswith(".ghe.com"):
        return f"https://api.{host}"
    return f"https://{host}/api/v3"


def _api(ws: Workspace, place: Place) -> str:
    """The address of the API. One in a configuration file must be the server's own: the token is
    sent there, and the file may be somebody else's."""
    override = ws.environ.get(OVERRIDE, "").strip()
    if override:
        return override.rstrip("/")
    said = ws.settings.github.get("api")
    if not said:
        return api_of(place.host)
    parts = urlsplit(said)
    host = (parts.hostname or "").lower()
    own = host == place.host or host.endswith(f".{place.host}")
    if parts.scheme == "https" and own and not parts.username:
        return said.rstrip("/")
    raise NotSetUpError(
        f"`agents.github.api` is {said!r}, which is not an https address of {place.host}; the "
        "token would be sent there.",
        hint=f"Correct `agents.github.host` or `api`; or, if you trust that address, set "
        f"{OVERRIDE} to it.",
    )


def _no_repository() -> NotSetUpError:
    return NotSetUpError(
        "The configuration wants issues on GitHub, and no remote of this repository is there.",
        hint='Name one: `{"agents": {"github": {"repository": "owner/name"}}}` in '
        ".ghp/config.json; for a server of your own, set GH_HOST to its name, too.",
    )


def _bad_repository(name: str) -> NotSetUpError:
    return NotSetUpError(
        f"{name!r} is not the name of a repository on GitHub.",
        hint="Write `agents.github.repository` as owner/name.",
    )


def _no_token(place: Place) -> NotSetUpError:
    if token.is_githubs(place.host):
        names = " or ".join(token.OF_GITHUB)
    elif place.trusted:
        names = token.OF_ENTERPRISE[0]
    else:
        names = f"{token.OF_ENTERPRISE[0]}, and GH_HOST to {place.host},"
    return NotSetUpError(
        f"The configuration wants issues on GitHub, and there is no token for {place.host}.",
        hint=f"Run `gh auth login --hostname {place.host}`, or set {names} in the environment.",
    )
