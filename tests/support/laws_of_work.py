"""The laws of what is kept in a simulated world: records that were confirmed, and work."""

from collections.abc import Iterator

from ghp_agents.core.ids import CloneId
from ghp_agents.handoffs.record import PATCHES
from ghp_agents.hotpath import alive
from ghp_agents.locks.names import claim_name
from ghp_agents.state import ledger
from tests.support.laws import require
from tests.support.world import World
from tests.support.world_records import SENT_WITHIN, Work


def sent_ids(world: World, clone: int) -> set[str]:
    """The records of a clone that the remote has."""
    history = world.hub.histories.get(CloneId(f"clone-{clone}"), ())
    return {
        entry.id for commit in history for entry in ledger.entries("", commit.at, commit.message)
    }


def recorded(world: World, clone: int) -> set[str]:
    """The records that commands in a clone confirmed."""
    return {record for number, record in world.committed if number == clone}


def forget_unsent(world: World, clone: int) -> None:
    """A clone is there no more: what the remote does not have of it is lost, and no law says that
    it is not."""
    sent = sent_ids(world, clone)
    world.committed = [x for x in world.committed if x[0] != clone or x[1] in sent]
    name = f"clone-{clone}"
    world.letters = [x for x in world.letters if x.clone != name or x.id in sent]


def check_delivered(world: World, clone: int, since: float) -> None:
    """What a silent session confirmed is on the remote soon."""
    took = world.clock.now() - since
    require(took <= SENT_WITHIN, "what a session confirmed is sent in time", clone, took)
    lost = recorded(world, clone) - sent_ids(world, clone)
    require(not lost, "what a silent session confirmed is on the remote", clone, lost)


def check_met(world: World, *clones: int) -> None:
    """Clones have synced: each knows what was confirmed in any of them."""
    for one in clones:
        known = {entry.id for entry in world.clones[one].store.ledger()}
        for other in clones:
            lost = recorded(world, other) - known
            require(not lost, "who has synced knows what was confirmed", one, other, lost)


def check_left(world: World) -> None:
    """All have synced: the work of who ended, or lost the claim, is in every clone."""
    for work in left(world):
        for clone in world.clones.values():
            patches = clone.store.snapshot().files(PATCHES).values()
            is_there = any(work.text.encode() in patch for patch in patches)
            require(is_there, "no work of who ended is out of reach", work, clone.number)


def left(world: World) -> Iterator[Work]:
    """The work in the worktrees of agents that have ended, or have not the issue."""
    for work in world.works:
        ws = world.workspace(work.clone, None)
        lock = world.board.leases.get(claim_name(work.issue))
        lives = alive.lives(ws.folders, work.agent, ws.clock.now())
        if not lives or lock is None or lock.holder != work.agent:
            yield work
