"""Compaction in the background: what has ended long ago leaves what each command reads."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from ghp_agents.parts.call import call
from ghp_agents.parts.lists import COMPACTION
from ghp_agents.parts.plugin import attempt, load
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.git.fold import stamp, stamped
from ghp_agents.workspace import Workspace

STAMP = "compacted"  # its time: when this clone last looked
DAY_S = 86_400.0  # seconds; the minimum between two looks
ROUNDS = 12  # looks during `compactAfter` or `keepMessages`: more would make many small commits


class Compaction(NamedTuple):
    """What the functions that find ended records take by the names of their parameters."""

    ctx: Context
    snapshot: Snapshot
    before: float  # seconds
    messages_before: float
    folder: str = ""

    @property
    def ws(self) -> Workspace:
        """The repository, and who works in it."""
        return self.ctx.ws

    @property
    def files(self) -> Mapping[str, bytes]:
        """The records of the folder."""
        return self.snapshot.files(self.folder)


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
    source = Compaction(ctx, ctx.store.snapshot(), before, messages_before)
    subjects = [
        subject
        for name, folder in COMPACTION.items()
        for subject in call(name, source._replace(folder=folder))
    ]
    for plugin in load(ctx.ws.settings.plugins).plugins.values():
        for function, folder in plugin.compaction.items():
            subjects += attempt(function, source._replace(folder=folder))[0] or ()
    return ctx.store.compact(subjects)
