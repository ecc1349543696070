"""Compaction in the background: what has ended long ago leaves what each command reads."""

import math

from ghp_agents.escalations import service as escalation
from ghp_agents.github.tokenless import request as outgoing
from ghp_agents.issues import record as issue_record
from ghp_agents.issues import replay as issue_log
from ghp_agents.leases import record as lease_record
from ghp_agents.messages import mailbox, retention
from ghp_agents.messages import service as messages
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.git.fold import stamp, stamped
from ghp_agents.state.join import Settled

STAMP = "compacted"  # its time: when this clone last looked
DAY_S = 86_400.0  # seconds; the minimum between two looks
ROUNDS = 12  # looks during `compactAfter` or `keepMessages`: more would make many small commits


def compact_if_due(ctx: Context) -> int:
    """Take this clone's settled records off its tip, at most once a day; returns how many.

    Raises GhpError.
    """
    settings = ctx.ws.settings
    ages = [settings.compact_after, settings.keep_messages]
    numbers = [age for age in ages if not isinstance(age, str)]
    now, place = ctx.ws.clock.now(), ctx.ws.cache_dir / STAMP
    if not numbers or 0 <= now - stamped(place) < max(DAY_S, min(numbers) / ROUNDS):
        return 0
    before, messages_before = (-math.inf if isinstance(age, str) else now - age for age in ages)
    count = compact(ctx, before, messages_before)
    stamp(place, now)
    return count


def compact(ctx: Context, before: float, messages_before: float = -math.inf) -> int:
    """Take off this clone's tip what ended before a time in seconds; returns how many records."""
    snapshot = ctx.store.snapshot()
    subjects = [
        *_conversations(ctx, snapshot, messages_before),
        *lease_record.settled(snapshot.files(lease_record.FOLDER), before),
        *issue_log.settled(snapshot.files(issue_record.FOLDER), before),
        *escalation.settled(ctx.ws, snapshot, before),
        *outgoing.settled(snapshot.files(outgoing.FOLDER), before),
    ]
    return ctx.store.compact(subjects)


def _conversations(ctx: Context, snapshot: Snapshot, before: float) -> list[Settled]:
    if before == -math.inf:
        return []
    letters = messages.known_letters(ctx, snapshot, everything=True)
    return retention.settled(mailbox.everything(snapshot), letters, before)
