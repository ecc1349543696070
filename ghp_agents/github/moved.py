"""A repository that was renamed or moved to another owner: GitHub redirects, and people read it
once."""

from ghp_agents.core.ids import one_line
from ghp_agents.github.api.access import is_first
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
    text = words(hub)
    return [f"{text} {HINT}"] if text and is_first(ws, "moved", text) else []
