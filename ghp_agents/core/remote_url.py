"""Remote addresses: without credentials for display, and whether their host is public."""

import re

# Hosts where anyone can create a public repository.
PUBLIC_HOSTS = ("bitbucket.org", "codeberg.org", "git.sr.ht", "github.com", "gitlab.com")

_WEB_USER = re.compile(r"(?i)\b(https?|ftps?)://[^/\s'\"]*@")
# Each pattern stops at the next address or is bounded; otherwise long texts take quadratic time.
_PASSWORD = re.compile(r"\b([A-Za-z][\w+.-]{0,30})://([^/\s:@'\"]*):[^/\s'\"]*@")
_QUERY = re.compile(r"(://(?:(?!://)[^\s?#'\"])*)\?[^\s#'\"]+")
_HOST = re.compile(r"^[A-Za-z][\w+.-]*://(?:[^/@]*@)?([^/:]+)")
_SHORT_HOST = re.compile(r"^(?:[^/@]*@)?([^/:@]+):")  # git@host:path


def masked(text: str) -> str:
    """Text without credentials in addresses. A web address loses its user too, because a token can
    be the user; `git@` of ssh stays."""
    return _QUERY.sub(r"\1?***", without_users(text))


def without_users(text: str) -> str:
    """Like `masked`, but query strings stay: prose has links."""
    text = _WEB_USER.sub(r"\1://***@", text)
    return _PASSWORD.sub(r"\1://\2:***@", text)


def host_of(address: str) -> str | None:
    """The host in an address; None for a local folder."""
    host = _HOST.match(address) or (None if "://" in address else _SHORT_HOST.match(address))
    return host[1].lower() if host else None


def is_public(host: str | None) -> bool:
    """Whether repositories on this host are often public."""
    return host is not None and any(
        host == public or host.endswith(f".{public}") for public in PUBLIC_HOSTS
    )
