"""The orders to stop that are in force, and the agents of this clone that have obeyed one."""

from collections.abc import Collection, Mapping, Sequence

from ghp_agents.core.ids import AgentName
from ghp_agents.core.moment import derived
from ghp_agents.hotpath import alive, heartbeat
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import client_process, stop_order
from ghp_agents.presence.stop_order import FOLDER, StopOrder
from ghp_agents.workspace import Workspace

RESTING = ("idle", "stopped", "waiting")  # no turn is running


def in_force(ctx: Context, snapshot: Snapshot) -> dict[str, StopOrder]:
    """The orders to stop, by agent."""
    orders = stop_order.newest(read_orders(snapshot), ctx.ws.settings.orchestrators)
    agents = snapshot.agents()
    return {name: x for name, x in orders.items() if stop_order.binds(x, agents.get(name, {}))}


@derived
def read_orders(snapshot: Snapshot) -> Sequence[StopOrder]:
    """All orders to stop."""
    return stop_order.read_orders(snapshot.files(FOLDER))[0]


def settle(
    ctx: Context, snapshot: Snapshot, names: Collection[str], *, ended: bool = False
) -> list[AgentName]:
    """Mark as stopped the agents that were told to stop and do nothing now: they rest, or their
    process has `ended`. Returns all of them that have stopped."""
    orders = in_force(ctx, snapshot)
    ordered = [name for name in names if name in orders]
    over = ordered if ended else client_process.ended(ctx.ws, ordered)
    return [AgentName(name) for name in ordered if _settle(ctx.ws, name, name in over)]


def _settle(ws: Workspace, name: str, ended: bool) -> bool:
    presence = ws.presence(name)
    if presence is None:
        return False  # it is in another clone
    rests = presence.get("status") in RESTING or alive.process_lives(presence) is False
    if presence.get("status") != "stopped" and (rests or ended):
        mark(ws, name, presence)
    return rests or ended


def mark(ws: Workspace, name: str, presence: Mapping[str, object]) -> None:
    """Mark an agent of this clone as stopped."""
    session = presence.get("session")
    heartbeat.beat(
        ws.folders, name, {"status": "stopped"}, ws.clock.now(),
        session=session if isinstance(session, str) else None, moment=ws.clock.interval(),
    )  # fmt: skip
