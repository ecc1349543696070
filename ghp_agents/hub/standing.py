"""How a clone stands with GitHub: budget, breaker, outbox."""

from typing import NamedTuple

from ghp_agents.hub import gauge
from ghp_agents.hub.gauge import CORE, WHY, Gauge
from ghp_agents.hub.outbox import Outbox


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


def of(known: Gauge, outbox: Outbox, now: float) -> HubStanding:
    """The standing at a time. A budget whose hour is over is full again."""
    budget = known.budgets.get(CORE)
    if budget and budget.resets <= now:
        budget = budget._replace(remaining=budget.limit)
    pause = gauge.closed(known, CORE, now)
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
