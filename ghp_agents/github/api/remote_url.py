"""The addresses of the repository's remotes, read without starting a process where possible."""

import re

from ghp_agents.core.token_hosts import is_githubs
from ghp_agents.git import plain_config
from ghp_agents.git import process as git
from ghp_agents.workspace import Workspace

_ADDRESS = re.compile(r"(?P<scheme>https?|ssh|git|git\+ssh)://(?:[^/@]*@)?(?P<rest>[^?#]+)")
_SHORT = re.compile(r"(?:[^/@:]+@)?(?P<host>[^/@:]+):(?P<path>[^?#]+)")
_PATH = re.compile(
    r"/*(?P<owner>[A-Za-z0-9][A-Za-z0-9-]*)/(?!\.(git|\.)?/*$)(?P<name>[A-Za-z0-9._-]+?)(\.git)?/*"
)


def addresses(ws: Workspace) -> list[str]:
    """The address of the coordination remote, then origin's; no others."""
    remotes = _read(ws)
    wanted = [name for name in (ws.settings.remote, "origin") if name]
    if remotes.keys().isdisjoint(wanted) and len(remotes) == 1:
        wanted = list(remotes)
    return list(dict.fromkeys([remotes[name] for name in wanted if name in remotes]))


def parse_remote_url(address: str) -> tuple[str, str] | None:
    """The host and "owner/name" of a web, ssh or scp-like address; None for any other.

    A port of an https address belongs to the host: the API is there, too.
    """
    web = _ADDRESS.fullmatch(address)
    if web:
        host, _, path = web["rest"].partition("/")
        host, _, port = host.partition(":")
        if web["scheme"] == "https" and port.isdecimal() and port != "443":
            host = host if is_githubs(_plain_host(host.lower())) else f"{host}:{port}"
    else:
        short = None if "://" in address else _SHORT.fullmatch(address)
        if short is None:
            return None
        host, path = short["host"], short["path"]
    place = _PATH.fullmatch(path)
    if place is None:
        return None
    return _plain_host(host.lower()), f"{place['owner']}/{place['name']}"


def _plain_host(host: str) -> str:
    """Map GitHub's other host names: `ssh.github.com` accepts ssh on the https port."""
    return "github.com" if host in ("www.github.com", "ssh.github.com") else host


def _read(ws: Workspace) -> dict[str, str]:
    """Remotes and their addresses: from a plain configuration file, else from git."""
    remotes = plain_config.remotes(ws.common_dir)
    if remotes is None or any(map(_may_be_short, remotes.values())):
        return _by_git(ws)
    return remotes


def _may_be_short(address: str) -> bool:
    """Whether `url.….insteadOf` may rewrite this address: `gh:owner/name`."""
    short = None if "://" in address else _SHORT.fullmatch(address)
    return short is not None and "." not in short["host"]


def _by_git(ws: Workspace) -> dict[str, str]:
    shown = git.run(["remote", "-v"], cwd=ws.common_dir, git_dir=ws.common_dir)
    remotes: dict[str, str] = {}
    for line in shown.text.splitlines() if shown.code == 0 else ():
        name, _, rest = line.partition("\t")
        if rest.endswith(" (fetch)"):
            remotes.setdefault(name, rest.removesuffix(" (fetch)"))
    return remotes
