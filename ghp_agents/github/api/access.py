"""Which repository on which server, and which token; cheap where there is none.

Asks nobody, with one exception: if a remote is on GitHub and the environment has no token, it asks
the program `gh`.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from ghp_agents.core import token_hosts
from ghp_agents.core.errors import NotSetUpError
from ghp_agents.core.ids import one_line
from ghp_agents.core.json_file import object_file
from ghp_agents.github.api import remote_url
from ghp_agents.settings import consent
from ghp_agents.state import git_credentials
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.token import Token

OVERRIDE = "GHP_GITHUB_API"  # the address of the API, for tests and for proxies
SHOWN_ONCE = "shown-once.json"  # warnings that people have read

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")


class RepositoryPlace(NamedTuple):
    """A repository on a server. `is_remotes`: a remote names the server."""

    host: str
    repository: str
    is_remotes: bool


class Access(NamedTuple):
    """All that is needed to call the API for one repository."""

    host: str
    repository: str
    api: str  # without a slash at its end
    token: "Token"


def find(
    ws: Workspace, is_published: Callable[[], bool] = lambda: False, *, again: bool = False
) -> Access | None:
    """The access to GitHub; None where issues live in the local state, or where a clone without a
    token can read them there, because others published them.

    Raises NotSetUpError if the configuration wants GitHub and something is missing.
    """
    if ws.settings.tracker == "local":
        return None
    required = ws.settings.tracker == "github"
    if not required and not ws.settings.push:
        return None  # all stays in this clone
    place = where(ws)
    if place is None:
        if "github" in ws.settings.unagreed:
            settings = ws.settings
            what, hint = consent.sentence(
                "github", settings.unagreed["github"], settings.trunk_place
            )
            raise NotSetUpError(what, hint=hint)
        if required and not is_published():
            if proposed := ws.settings.github.get(consent.PROPOSED):
                raise NotSetUpError(
                    f".ghp/config.json names the repository {one_line(proposed, 100)!r}, but no "
                    "remote of this clone does, so it is not used.",
                    hint="If it is the right one, put it into your own file, "
                    '~/.config/ghp-cli/config.json: {"agents": {"github": {"repository": '
                    '"owner/name"}}}.',
                )
            raise NotSetUpError(
                "The configuration puts issues on GitHub, but this repository has no remote there.",
                hint='Name the repository: `{"agents": {"github": {"repository": "owner/name"}}}` '
                "in .ghp/config.json. For your own server, also set GH_HOST to its name.",
            )
        return None
    api = _api(ws, place)
    token = _token(ws, place, again=again or required) if may_have_a_token(ws, place) else None
    if token is None:
        if required and not is_published():
            raise _no_token(ws, place)
        return None
    return Access(place.host, place.repository, api, token)


def _token(ws: Workspace, place: RepositoryPlace, *, again: bool) -> "Token | None":
    from ghp_agents.github.api import token

    own = token.of_environment(ws.environ, place.host, (place.host,))
    return own or token.of_gh(ws, place.host, again=again)


def where(ws: Workspace) -> RepositoryPlace | None:
    """The configured repository, else the remote's; None if no remote is on GitHub."""
    fields = ws.settings.github
    configured = fields.get("host", "").lower() or None
    hosts = token_hosts.hosts_in(ws.environ) | ({configured} if configured else set())
    for address in remote_url.addresses(ws):
        parsed = remote_url.parse_remote_url(address)
        server = parsed and (
            parsed[0]
            if token_hosts.is_githubs(parsed[0])
            else token_hosts.as_named(parsed[0], hosts)
        )
        if parsed and server:
            remotes_host, repository = server, parsed[1]
            break
    else:
        remotes_host, repository = None, None
    is_same = remotes_host and configured and token_hosts.as_named(remotes_host, (configured,))
    host = (remotes_host if is_same else configured or remotes_host) or "github.com"
    repository = fields.get("repository") or _proposed(ws, fields) or repository
    if repository is None:
        return None
    if not _REPOSITORY.fullmatch(repository):
        raise NotSetUpError(
            f"{repository!r} is not a valid name of a GitHub repository.",
            hint="Write `agents.github.repository` as owner/name.",
        )
    return RepositoryPlace(host, repository, host == remotes_host)


