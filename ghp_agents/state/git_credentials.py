"""Which of the environment's tokens git may have: those of the host that it talks to.

Git hands its environment to credential helpers, to ssh and to whatever its configuration names.
`gh auth git-credential` answers with a token from there, and it must go on to do so.
"""

from urllib.parse import urlsplit

from ghp_agents.core import token_hosts
from ghp_agents.git import process as git
from ghp_agents.workspace import Workspace, users_settings


def for_remote(ws: Workspace, name: str) -> dict[str, str]:
    """The token variables for a git command that talks to the remote `name`, over web addresses
    alone. Without any in the environment nothing is asked."""
    present = {key: ws.environ[key] for key in token_hosts.TOKENS if ws.environ.get(key)}
    if not present:
        return {}
    allowed = [{*_names(ws, address)} for address in _addresses(ws, name)]
    fit = set.intersection(*allowed) if allowed else set()
    return {key: value for key, value in present.items() if key in fit}


def named_hosts(ws: Workspace) -> set[str]:
    """The hosts that the person named as GitHub's: by GH_HOST, the workflow that runs here, or
    the user's own configuration file; not by a file of the repository. Raises ConfigError."""
    own = users_settings(ws).github.get("host")
    return token_hosts.hosts_in(ws.environ) | ({own.lower()} if own else set())


def _names(ws: Workspace, address: str) -> tuple[str, ...]:
    try:
        parts = urlsplit(address)
    except ValueError:
        return ()
    if parts.scheme != "https" or not parts.hostname:
        return ()
    server = parts.netloc.rpartition("@")[2].lower()  # with its port
    if token_hosts.is_githubs(parts.hostname):
        return token_hosts.names(parts.hostname, ws.environ, ())
    return token_hosts.names(server, ws.environ, named_hosts(ws))


def _addresses(ws: Workspace, name: str) -> list[str]:
    """Where git fetches the remote from and pushes it to, as it reads its own configuration."""
    shown = git.run(["remote", "-v"], cwd=ws.common_dir, git_dir=ws.common_dir)
    lines = (line.partition("\t") for line in shown.text.splitlines())
    return [rest.rpartition(" (")[0] for remote, _, rest in lines if remote == name]
