"""Puts together what set-up and the doctor can do with a state in git."""

from collections.abc import Callable, Iterator
from functools import partial

from ghp_agents.core.finding import Finding
from ghp_agents.state.admin_port import StoreAdmin
from ghp_agents.state.git.admin import (
    clone_checks,
    create,
    integrity,
    leftovers,
    local_checks,
    probe,
    remove,
)
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
        checks={name: partial(check, ws) for name, check in _CHECKS.items()},
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


_CHECKS: dict[str, Callable[[Workspace], Iterator[Finding]]] = {
    "folder": local_checks.check_folder,
    "lock": leftovers.check_locks,
    "state": integrity.check_state,
    "left-over": leftovers.check_left_overs,
    "presence": local_checks.check_presence,
    "growth": integrity.check_growth,
    "view-tracked": local_checks.check_view,
    "twin": clone_checks.check_twin,
    "clock": clone_checks.check_clocks,
    "remote": clone_checks.check_remote,
}
