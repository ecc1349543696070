"""Reads that lag behind writes, as GitHub's replicas do: a read may be answered as things stood.

It asks a copy of all that the server knew then. Only the twin can be copied, emulate cannot.
"""

import pickle
import re
from collections import deque
from collections.abc import Callable
from typing import Any

from tests.support.faults import Asked

# Seconds that the answer to a read is behind.
Lag = Callable[[Asked], float]
LONGEST = 7_200.0  # seconds; no lag is longer
KINDS = {
    "events": r".*/(events|timeline)",
    "lists": r".*/(issues|comments|pulls|labels)",
    "one": r".*",
}


def none(request: Asked) -> float:
    """Every read knows every write."""
    return 0.0


def behind(**seconds: float) -> Lag:
    """Reads of these kinds (`events`, `lists`, and `one` of anything) are behind for so long."""
    assert seconds.keys() <= KINDS.keys()

    def lag(request: Asked) -> float:
        kind = next(name for name, path in KINDS.items() if re.fullmatch(path, request.path))
        return seconds.get(kind, 0.0)

    return lag


def is_list(request: Asked) -> bool:
    """Whether a list is read."""
    return any(re.fullmatch(KINDS[name], request.path) for name in ("events", "lists"))


class Replicas:
    """How things stood before each of the last writes."""

    def __init__(self) -> None:
        self.lag: Lag = none
        self._kept: deque[tuple[float, bytes]] = deque()

    def keep(self, now: float, everything: Any) -> None:
        """Something is about to be written."""
        if self.lag is none:
            return
        while self._kept and self._kept[0][0] < now - LONGEST:
            self._kept.popleft()
        self._kept.append((now, pickle.dumps(everything)))

    def then(self, request: Asked, now: float) -> Any | None:
        """What a read is answered from; None: from what is known now."""
        since = now - self.lag(request)
        old = next((kept for at, kept in self._kept if since < at), None)
        return None if old is None or since >= now else pickle.loads(old)
