"""A token that is never printed, and its sources: the environment, or `gh`."""

import json
import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress

from ghp_agents.core import files, process
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import digest
from ghp_agents.core.token_hosts import TOKENS, names
from ghp_agents.workspace import Workspace

GH_SECONDS = 10.0
ASK_AGAIN = 3_600.0  # seconds before `gh` is asked again if it had no token
GH_CACHE = "gh.json"


class Token:
    """A secret. Neither `str` nor `repr` shows it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        return "Token(***)"

    def reveal(self) -> str:
        """The secret itself, for the one header that needs it."""
        return self._secret

    def fingerprint(self, api: str) -> str:
        """Identifies the token in file names; it cannot be reversed."""
        return digest("token", api, self._secret, length=16)

    def masked(self, text: str) -> str:
        """`text` without the secret."""
        return text.replace(self._secret, "***")


def of_environment(environ: Mapping[str, str], host: str, named: Collection[str]) -> Token | None:
    """The environment's token for a host. `named` are the hosts that the person named, besides
    GitHub's own. A repository names none: a token is never sent to a host that only the repository
    names."""
    for name in names(host, environ, named):
        value = environ.get(name, "").strip()
        if value and value.isascii() and value.isprintable() and " " not in value:
            return Token(value)
    return None


def of_gh(ws: Workspace, host: str, *, again: bool = False) -> Token | None:
    """The token that `gh` has for this host.

    `gh` runs without the environment's tokens, because it would print a server's token for any
    host. A missing token is remembered for an hour; `again` asks anyway.
    """
    program = shutil.which("gh", path=ws.environ.get("PATH"))
    if program is None or (not again and _had_none(ws, host)):
        return None
    command = [program, "auth", "token", "--hostname", host]
    env = {name: value for name, value in ws.environ.items() if name not in TOKENS}
    try:
        ended = process.run(command, cwd=ws.common_dir, env=env, timeout=GH_SECONDS)
    except (GhpError, OSError):
        return None
    secret = ended.out.strip()
    if ended.code == 0 and secret and secret.isascii() and " " not in secret:
        return Token(secret)
    _remember_none(ws, host)
    return None


def _had_none(ws: Workspace, host: str) -> bool:
    try:
        known = json.loads((ws.cache_dir / "hub" / GH_CACHE).read_bytes())
        age = ws.clock.now() - float(known[host])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return 0 <= age < ASK_AGAIN


def _remember_none(ws: Workspace, host: str) -> None:
    content = json.dumps({host: ws.clock.now()}).encode()
    with suppress(OSError):  # then `gh` is asked once more
        files.write_atomically(ws.cache_dir / "hub" / GH_CACHE, content)
