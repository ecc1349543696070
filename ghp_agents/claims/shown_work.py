"""What is shown of an agent's work: its presence, corrected by its claim and by an order to stop.

An agent writes its presence at its own next step. Until then the presence shows an issue that was
merged, released or taken by somebody else.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ghp_agents.claims.claim import fence_of
from ghp_agents.hotpath.lost_claim import LostClaim
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import stopping
from ghp_agents.presence.service import AgentView
from ghp_agents.presence.stop_order import FOLDER
from ghp_agents.state.presence import Agents

OF_CLAIM = ("pull", "generation")  # fields that end with the claim


def shown(ctx: Context, snapshot: Snapshot, views: Iterable[AgentView]) -> list[AgentView]:
    """The agents, as people and other agents should see them."""
    views = [*views]
    clones = {view.name: view.clone or "" for view in views}
    fields = presences(ctx, snapshot, {view.name: view.presence for view in views}, clones)
    return [view._replace(presence=fields[view.name]) for view in views]


def presences(
    ctx: Context, snapshot: Snapshot, agents: Agents, clones: Mapping[str, str]
) -> Agents:
    """The presences, as people and other agents should see them; `clones` are where they live. An
    agent that lost a claim goes on with another issue that it holds."""
    has_claims = any("generation" in fields for fields in agents.values())
    if not has_claims and not snapshot.files(FOLDER):
        return agents
    orders = stopping.in_force(ctx, snapshot)
    locks = ctx.world.claim_locks if has_claims else {}
    shown: dict[str, Mapping[str, Any]] = {}
    for name, fields in agents.items():
        fence = fence_of(locks, name, fields, clones.get(name) or ctx.locks.clone)
        other = locks.get(fence.other) if fence else None
        shown[name] = _corrected(fields, fence, other, is_told=name in orders)
    return shown


def _corrected(
    presence: Mapping[str, Any], fence: LostClaim | None, other: Lock | None, *, is_told: bool
) -> Mapping[str, Any]:
    has_stopped = presence.get("status") == "stopped"
    fields = dict(presence)
    if fence:
        fields = {key: value for key, value in fields.items() if key not in OF_CLAIM}
        fields |= {"issue": fence.other or None, "lastAction": fence.short}
        fields |= {"generation": other.generation} if other else {}
        fields |= {} if has_stopped else {"status": "planning" if other else "idle"}
    if is_told and not has_stopped:
        fields["status"] = "stopping"
    return fields
