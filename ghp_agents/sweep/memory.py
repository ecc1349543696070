"""What a sweeper remembers between runs: when it first saw each agent and clone.

A permanent clone keeps it in its cache. Ephemeral clones keep it in the state, under the id that
they share: they are one observer, on any machine.
"""

import json
from typing import Any, NotRequired, TypedDict

from ghp_agents.core import files, json_file
from ghp_agents.core.fields import parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest
from ghp_agents.core.json_file import object_file
from ghp_agents.core.schema_version import versioned
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.state import ledger, observed
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.sweep import kept_cache
from ghp_agents.sweep.plan import Silent
from ghp_agents.workspace import Workspace, now_text

CLONES = "clones-seen.json"
NOTES = (
    observed.SIGHTINGS, presence.TURNS, observed.CLAIMS, CLONES, kept_cache.NOTE,
)  # fmt: skip
FOLDER = ".ghp/sweeps/"

MemoryFile = TypedDict(
    "MemoryFile",
    {
        "sightings.json": dict[str, Any],
        "turns.json": dict[str, Any],
        "claims.json": dict[str, Any],
        "clones-seen.json": dict[str, Any],
        "kept-answers.json": NotRequired[dict[str, Any]],
    },
)


def path_of(clone: CloneId) -> str:
    """Return the path of the memory of sweepers with this id."""
    return f"{FOLDER}{clone}/memory.json"


def restore(ctx: Context) -> None:
    """Restore the memory of the last run. Raises OSError."""
    snapshot = ctx.store.snapshot()
    path = path_of(snapshot.clone)
    kept = _decode(snapshot.files(FOLDER).get(path, b""))
    for name in NOTES:
        if isinstance(kept.get(name), dict):
            files.write_atomically(ctx.ws.cache_dir / name, json.dumps(kept[name]).encode())


def keep(ctx: Context, by: Actor) -> bool:
    """Save the memory in the state; return whether it had changed."""
    kept = {name: object_file(ctx.ws.cache_dir / name).read() for name in NOTES}
    content = json.dumps(versioned(kept), indent=1, sort_keys=True).encode()

    def decide(snapshot: Snapshot) -> tuple[bool, list[Record]]:
        path = path_of(snapshot.clone)
        if snapshot.files(FOLDER).get(path) == content:
            return False, []
        # The ledger treats it as presence: it is an observation, not an event.
        return True, [
            Record(
                event=ledger.PRESENCE,
                actor=by,
                object="as it was seen",
                id=digest("sweep", content.decode()),
                at=Timestamp(now_text(ctx.ws)),
                clock=snapshot.clock + 1,
                files=((path, content),),
            )
        ]

    return transact(ctx.store, decide)


def clones(ws: Workspace, snapshot: Snapshot, news_at: float | None) -> tuple[Silent, ...]:
    """Return the other clones, and how long each is known to have been silent."""
    others = [tip for tip in snapshot.tips() if tip.clone != snapshot.clone]
    oids = {str(tip.clone): tip.oid for tip in others}
    sightings = json_file.note_first_seen(ws.cache_dir / CLONES, oids, ws.steady(), forget=True)
    return tuple(
        Silent(tip, max(0.0, (news_at or 0.0) - sightings[tip.clone].since)) for tip in others
    )


def _decode(content: bytes) -> dict[str, Any]:
    try:
        return parse(content)
    except ValueError:  # of another version, too: then this sweeper starts from nothing
        return {}
