"""Which tracker a clone without a token has: the one that other clones recorded in the state."""

from ghp_agents.git.silence import NEEDLESS_S
from ghp_agents.github.api import access
from ghp_agents.github.tokenless import place
from ghp_agents.github.tokenless.place import MIRROR, Tracker
from ghp_agents.ports import StateStore
from ghp_agents.workspace import Workspace


def find(ws: Workspace, store: StateStore) -> Tracker | None:
    """The recorded tracker; None if nobody recorded one, or if the settings keep issues here.

    A clone of a repository on GitHub that never fetched the state does so first: else it would
    number its own issues.
    """
    if ws.settings.tracker == "local" or not ws.settings.push:
        return None
    if ws.settings.tracker == "github" or access.where(ws) is not None:
        status = store.sync_status()
        if status.remote and status.news_at is None:
            store.hear(min(ws.settings.timeout, NEEDLESS_S), needed=True)
    return place.read_tracker(store.snapshot().present(MIRROR))
