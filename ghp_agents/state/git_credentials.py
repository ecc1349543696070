"""Which token from the environment git may have: that of the host it talks to.

Git passes its environment to credential helpers, ssh and any configured program. `gh auth
git-credential` reads its token there, and this must keep working.
"""

from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from ghp_agents.core import token_hosts
from ghp_agents.git import process as git
from ghp_agents.settings.load import of_person
from ghp_agents.workspace import Workspace


def for_remote(ws: Workspace, name: str) -> dict[str, str]:
    """The token variables for a git command with the remote `name`; only for web addresses. Without
    tokens in the environment, git is not asked for the addresses."""
    present = {key: ws.environ[key] for key in token_hosts.TOKENS if ws.environ.get(key)}
    if not present:
        return {}
    allowed = [{*_names(ws, address)} for address in _addresses(ws, name)]
    fit = set.intersection(*allowed) if allowed else set()
    return {key: value for key, value in present.items() if key in fit}


def for_address(ws: Workspace, address: str) -> dict[str, str]:
    """The token variables for a git command with one address."""
    fit = _names(ws, address)
    return {key: ws.environ[key] for key in token_hosts.TOKENS
            if key in fit and ws.environ.get(key)}  # fmt: skip


def named_hosts(ws: Workspace) -> set[str]:
    """The GitHub hosts that the person named: by GH_HOST, the current workflow, or the user's own
    configuration file. Files of the repository do not count. Raises ConfigError."""
    own = of_person(ws.ground).github.get("host")
    return token_hosts.hosts_in(ws.environ) | ({own.lower()} if own else set())


def _names(ws: Workspace, address: str) -> tuple[str, ...]:
    try:
        parts = urlsplit(address)
    except ValueError:
        return ()
    if parts.scheme != "https" or not parts.hostname:
        return ()
    server = parts.netloc.rpartition("@")[2].lower()  # including its port
    if token_hosts.is_githubs(parts.hostname):
        return token_hosts.names(parts.hostname, ws.environ, ())
    return token_hosts.names(server, ws.environ, named_hosts(ws))


def _addresses(ws: Workspace, name: str) -> list[str]:
    """The remote's fetch and push addresses, by git's configuration."""
    try:
        file = (ws.common_dir / "config").stat()
    except OSError:
        return []
    version = (file.st_ino, file.st_mtime_ns, file.st_size)  # git writes it as a new file
    return [address for remote, address in _listed(ws.common_dir, version) if remote == name]


@lru_cache(maxsize=8)  # one command talks to the remote up to ten times
def _listed(common_dir: Path, version: tuple[int, ...]) -> list[tuple[str, str]]:
    """The names and addresses of all remotes in this version of the configuration."""
    shown = git.run(["remote", "-v"], cwd=common_dir, git_dir=common_dir)
    lines = (line.partition("\t") for line in shown.text.splitlines())
    return [(remote, rest.rpartition(" (")[0]) for remote, _, rest in lines]
