"""Expired leases of other clones, as far as this clone can tell.

Clocks of other machines may be wrong, so their times are never compared with ours. Both times in
a record come from one clock, so the TTL is known. An observer counts the TTL from when it first
saw the lease with these times, and only up to its last news. So a silent clone keeps no lease
for longer than its TTL.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from ghp_agents.core import files
from ghp_agents.leases.record import FOLDER, LeaseHistory, read_leases
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.workspace import Workspace

NOTED = "lapses.json"

Noted = Mapping[
    str, tuple[str, float]
]  # by lease: the record with its TTL, and when it was first seen


def observe(ctx: Context) -> None:
    """After a sync: note new leases with a TTL, and forget those that have ended."""
    snapshot = ctx.store.snapshot()
    known = timed(snapshot, read_leases(snapshot.files(FOLDER))[0])
    noted = _read(ctx.ws)
    if known or noted:
        _keep(ctx.ws, noted, _noted(noted, known, ctx.ws.steady()))


def expired(ctx: Context, snapshot: Snapshot, logs: Iterable[LeaseHistory]) -> frozenset[str]:
    """The ids of the expired leases."""
    ends = ends_at(ctx.ws, snapshot, logs)
    now = ctx.ws.steady() if ends else 0.0
    if not any(end <= now for end in ends.values()):
        return frozenset()
    news_at = presence.news_at(ctx.ws, ctx.store) or 0.0
    return frozenset(lease for lease, end in ends.items() if end <= min(news_at, now))


def ends_at(ws: Workspace, snapshot: Snapshot, logs: Iterable[LeaseHistory]) -> dict[str, float]:
    """When each lease of another clone expires, by this clone's steady clock."""
    known = timed(snapshot, logs)
    noted = _note(ws, known) if known else {}
    return {log.id: noted[log.id][1] + (log.lasts or 0.0) for log in known}


def timed(snapshot: Snapshot, logs: Iterable[LeaseHistory]) -> list[LeaseHistory]:
    """The leases of other clones that are held with a TTL."""
    return [
        log
        for log in logs
        if log.is_open and log.lasts is not None and log.request.clone != snapshot.clone
    ]


def _note(ws: Workspace, known: Sequence[LeaseHistory]) -> Noted:
    """When each lease was first seen here with its present TTL."""
    before = _read(ws)
    noted = before | _noted(before, known, ws.steady())
    _keep(ws, before, noted)
    return noted


def _noted(
    before: Noted, known: Sequence[LeaseHistory], now: float
) -> dict[str, tuple[str, float]]:
    noted: dict[str, tuple[str, float]] = {}
    for log in known:
        record = log.timed.id if log.timed else ""
        last, seen = before.get(log.id, ("", now))
        # A restart of the machine resets the steady clock; then it counts as first seen now.
        noted[log.id] = (record, seen if last == record and seen <= now else now)
    return noted


def _keep(ws: Workspace, before: Noted, noted: Noted) -> None:
    if noted != before:
        _write(ws, noted)


def _read(ws: Workspace) -> dict[str, tuple[str, float]]:
    try:
        known = json.loads((ws.cache_dir / NOTED).read_bytes())
        return {str(name): (str(record), float(seen)) for name, (record, seen) in known.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _write(ws: Workspace, noted: Noted) -> None:
    try:
        files.write_atomically(ws.cache_dir / NOTED, json.dumps(noted).encode())
    except OSError:
        return  # without a writable cache, each look is the first
