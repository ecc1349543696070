"""What can go wrong between a client and GitHub, and when it does."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request, by whom it is."""

    login: str
    verb: str
    path: str
    query: dict[str, str]
    body: Any = None
    apart: bool = False  # a test asks, not the client

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.verb != "GET"


class Said(NamedTuple):
    """An answer."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = MappingProxyType({})


class Fault(Enum):
    """One thing that goes wrong with one request."""

    SECONDARY = "403 too fast, with Retry-After"
    SECONDARY_SILENT = "403 too fast, without Retry-After"
    TOO_MANY = "429 with Retry-After"
    TOO_MANY_SILENT = "429 without Retry-After"
    PRIMARY = "403, the hour's budget is spent"
    BAD_GATEWAY = "502 before anything was stored"
    BAD_GATEWAY_AFTER = "502 after it was stored"
    CUT = "the connection breaks before anything was stored"
    CUT_AFTER = "the connection breaks after it was stored"
    HALF = "half an answer comes back"
    SLOW = "the answer takes its time"
    STALE = "304 whatever has changed"
    # From here on what is rare.
    ERROR = "500 before anything was stored"
    ERROR_AFTER = "500 after it was stored"
    BUSY = "503 with Retry-After"
    UNAVAILABLE = "503 without Retry-After"
    TIMED_OUT = "504 before anything was stored"
    TIMED_OUT_AFTER = "504 after it was stored"
    EMPTY = "stored, and a success with an ETag and no body"
    TRUNCATED = "stored, and half of the JSON in a whole answer"
    PAGE = "stored, and a page of HTML in place of JSON"
    UNAUTHORIZED = "401 once"
    FORBIDDEN = "403 once"
    MISSING = "404 once"
    TOO_QUICKLY = "422 was submitted too quickly"

    @property
    def is_stored(self) -> bool:
        """Whether the request has done its work all the same."""
        return self in STORED

    @property
    def is_limit(self) -> bool:
        """Whether the server says that it was asked too often."""
        return self in LIMITS


LIMITS = (
    Fault.SECONDARY, Fault.SECONDARY_SILENT, Fault.TOO_MANY, Fault.TOO_MANY_SILENT, Fault.PRIMARY,
)  # fmt: skip
# A success whose body cannot be read.
GARBLED = (Fault.EMPTY, Fault.TRUNCATED, Fault.PAGE)
STORED = (
    Fault.BAD_GATEWAY_AFTER, Fault.CUT_AFTER, Fault.HALF, Fault.SLOW, Fault.ERROR_AFTER,
    Fault.TIMED_OUT_AFTER, *GARBLED,
)  # fmt: skip
COMMON = tuple(Fault)[: tuple(Fault).index(Fault.ERROR)]
Schedule = Callable[[Asked], Fault | None]


def never(request: Asked) -> None:
    """Nothing goes wrong."""


def in_turn(*faults: Fault | None, where: Callable[[Asked], bool] = lambda _: True) -> Schedule:
    """Each of the next requests that `where` is true of has its fault; later ones have none."""
    left = [*faults]
    return lambda request: left.pop(0) if left and where(request) else None


def at_random(
    seed: int, share: float, faults: Sequence[Fault] = COMMON, most: int | None = None
) -> Schedule:
    """A share of all requests, by dice that fall the same way for the same seed; at most `most`."""
    dice, left = random.Random(seed), [most]

    def throw(request: Asked) -> Fault | None:
        happens, which = dice.random() < share, dice.choice(faults)
        if not happens or left[0] == 0:
            return None
        left[0] = left[0] and left[0] - 1
        return which

    return throw


def writes(paths: Iterable[str] = ("",)) -> Callable[[Asked], bool]:
    """True of what changes something below one of these paths of the repository."""
    wanted = [*paths]
    return lambda request: request.writes and any(f"/{path}" in request.path for path in wanted)
