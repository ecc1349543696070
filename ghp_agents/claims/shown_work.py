"""What is shown of an agent's work: its presence, corrected by its claim and by an order to stop.

An agent writes its presence at its own next step. Until then the presence shows an issue that was
merged, released or taken by somebody else.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ghp_agents.claims.claim import fence_of
from ghp_agents.hotpath.lost_claim import LostClaim
from ghp_agents.locks.names import PREFIX
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import stopping
from ghp_agents.presence.service import AgentView
from ghp_agents.presence.stop_order import FOLDER

OF_CLAIM = ("pull", "generation")  # fields that end with the claim


def shown(ctx: Context, snapshot: Snapshot, views: Iterable[AgentView]) -> list[AgentView]:
    """The agents, as people and other agents should see them."""
    views = [*views]
    has_claims = any("generation" in view.presence for view in views)
    if not has_claims and not snapshot.files(FOLDER):
        return views
    orders = stopping.in_force(ctx, snapshot)
    known = {lock.name: lock for lock in ctx.locks.known(PREFIX)} if has_claims else {}
    found: list[AgentView] = []
    for view in views:
        fence = fence_of(known, view.name, view.presence, view.clone or ctx.locks.clone)
        fields = _corrected(view.presence, fence, is_told=view.name in orders)
        found.append(view._replace(presence=fields))
    return found


def _corrected(
    presence: Mapping[str, Any], fence: LostClaim | None, *, is_told: bool
) -> Mapping[str, Any]:
    has_stopped = presence.get("status") == "stopped"
    fields = dict(presence)
    if fence:
        fields = {key: value for key, value in fields.items() if key not in OF_CLAIM}
        fields |= {"issue": None, "lastAction": fence.short}
        fields |= {} if has_stopped else {"status": "idle"}
    if is_told and not has_stopped:
        fields["status"] = "stopping"
    return fields
