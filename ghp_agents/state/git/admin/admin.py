"""The ground of a state in git: what set-up and the doctor can do with it, put together."""

from collections.abc import Callable, Iterator
from functools import partial

from ghp_agents.core.finding import Finding, Repair
from ghp_agents.ports import StateStore
from ghp_agents.state.admin_port import StoreAdmin
from ghp_agents.state.git.admin import clone_checks as clones
from ghp_agents.state.git.admin import create as making
from ghp_agents.state.git.admin import integrity as soundness
from ghp_agents.state.git.admin import leftovers as leavings
from ghp_agents.state.git.admin import local_checks as checks
from ghp_agents.state.git.admin import probe as probing
from ghp_agents.state.git.admin import remove as removing
from ghp_agents.workspace import Workspace


def build_admin(ws: Workspace, store: StateStore) -> StoreAdmin:
    """The ground under `store`."""
    return StoreAdmin(
        sharing=partial(making.sharing, ws),
        missing=partial(making.missing, ws, store),
        last_probe=partial(probing.last_probe, ws),
        probe=partial(probing.probe, ws),
        belongings=partial(removing.belongings, ws),
        losses=partial(removing.losses, ws),
        remote_refs=partial(removing.remote_refs, ws),
        remove_remote_refs=partial(removing.remove_remote_refs, ws),
        checks={name: partial(check, ws) for name, check in _CHECKS.items()},
        repairs=_repairs(ws, store),
    )


_CHECKS: dict[str, Callable[[Workspace], Iterator[Finding]]] = {
    "folder": checks.check_folder,
    "lock": leavings.check_locks,
    "state": soundness.check_state,
    "left-over": leavings.check_left_overs,
    "presence": checks.check_presence,
    "growth": soundness.check_growth,
    "view-tracked": checks.check_view,
    "twin": clones.check_twin,
    "clock": clones.check_clocks,
    "remote": clones.check_remote,
}


def _repairs(ws: Workspace, store: StateStore) -> dict[str, Repair]:
    return {
        "left-over": partial(leavings.remove_left_overs, ws),
        "state": partial(soundness.mend_state, ws),
        "outbox": store.fold,
        "presence": store.fold,
        "growth": partial(soundness.pack, ws),
        "twin": store.sync,
        "unsent": store.sync,
    }
