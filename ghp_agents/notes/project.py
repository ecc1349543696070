"""Which project this is, by the address at which its clones meet, however that is spelled."""

import re

from ghp_agents.core.ids import digest, slug

LOCAL = "local"  # there is one clone, and no name is needed to tell its notes from others

_SCHEME = re.compile(r"^[A-Za-z][\w+.-]*://")
_SHORT = re.compile(r"^((?:[^/@]*@)?[^/:@]+):(?!/)")  # git@host:path
_PORT = re.compile(r":\d+$")


def name(address: str | None) -> str:
    """The repository's own name: the same by https, by ssh and by a path."""
    return slug(_place(address).rpartition("/")[2], 60) or LOCAL if address else LOCAL


def scope(address: str | None) -> str:
    """A name that no other project has, for places that many projects share."""
    return f"{name(address)}-{digest(_place(address), length=8)}" if address else LOCAL


def _place(address: str) -> str:
    """`github.com/acme/shop`, from any address of it."""
    text = address.strip().rstrip("/")
    text = _SCHEME.sub("", text) if _SCHEME.match(text) else _SHORT.sub(r"\1/", text)
    host, slash, path = text.partition("/")
    host = _PORT.sub("", host.rpartition("@")[2]).lower()
    return f"{host}{slash}{path.strip('/')}".removesuffix(".git").rstrip("/")