def unnamed(ws: Workspace) -> RepositoryPlace | None:
    """The remote's repository, if the environment has a token for a server of one's own and nobody
    named the server: then the token is not used, and issues are in the state."""
    settings = ws.settings
    if settings.tracker == "local" or not settings.push or settings.github.get("host"):
        return None
    if not any(ws.environ.get(name, "").strip() for name in token_hosts.OF_ENTERPRISE):
        return None
    from ghp_agents.core.remote_url import is_public  # of few machines

    for parsed in map(remote_url.parse_remote_url, remote_url.addresses(ws)):
        if parsed and not is_public(parsed[0]) and where(ws) is None:
            return RepositoryPlace(*parsed, is_remotes=True)
    return None


def describe_unnamed(ws: Workspace, place: RepositoryPlace) -> tuple[str, str]:
    """What people read about an unnamed server, and what they can do."""
    variable = next(name for name in token_hosts.OF_ENTERPRISE if ws.environ.get(name, "").strip())
    return (
        f"Issues are kept in git, not on {place.host}/{place.repository}: {variable} is set, but "
        "nothing names its server.",
        f"If {place.host} is your GitHub server, set GH_HOST to {place.host}. If not, set "
        '`"tracker": "local"` under `agents` in .ghp/config.json.',
    )


def warn_once(ws: Workspace, tell: Callable[[str], None]) -> None:
    """Warn people about an unnamed server, once in each clone."""
    place = unnamed(ws)
    if place and is_first(ws, "unnamed", place.host):
        tell(" ".join(describe_unnamed(ws, place)))


def is_first(ws: Workspace, name: str, value: str) -> bool:
    """Whether this clone has not shown the warning `name` about this value; notes that it has."""
    noted = object_file(ws.cache_dir / "hub" / SHOWN_ONCE)
    before = noted.read()
    if before.get(name) == value:
        return False
    with suppress(OSError):
        (ws.cache_dir / "hub").mkdir(parents=True, exist_ok=True)
    noted.write({**before, name: value})
    return True


def may_have_a_token(ws: Workspace, place: RepositoryPlace) -> bool:
    """Whether a token may be sent to this server: to GitHub, or to a server that the person named.
    The repository's configuration and its clone address do not count: an attacker may control
    both."""
    if place.host == "github.com" or (token_hosts.is_githubs(place.host) and place.is_remotes):
        return True
    return token_hosts.as_named(place.host, git_credentials.named_hosts(ws)) == place.host


def _proposed(ws: Workspace, fields: Mapping[str, str]) -> str | None:
    """The repository that the repository's own file names, if a remote names it too. It decides
    whose commands agents obey, so any other repository must be in the person's own file."""
    name = fields.get(consent.PROPOSED)
    parsed = (remote_url.parse_remote_url(address) for address in remote_url.addresses(ws))
    is_remotes = name and any(remote and remote[1].lower() == name.lower() for remote in parsed)
    return name if is_remotes else None


def api_of(host: str) -> str:
    """The API address of a server."""
    if host == "github.com":
        return "https://api.github.com"
    if host.endswith(".ghe.com"):
        return f"https://api.{host}"
    return f"https://{host}/api/v3"


def _api(ws: Workspace, place: RepositoryPlace) -> str:
    """The API address. One from a configuration file must belong to the server: the token is sent
    there, and somebody else may control the file."""
    override = ws.environ.get(OVERRIDE, "").strip()
    if override:
        return override.rstrip("/")
    configured = ws.settings.github.get("api")
    if not configured:
        return api_of(place.host)
    from urllib.parse import urlsplit  # of few machines

    parts = urlsplit(configured)
    host = (parts.hostname or "").lower()
    server = place.host.partition(":")[0]
    own = host == server or host.endswith(f".{server}")
    if parts.scheme == "https" and own and not parts.username:
        return configured.rstrip("/")
    raise NotSetUpError(
        f"`agents.github.api` is {configured!r}, which is not an https address of {place.host}; "
        "the token would be sent there.",
        hint=f"Fix `agents.github.host` or `api`. If you trust that address, set {OVERRIDE} to it.",
    )


def _no_token(ws: Workspace, place: RepositoryPlace) -> NotSetUpError:
    if not may_have_a_token(ws, place):
        return NotSetUpError(
            f"The configuration puts issues on {place.host}, but only files of the repository "
            "name that server, so it gets no token.",
            hint=f"If you trust it, set GH_HOST to {place.host}, or name it in your own "
            "~/.config/ghp-cli/config.json: `agents.github.host`.",
        )
    ours = token_hosts.is_githubs(place.host)
    names = " or ".join(token_hosts.OF_GITHUB) if ours else token_hosts.OF_ENTERPRISE[0]
    return NotSetUpError(
        f"The configuration puts issues on GitHub, but there is no token for {place.host}.",
        hint=f"Run `gh auth login --hostname {place.host}`, or set {names} in the environment.",
    )
