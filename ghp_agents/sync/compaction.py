"""Compaction in the background: what has ended long ago leaves what each command reads."""

from ghp_agents.escalations import service as escalation
from ghp_agents.github.tokenless import request as outgoing
from ghp_agents.issues import record as issue_record
from ghp_agents.issues import replay as issue_log
from ghp_agents.leases import record as lease_record
from ghp_agents.ports import Context
from ghp_agents.state.git.fold import stamp, stamped

STAMP = "compacted"  # its time: when this clone last looked
DAY_S = 86_400.0  # seconds; the minimum between two looks
ROUNDS = 12  # looks during `compactAfter`: more would make many small commits


def compact_if_due(ctx: Context) -> int:
    """Take this clone's settled records off its tip, at most once a day; returns how many.

    Raises GhpError.
    """
    after = ctx.ws.settings.compact_after
    if isinstance(after, str):
        return 0
    now, place = ctx.ws.clock.now(), ctx.ws.cache_dir / STAMP
    if 0 <= now - stamped(place) < max(DAY_S, after / ROUNDS):
        return 0
    count = compact(ctx, now - after)
    stamp(place, now)
    return count


def compact(ctx: Context, before: float) -> int:
    """Take off this clone's tip what ended before a time in seconds; returns how many records."""
    snapshot = ctx.store.snapshot()
    subjects = [
        *lease_record.settled(snapshot.files(lease_record.FOLDER), before),
        *issue_log.settled(snapshot.files(issue_record.FOLDER), before),
        *escalation.settled(ctx.ws, snapshot, before),
        *outgoing.settled(snapshot.files(outgoing.FOLDER), before),
    ]
    return ctx.clone_admin.compact(subjects)
