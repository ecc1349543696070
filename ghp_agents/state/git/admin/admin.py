"""Puts together what set-up and the doctor can do with a state in git."""

from functools import partial

from ghp_agents.state.admin_port import StoreAdmin
from ghp_agents.state.git.admin import create, integrity, leftovers, probe, remove
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.workspace import Workspace


def build_admin(ws: Workspace, store: GitRefsStore) -> StoreAdmin:
    """The `StoreAdmin` of `store`."""
    return StoreAdmin(
        sharing=partial(create.sharing, ws),
        missing=partial(create.missing, ws, store),
        last_probe=partial(probe.last_probe, ws),
        probe=partial(probe.probe, ws),
        belongings=partial(remove.belongings, ws),
        losses=partial(remove.losses, ws),
        remote_refs=partial(remove.remote_refs, ws),
        remove_remote_refs=partial(remove.remove_remote_refs, ws),
        repairs={
            "left-over": partial(leftovers.remove_left_overs, ws),
            "state": partial(integrity.mend_state, ws),
            "outbox": store.fold,
            "presence": store.fold,
            "growth": partial(integrity.pack, ws),
            "twin": store.sync,
            "unsent": store.sync,
        },
    )
