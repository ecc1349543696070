"""A clone's status with GitHub: budget, breaker, outbox."""

from pathlib import Path
from typing import NamedTuple

from ghp_agents.github.api import rate_limit
from ghp_agents.github.api.outbox import Outbox
from ghp_agents.github.api.rate_limit import CORE, WHY, Meter, RateLimits
from ghp_agents.workspace import Workspace

LIMITS = "limits.json"  # of the token, in `machine_folder`
METERS = f"{'[0-9a-f]' * 16}.json"  # by the fingerprint of the token


class GitHubStatus(NamedTuple):
    """The status, known without a request. Times are seconds of the clone's clock."""

    remaining: int | None = None  # requests left of the primary limit; None if unknown
    limit: int | None = None
    resets: float | None = None
    paused_until: float | None = None  # no requests from this clone before then
    why_paused: str = ""  # for people
    queued: int = 0  # waiting writes
    refused: int = 0  # writes that GitHub refused
    answered: float | None = None  # when GitHub last answered this clone


def of(limits: RateLimits, outbox: Outbox, now: float) -> GitHubStatus:
    """The status at a time. A budget is full again after its reset."""
    budget = limits.budgets.get(CORE)
    if budget and budget.resets <= now:
        budget = budget._replace(remaining=budget.limit)
    pause = rate_limit.closed(limits, CORE, now)
    return GitHubStatus(
        remaining=budget.remaining if budget else None,
        limit=budget.limit if budget else None,
        resets=budget.resets if budget and budget.resets > now else None,
        paused_until=pause.until if pause else None,
        why_paused=WHY[pause.kind] if pause else "",
        queued=outbox.count(),
        refused=len(outbox.refused()),
        answered=limits.answered,
    )


def seen(ws: Workspace) -> GitHubStatus | None:
    """The status of the token that GitHub answered last, for callers without a token; None if this
    clone never used GitHub."""
    folder = ws.cache_dir / "hub"
    box = Outbox(outbox_folder(ws), ws.clock, "")
    by_token = [
        Meter(path, machine_folder(ws, path.stem) / LIMITS).read() for path in folder.glob(METERS)
    ]
    if not by_token and not box.count():
        return None
    latest = max(by_token, key=lambda limits: limits.answered or 0.0, default=RateLimits())
    return of(latest, box, ws.clock.now())


def machine_folder(ws: Workspace, fingerprint: str) -> Path:
    """What all clones of this machine share about a token."""
    return ws.spare_dir.parent / "github" / fingerprint


def outbox_folder(ws: Workspace) -> Path:
    """The folder of waiting writes. It is not a cache: it holds acknowledged writes."""
    return ws.ghp_dir / "hub" / "outbox"
