"""What a sweeper remembers between runs: when it first saw each agent and clone.

A permanent clone keeps it in its cache. Ephemeral clones keep it in the state, under the id that
they share: they are one observer, on any machine.
"""

import json
from collections.abc import Mapping
from typing import Any

from ghp_agents.claims import holder_liveness
from ghp_agents.core import files
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.state import ledger
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.sweep.plan import Silent
from ghp_agents.workspace import Workspace, now_text

CLONES = "clones-seen.json"
NOTES = (presence.SIGHTINGS, presence.TURNS, holder_liveness.NOTED, CLONES)
FOLDER = ".ghp/sweeps/"


def path_of(clone: CloneId) -> str:
    """Return the path of the memory of sweepers with this id."""
    return f"{FOLDER}{clone}/memory.json"


def restore(ctx: Context) -> None:
    """Restore the memory of the last run. Raises OSError."""
    snapshot = ctx.store.snapshot()
    path = path_of(snapshot.clone)
    kept = _read(snapshot.files(FOLDER).get(path, b""))
    for name in NOTES:
        if isinstance(kept.get(name), dict):
            files.write_atomically(ctx.ws.cache_dir / name, json.dumps(kept[name]).encode())


def keep(ctx: Context, by: Actor) -> bool:
    """Save the memory in the state; return whether it had changed."""
    content = json.dumps(
        {name: _read_cache(ctx.ws, name) for name in NOTES}, indent=1, sort_keys=True
    ).encode()

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
    now, previous = ws.steady(), _read_cache(ws, CLONES)
    seen: dict[str, list[Any]] = {}
    silent: list[Silent] = []
    for tip in snapshot.tips():
        if tip.clone == snapshot.clone:
            continue
        oid, first = _parse_sighting(previous.get(tip.clone))
        # After a reboot the steady clock restarts, so old times do not count.
        same = oid == tip.oid and first <= now
        seen[tip.clone] = [tip.oid, first if same else now]
        silent.append(Silent(tip, max(0.0, (news_at or 0.0) - seen[tip.clone][1])))
    if seen != previous:
        _write(ws, CLONES, seen)
    return tuple(silent)


def _parse_sighting(value: Any) -> tuple[str, float]:
    match value:
        case [str(oid), int() | float() as first]:
            return oid, first
    return "", 0.0


def _read_cache(ws: Workspace, name: str) -> dict[str, Any]:
    try:
        return _read((ws.cache_dir / name).read_bytes())
    except OSError:
        return {}


def _read(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _write(ws: Workspace, name: str, value: Mapping[str, Any]) -> None:
    try:
        files.write_atomically(ws.cache_dir / name, json.dumps(value).encode())
    except OSError:
        return  # without a cache, each run is the first
