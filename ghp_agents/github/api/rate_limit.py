"""GitHub's rate limits, and when to stop sending requests: pure values and their changes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.github.api.responses import LEAST_REST, Limit

CORE = "core"  # the budget of REST requests; searches and GraphQL have their own
LONGEST_GROWN = 900.0
FIRST_OUTAGE, LONGEST_OUTAGE = 5.0, 60.0
TOKEN_REST = 60.0

WHY = {
    "primary": "GitHub's limit of requests in an hour is used up",
    "secondary": "GitHub asks for a rest: too much was asked at once (its secondary limit)",
    "busy": "GitHub is busy and asks for a rest",
    "outage": "GitHub could not be reached a moment ago",
    "token": "GitHub refused this token a moment ago",
}


class Budget(NamedTuple):
    """One of the token's budgets, as of the last response."""

    limit: int
    remaining: int
    resets: float


class Backoff(NamedTuple):
    """No requests before `until`. `kind` is a key of WHY."""

    kind: str
    until: float

    @property
    def asked_for(self) -> bool:
        """Whether the server asked for it; then waiting helps."""
        return self.kind in ("primary", "secondary", "busy")


class RateLimits(NamedTuple):
    """All that is known about one token on one server."""

    budgets: Mapping[str, Budget] = {}  # by resource
    pause: Backoff | None = None
    strikes: int = 0  # consecutive limits and outages
    answered: float | None = None


def heard(
    limits: RateLimits, headers: Mapping[str, str], now: float, skew: float = 0.0
) -> RateLimits:
    """After a response that is no limit: close the breaker. A pause that GitHub asked for while
    this response was on its way stays."""
    counted = limits._replace(budgets=_counted(limits, headers, skew), answered=now)
    pause = limits.pause
    if pause and pause.asked_for and now < pause.until:
        return counted
    return counted._replace(pause=None, strikes=0)


def rested(
    limits: RateLimits, limit: Limit, headers: Mapping[str, str], now: float, skew: float = 0.0
) -> RateLimits:
    """After a limit: no requests until it is over. Without a time from GitHub the pause doubles."""
    grown = min(LEAST_REST * 2**limits.strikes, LONGEST_GROWN)
    rest = grown if limit.seconds is None else limit.seconds
    counted = limits._replace(budgets=_counted(limits, headers, skew), answered=now)
    if limit.kind == "primary":  # affects one budget only
        resource = headers.get("x-ratelimit-resource", CORE)
        size = counted.budgets[resource].limit if resource in counted.budgets else 0
        budgets = {**counted.budgets, resource: Budget(size, 0, now + rest)}
        return counted._replace(budgets=budgets)
    return _paused(counted, Backoff(limit.kind, now + rest))


def lost(limits: RateLimits, now: float) -> RateLimits:
    """After a failed attempt to reach GitHub: other processes pause for a moment, too."""
    rest = min(FIRST_OUTAGE * 2**limits.strikes, LONGEST_OUTAGE)
    return _paused(limits, Backoff("outage", now + rest))


def unwelcome(limits: RateLimits, now: float) -> RateLimits:
    """After GitHub refused the token: repeated requests would make it lock the account."""
    return _paused(limits._replace(answered=now), Backoff("token", now + TOKEN_REST))


def closed(limits: RateLimits, resource: str, now: float) -> Backoff | None:
    """Why and until when requests must wait; None if they may be sent."""
    if limits.pause and now < limits.pause.until:
        return limits.pause
    budget = limits.budgets.get(resource)
    if budget and budget.remaining <= 0 and now < budget.resets:
        return Backoff("primary", budget.resets)
    return None


def to_json(limits: RateLimits) -> dict[str, Any]:
    """The stored form."""
    return limits._asdict()


def from_json(data: Any) -> RateLimits:
    """Parse the stored form; unreadable data counts as no knowledge."""
    try:
        pause = data["pause"]
        return RateLimits(
            {name: _budget(*numbers) for name, numbers in data["budgets"].items()},
            None if pause is None else _pause(*pause),
            min(max(int(data["strikes"]), 0), 16),
            None if data["answered"] is None else float(data["answered"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return RateLimits()


def _budget(limit: Any, remaining: Any, resets: Any) -> Budget:
    return Budget(int(float(limit)), int(float(remaining)), float(resets))


def _pause(kind: Any, until: Any) -> Backoff:
    if kind not in WHY:
        raise ValueError(kind)
    return Backoff(kind, float(until))


def _paused(limits: RateLimits, pause: Backoff) -> RateLimits:
    """With a pause. Responses arrive in any order, so the pause that ends later wins."""
    previous = limits.pause
    longer = previous if previous and previous.until > pause.until else pause
    return limits._replace(pause=longer, strikes=min(limits.strikes + 1, 16))


def _counted(limits: RateLimits, headers: Mapping[str, str], skew: float) -> Mapping[str, Budget]:
    """The budgets after a response. Responses overtake each other: within one hour the lowest count
    wins.

    `skew` is how many seconds our clock is ahead of the server's.
    """
    try:
        new = _budget(
            headers["x-ratelimit-limit"],
            headers["x-ratelimit-remaining"],
            float(headers["x-ratelimit-reset"]) + skew,
        )
    except (KeyError, ValueError, OverflowError):
        return limits.budgets
    name = headers.get("x-ratelimit-resource", CORE)
    previous = limits.budgets.get(name)
    if previous and abs(previous.resets - new.resets) < 60:
        new = new._replace(remaining=min(previous.remaining, new.remaining))
    elif previous and previous.resets > new.resets:
        new = previous
    return {**limits.budgets, name: new}
