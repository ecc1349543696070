"""A repository that was renamed or moved to another owner: GitHub redirects, and people read it
once."""

from contextlib import suppress

from ghp_agents.core.ids import one_line
from ghp_agents.core.json_file import object_file
from ghp_agents.github.api.access import SHOWN_ONCE
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.workspace import Workspace

HINT = (
    "Correct the remote's address (`git remote set-url`), or `agents.github.repository`: the old "
    "name stops working when somebody creates a repository with it."
)


def words(hub: GitHubRepository) -> str:
    """What people read; empty if the repository has its old name, or nothing is known. Sends no
    request."""
    name = one_line(hub.moved_to or "", 140)
    if name.casefold() in ("", hub.repository.casefold()):
        return ""
    return f"{hub.repository} is now {name} on GitHub, which redirects."


def notes(ws: Workspace, hub: GitHubRepository) -> list[str]:
    """The same as notes of a sync, once in each clone."""
    text, noted = words(hub), object_file(ws.cache_dir / "hub" / SHOWN_ONCE)
    if not text or noted.read().get("moved") == text:
        return []
    with suppress(OSError):
        (ws.cache_dir / "hub").mkdir(parents=True, exist_ok=True)
    noted.write({**noted.read(), "moved": text})
    return [f"{text} {HINT}"]
