"""Issues from GitHub that cannot be parsed, and why, until they can be."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.core import files

UNREAD = "hub/unread.json"  # in the folder of caches


def load(folder: Path, repository: str) -> dict[int, str]:
    """The unreadable issues of a repository by number, each with the reason."""
    try:
        reasons = json.loads((folder / UNREAD).read_bytes())[repository]
        return {int(number): str(why) for number, why in reasons.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def store(folder: Path, repository: str, unread: Mapping[int, str]) -> None:
    """Remember unreadable issues; if that fails, they are not reported."""
    if unread == load(folder, repository):
        return
    content = json.dumps({repository: dict(sorted(unread.items()))}).encode()
    with contextlib.suppress(OSError):
        files.write_atomically(folder / UNREAD, content)
