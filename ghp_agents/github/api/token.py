"""A token that is never printed, and its sources: the environment, or `gh`."""

import math
from collections.abc import Collection, Mapping
from typing import Any

from ghp_agents.core import process, stored_logins
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import digest
from ghp_agents.core.json_file import JsonFile
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
    import shutil  # costs what a tenth of click costs

    program = shutil.which("gh", path=ws.environ.get("PATH"))
    age = ws.clock.now() - _without_token(ws).read().get(host, math.inf)
    is_known = not again and 0 <= age < ASK_AGAIN
    if program is None or is_known or stored_logins.are_hidden(ws.environ):
        return None
    name = host.partition(":")[0]  # `gh` accepts no ports
    command = [program, "auth", "token", "--hostname", name]
    environ = stored_logins.given_back(ws.environ)
    env = {name: value for name, value in environ.items() if name not in TOKENS}
    try:
        ended = process.run(command, cwd=ws.common_dir, env=env, timeout=GH_SECONDS)
    except (GhpError, OSError):
        return None
    secret = ended.out.strip()
    if ended.code == 0 and secret and secret.isascii() and " " not in secret:
        return Token(secret)
    _without_token(ws).write({host: ws.clock.now()})
    return None


def _without_token(ws: Workspace) -> JsonFile[dict[str, float]]:
    """By host: when `gh` had no token for it."""
    return JsonFile(ws.cache_dir / "hub" / GH_CACHE, _decode, dict)


def _decode(value: Any) -> dict[str, float]:
    return {str(host): float(at) for host, at in value.items()}
