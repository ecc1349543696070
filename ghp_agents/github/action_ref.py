"""The reference of this program's action: workflows pin it to the installed commit."""

import json
import re
from importlib import metadata

from ghp_agents.core.errors import UsageError

PACKAGE = "ghp-agents"
_ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAMED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", re.ASCII)


def checked(named: str) -> str:
    """Validate an action that a person names, `owner/name@commit`. Raises UsageError for any other
    form: a tag or a branch can be moved to other code."""
    if not _NAMED.fullmatch(named):
        raise UsageError(
            f"{named[:80]!r} is not an action with a full commit.",
            hint="Use --action OWNER/NAME@COMMIT with all 40 digits of the commit.",
        )
    return named


def address() -> str:
    """`owner/name@commit # vX` if this program was installed from GitHub; else an empty string."""
    try:
        installed = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:  # a checkout that is only on the path
        return ""
    source = pinned(installed.read_text("direct_url.json") or "")
    return f"{source} # v{installed.version}" if source else ""


def pinned(direct_url: str) -> str:
    """`owner/name@commit` from pip's record of an installation from a repository; else an empty
    string."""
    try:
        noted = json.loads(direct_url)
        url = _ADDRESS.fullmatch(noted["url"])
        commit = _COMMIT.fullmatch(noted["vcs_info"]["commit_id"])
    except (ValueError, KeyError, TypeError):
        return ""
    return f"{url[1]}@{commit[0]}" if url and commit else ""
