"""Expired leases of other clones, as far as this clone can tell.

Clocks of other machines may be wrong, so their times are never compared with ours. Both times in
a record come from one clock, so the TTL is known. An observer counts the TTL from when it first
saw the lease with these times, and only up to its last news. So a silent clone keeps no lease
for longer than its TTL.
"""

from collections.abc import Iterable

from ghp_agents.core import json_file
from ghp_agents.core.first_seen import FirstSeen
from ghp_agents.leases.record import FOLDER, LeaseHistory, read_leases
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.state import observed
from ghp_agents.workspace import Workspace


def observe(ctx: Context) -> None:
    """After a sync: note new leases with a TTL, and forget those that have ended."""
    snapshot = ctx.store.snapshot()
    logs = timed(snapshot, read_leases(snapshot.present(FOLDER))[0])
    if logs or (ctx.ws.cache_dir / observed.LAPSES).exists():
        _note(ctx.ws, logs, forget=True)


def _note(
    ws: Workspace, logs: Iterable[LeaseHistory], *, forget: bool = False
) -> dict[str, FirstSeen]:
    """When each lease was first seen here with its present TTL; `forget` drops all others."""
    revisions = {log.id: log.timed.id if log.timed else "" for log in logs}
    return json_file.note_first_seen(
        ws.cache_dir / observed.LAPSES, revisions, ws.steady(), forget=forget
    )


def expired(ctx: Context, snapshot: Snapshot, logs: Iterable[LeaseHistory]) -> frozenset[str]:
    """The ids of the expired leases."""
    ends = ends_at(ctx.ws, snapshot, logs)
    now = ctx.ws.steady() if ends else 0.0
    if not any(end <= now for end in ends.values()):
        return frozenset()
    news_at = presence.news_at(ctx) or 0.0
    return frozenset(lease for lease, end in ends.items() if end <= min(news_at, now))


def ends_at(ws: Workspace, snapshot: Snapshot, logs: Iterable[LeaseHistory]) -> dict[str, float]:
    """When each lease of another clone expires, by this clone's steady clock."""
    with_ttl = timed(snapshot, logs)
    noted = _note(ws, with_ttl) if with_ttl else {}
    return {log.id: noted[log.id].since + (log.lasts or 0.0) for log in with_ttl}


def timed(snapshot: Snapshot, logs: Iterable[LeaseHistory]) -> list[LeaseHistory]:
    """The leases of other clones that are held with a TTL."""
    return [
        log
        for log in logs
        if log.is_open and log.lasts is not None and log.request.clone != snapshot.clone
    ]
