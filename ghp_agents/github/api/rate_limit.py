"""GitHub's rate limits, and when to stop sending requests.

First the values and their changes, which are pure. Then the files in which the processes of the
clone, and those of all clones of the machine, share them, and how long one call may wait.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github.api.responses import LEAST_REST, Limit
from ghp_agents.ports import Clock

CORE = "core"  # the budget of REST requests; searches and GraphQL have their own
LONGEST_GROWN = 900.0
FIRST_OUTAGE, LONGEST_OUTAGE = 5.0, 60.0
TOKEN_REST = 60.0
LOCK_TIMEOUT_S = 2.0  # a change takes less than one millisecond
RESERVE = 0.1  # of a budget, for people: runs of agents and the background leave it

WHY = {
    "primary": "GitHub's hourly request limit is used up",
    "secondary": "GitHub's secondary rate limit was hit: too many requests at once",
    "busy": "GitHub is busy and asks to wait",
    "outage": "GitHub could not be reached a moment ago",
    "token": "GitHub rejected this token a moment ago",
    "reserved": "GitHub's hourly request limit is nearly used up, and the rest is for people",
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
    """After a response that is not a limit: close the breaker. A pause that GitHub asked for while
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


def closed(
    limits: RateLimits, resource: str, now: float, *, reserve: float = 0.0
) -> Backoff | None:
    """Why and until when requests must wait; None if they may be sent. `reserve` is the part of the
    budget that is left to others."""
    if limits.pause and now < limits.pause.until:
        return limits.pause
    budget = limits.budgets.get(resource)
    if budget and budget.remaining <= 0 and now < budget.resets:
        return Backoff("primary", budget.resets)
    if budget and budget.remaining <= budget.limit * reserve and now < budget.resets:
        return Backoff("reserved", budget.resets) if reserve else None
    return None


def shared(limits: RateLimits) -> RateLimits:
    """What other clones of the machine may rely on. An outage is no such thing: this process may be
    in a sandbox without a network."""
    is_outage = limits.pause is not None and limits.pause.kind == "outage"
    return limits._replace(pause=None, strikes=0) if is_outage else limits


def joined(own: RateLimits, others: RateLimits) -> RateLimits:
    """What this clone and the machine know together."""
    budgets = dict(own.budgets)
    for name, budget in others.budgets.items():
        budgets[name] = _newer(budgets.get(name), budget)
    pauses = [pause for pause in (own.pause, others.pause) if pause]
    answers = [at for at in (own.answered, others.answered) if at is not None]
    return RateLimits(
        budgets,
        max(pauses, key=lambda pause: pause.until, default=None),
        max(own.strikes, others.strikes),
        max(answers, default=None),
    )


def from_json(data: Any) -> RateLimits:
    """Parse the stored form. Raises what Python raises for a wrong type or value."""
    pause = data["pause"]
    return RateLimits(
        {name: _budget(*numbers) for name, numbers in data["budgets"].items()},
        None if pause is None else _pause(*pause),
        min(max(int(data["strikes"]), 0), 16),
        None if data["answered"] is None else float(data["answered"]),
    )


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
    return {**limits.budgets, name: _newer(limits.budgets.get(name), new)}


def _newer(previous: Budget | None, new: Budget) -> Budget:
    """The budget of the later hour; within one hour the lower count."""
    if previous and abs(previous.resets - new.resets) < 60:
        return new._replace(remaining=min(previous.remaining, new.remaining))
    return previous if previous and previous.resets > new.resets else new


class Meter:
    """Reads and changes the files: one of the clone, and one of the token on this machine. If they
    are not writable, each process uses its own values."""

    def __init__(self, path: Path, machine: Path | None = None) -> None:
        self._paths = [path, machine] if machine else [path]
        self._file = JsonFile(path, from_json, lambda: self._own)
        self._machine = JsonFile(machine, from_json, RateLimits) if machine else None
        self._own = RateLimits()

    def read(self) -> RateLimits:
        """The shared values."""
        own = self._file.read()
        return joined(own, self._machine.read()) if self._machine else own

    def change(self, update: Callable[[RateLimits], RateLimits]) -> RateLimits:
        """Apply a change and share it with all processes."""
        with self._locked():
            self._own = update(self.read())
            self._file.write(self._own._asdict())  # else only this process knows
            if self._machine:
                self._machine.write(shared(self._own)._asdict())
        return self._own

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Under the lock if possible; without it a number may be slightly too high."""
        with contextlib.ExitStack() as stack:
            for path in self._paths:
                with contextlib.suppress(GhpError, OSError):
                    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    lock = path.with_suffix(".lock")
                    stack.enter_context(files.locked_if_possible(lock, patience=LOCK_TIMEOUT_S))
            yield


class Waits:
    """The seconds that one command may wait for limits and retries, over all its requests."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds


class Deadline:
    """A budget of seconds that starts when the object is created. `waits` also bounds the waits of
    several."""

    def __init__(self, clock: Clock, seconds: float, waits: Waits | None = None) -> None:
        self._clock = clock
        self._until = clock.now() + seconds
        self._waits = waits or Waits(seconds)

    def left(self) -> float:
        """The seconds left."""
        return max(0.0, self._until - self._clock.now())

    @property
    def patience(self) -> float:
        """The seconds for which another process may be waited for."""
        return max(0.0, min(self.left(), self._waits.left))

    def spend(self, seconds: float) -> None:
        """Count seconds that were waited elsewhere."""
        self._waits.left -= max(0.0, seconds)

    def allows(self, seconds: float) -> bool:
        """Whether a wait of this length fits."""
        return seconds <= min(self.left(), self._waits.left)

    def wait(self, seconds: float) -> bool:
        """Wait if it fits; else return False at once."""
        if not self.allows(seconds):
            return False
        if seconds > 0:
            self._waits.left -= seconds
            self._clock.wait(seconds)
        return True
