"""What a sweeper remembers from one run to the next: when it first saw whom where.

A clone that stays has that in its cache. One that is made only to sweep keeps it in the state,
under the id that all of them go by: it is one observer, whatever machine it runs on.
"""

import json
from collections.abc import Mapping
from typing import Any

from ghp_agents.claims import holder_liveness
from ghp_agents.core import files
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest
from ghp_agents.ports import Snapshot, StateStore
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
    """Where the memory of sweepers that go by this id is."""
    return f"{FOLDER}{clone}/memory.json"


def restore(ws: Workspace, store: StateStore) -> None:
    """Take up the memory where the last run left it. Raises OSError."""
    snapshot = store.snapshot()
    path = path_of(snapshot.clone)
    kept = _read(snapshot.files(FOLDER).get(path, b""))
    for name in NOTES:
        if isinstance(kept.get(name), dict):
            files.write_atomically(ws.cache_dir / name, json.dumps(kept[name]).encode())


def keep(ws: Workspace, store: StateStore, by: Actor) -> bool:
    """Put the memory into the state; whether there was something new."""
    content = json.dumps(
        {name: _read_cache(ws, name) for name in NOTES}, indent=1, sort_keys=True
    ).encode()

    def decide(snapshot: Snapshot) -> tuple[bool, list[Record]]:
        path = path_of(snapshot.clone)
        if snapshot.files(FOLDER).get(path) == content:
            return False, []
        # Presence, as the ledger sees it: what somebody saw passes, and is no event.
        return True, [
            Record(
                event=ledger.PRESENCE,
                actor=by,
                object="as it was seen",
                id=digest("sweep", content.decode()),
                at=Timestamp(now_text(ws)),
                clock=snapshot.clock + 1,
                files=((path, content),),
            )
        ]

    return transact(store, decide)


def clones(ws: Workspace, snapshot: Snapshot, news_at: float | None) -> tuple[Silent, ...]:
    """The other clones, and for how long each is known to have said nothing."""
    now, previous = ws.steady(), _read_cache(ws, CLONES)
    seen: dict[str, list[Any]] = {}
    silent: list[Silent] = []
    for tip in snapshot.tips():
        if tip.clone == snapshot.clone:
            continue
        oid, first = _sighting(previous.get(tip.clone))
        # When the machine was started anew, what was seen before is seen anew.
        same = oid == tip.oid and first <= now
        seen[tip.clone] = [tip.oid, first if same else now]
        silent.append(Silent(tip, max(0.0, (news_at or 0.0) - seen[tip.clone][1])))
    if seen != previous:
        _write(ws, CLONES, seen)
    return tuple(silent)


def _sighting(value: Any) -> tuple[str, float]:
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
        return  # where nothing can be kept, each look is the first
