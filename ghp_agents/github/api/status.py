"""How a clone stands with GitHub: budget, breaker, outbox."""

from pathlib import Path
from typing import NamedTuple

from ghp_agents.github.api import rate_limit
from ghp_agents.github.api.outbox import Outbox
from ghp_agents.github.api.rate_limit import CORE, WHY, RateLimits
from ghp_agents.github.api.rate_limit_file import Meter
from ghp_agents.workspace import Workspace

METERS = f"{'[0-9a-f]' * 16}.json"  # by the fingerprint of the token


class HubStanding(NamedTuple):
    """What is known without asking. Times are seconds, as the clone's clock has them."""

    remaining: int | None = None  # requests left of the primary limit; None: never heard
    limit: int | None = None
    resets: float | None = None
    paused_until: float | None = None  # nobody of this clone asks before then
    why_paused: str = ""  # for people
    queued: int = 0  # writes that wait to be sent
    refused: int = 0  # writes that GitHub would not take, put aside
    answered: float | None = None  # when GitHub last answered anybody of this clone


def of(known: RateLimits, outbox: Outbox, now: float) -> HubStanding:
    """The standing at a time. A budget whose hour is over is full again."""
    budget = known.budgets.get(CORE)
    if budget and budget.resets <= now:
        budget = budget._replace(remaining=budget.limit)
    pause = rate_limit.closed(known, CORE, now)
    return HubStanding(
        remaining=budget.remaining if budget else None,
        limit=budget.limit if budget else None,
        resets=budget.resets if budget and budget.resets > now else None,
        paused_until=pause.until if pause else None,
        why_paused=WHY[pause.kind] if pause else "",
        queued=outbox.count(),
        refused=len(outbox.refused()),
        answered=known.answered,
    )


def seen(ws: Workspace) -> HubStanding | None:
    """The standing of the token that was heard of last, for who does not need the token; None if
    nobody of this clone ever had to do with GitHub."""
    folder = ws.cache_dir / "hub"
    box = Outbox(outbox_folder(ws), ws.clock, "")
    known = [Meter(path).read() for path in folder.glob(METERS)]
    if not known and not box.count():
        return None
    latest = max(known, key=lambda limits: limits.answered or 0.0, default=RateLimits())
    return of(latest, box, ws.clock.now())


def outbox_folder(ws: Workspace) -> Path:
    """Where writes wait: not a cache, because it holds what was acknowledged."""
    return ws.ghp_dir / "hub" / "outbox"
