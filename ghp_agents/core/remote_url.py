"""Addresses of remotes, as they may be shown: without credentials, and with who can read there."""

import re

# Hosts where whoever likes can make a repository that everybody can read.
PUBLIC_HOSTS = ("bitbucket.org", "codeberg.org", "git.sr.ht", "github.com", "gitlab.com")

_WEB_USER = re.compile(r"(?i)\b(https?|ftps?)://[^/\s'\"]*@")
# Each stops at the next address or is bounded: else a long text costs the square of its length.
_PASSWORD = re.compile(r"\b([A-Za-z][\w+.-]{0,30})://([^/\s:@'\"]*):[^/\s'\"]*@")
_QUERY = re.compile(r"(://(?:(?!://)[^\s?#'\"])*)\?[^\s#'\"]+")
_HOST = re.compile(r"^[A-Za-z][\w+.-]*://(?:[^/@]*@)?([^/:]+)")
_SHORT_HOST = re.compile(r"^(?:[^/@]*@)?([^/:@]+):")  # git@host:path


def masked(text: str) -> str:
    """Text in which no address carries credentials. A web address keeps no user at all, because a
    token can be the user; `git@` of ssh stays."""
    return _QUERY.sub(r"\1?***", without_users(text))


def without_users(text: str) -> str:
    """Like `masked`, but what an address asks for stays: pages of prose have links."""
    text = _WEB_USER.sub(r"\1://***@", text)
    return _PASSWORD.sub(r"\1://\2:***@", text)


def host_of(address: str) -> str | None:
    """The host that an address names; None for a folder of this machine."""
    found = _HOST.match(address) or (None if "://" in address else _SHORT_HOST.match(address))
    return found[1].lower() if found else None


def is_public(host: str | None) -> bool:
    """Whether repositories there are often public."""
    return host is not None and any(host == one or host.endswith(f".{one}") for one in PUBLIC_HOSTS)
