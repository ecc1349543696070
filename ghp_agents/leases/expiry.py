"""Leases of other clones whose time is up, as far as this clone can tell.

Clocks of other machines lie, so no time of theirs is compared with one of ours. Both times in a
record are of one clock, so how long a lease was taken for is known; an observer counts that from
when *it* first saw the lease so, and only up to its last news. A clone that goes silent keeps
nothing for longer than it asked for.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from ghp_agents.core import files
from ghp_agents.leases.record import FOLDER, LeaseHistory, read_leases
from ghp_agents.ports import Snapshot, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.workspace import Workspace

NOTED = "lapses.json"

Noted = Mapping[str, tuple[str, float]]  # by lease: what gave it its time, and when that was seen


def observe(ws: Workspace, store: StateStore) -> None:
    """Note the leases with a time that are new here, and forget those that have ended; for a sync,
    which brings them."""
    snapshot = store.snapshot()
    known = timed(snapshot, read_leases(snapshot.files(FOLDER))[0])
    had = _read(ws)
    if known or had:
        _keep(ws, had, _noted(had, known, ws.steady()))


def expired(
    ws: Workspace, store: StateStore, snapshot: Snapshot, logs: Iterable[LeaseHistory]
) -> frozenset[str]:
    """The ids of those leases whose time is up."""
    ends = ends_at(ws, snapshot, logs)
    now = ws.steady() if ends else 0.0
    if not any(end <= now for end in ends.values()):
        return frozenset()
    news_at = presence.news_at(ws, store) or 0.0
    return frozenset(lease for lease, end in ends.items() if end <= min(news_at, now))


def ends_at(ws: Workspace, snapshot: Snapshot, logs: Iterable[LeaseHistory]) -> dict[str, float]:
    """By this clone's steady clock, from when on news prove a lease of another clone over."""
    known = timed(snapshot, logs)
    noted = _note(ws, known) if known else {}
    return {log.id: noted[log.id][1] + (log.lasts or 0.0) for log in known}


def timed(snapshot: Snapshot, logs: Iterable[LeaseHistory]) -> list[LeaseHistory]:
    """Those of other clones that are held for a time."""
    return [
        log
        for log in logs
        if log.is_open and log.lasts is not None and log.request.clone != snapshot.clone
    ]


def _note(ws: Workspace, known: Sequence[LeaseHistory]) -> Noted:
    """When each was first seen here with the time that it has."""
    had = _read(ws)
    noted = had | _noted(had, known, ws.steady())
    _keep(ws, had, noted)
    return noted


def _noted(had: Noted, known: Sequence[LeaseHistory], now: float) -> dict[str, tuple[str, float]]:
    noted: dict[str, tuple[str, float]] = {}
    for log in known:
        said = log.timed.id if log.timed else ""
        before, seen = had.get(log.id, ("", now))
        # When the machine was started anew, what was seen before is seen anew.
        noted[log.id] = (said, seen if before == said and seen <= now else now)
    return noted


def _keep(ws: Workspace, had: Noted, noted: Noted) -> None:
    if noted != had:
        _write(ws, noted)


def _read(ws: Workspace) -> dict[str, tuple[str, float]]:
    try:
        known = json.loads((ws.cache_dir / NOTED).read_bytes())
        return {str(name): (str(one), float(seen)) for name, (one, seen) in known.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _write(ws: Workspace, noted: Noted) -> None:
    try:
        files.write_atomically(ws.cache_dir / NOTED, json.dumps(noted).encode())
    except OSError:
        return  # where nothing can be written, each look is the first
