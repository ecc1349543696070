"""The project's name, from the remote's address in any spelling."""

import re

from ghp_agents.core.ids import digest, slug

LOCAL = "local"  # without a remote there is one clone, and its notes need no name

_SCHEME = re.compile(r"^[A-Za-z][\w+.-]*://")
_SHORT = re.compile(r"^((?:[^/@]*@)?[^/:@]+):(?!/)")  # git@host:path
_PORT = re.compile(r":\d+$")


def name(address: str | None) -> str:
    """Return the repository's name: the same for https, ssh and a path."""
    return slug(_place(address).rpartition("/")[2], 60) or LOCAL if address else LOCAL


def scope(address: str | None) -> str:
    """Return a name that is unique among projects, for places that many projects share."""
    return f"{name(address)}-{digest(_place(address), length=8)}" if address else LOCAL


def _place(address: str) -> str:
    """Return `github.com/acme/shop`, from any of its addresses."""
    text = address.strip().rstrip("/")
    text = _SCHEME.sub("", text) if _SCHEME.match(text) else _SHORT.sub(r"\1/", text)
    host, slash, path = text.partition("/")
    host = _PORT.sub("", host.rpartition("@")[2]).lower()
    return f"{host}{slash}{path.strip('/')}".removesuffix(".git").rstrip("/")
