"""Facts about accounts and servers in one small file, each with its own lifetime."""

import contextlib
import json
from pathlib import Path
from typing import Any

from ghp_agents.core import files
from ghp_agents.ports import Clock


class FactsCache:
    """Facts by name, each with the time it was stored. A lost fact costs one request."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path, self._clock = path, clock

    def get(self, name: str, seconds: float) -> Any | None:
        """A fact, if it is at most `seconds` old."""
        try:
            value, learned = self._read()[name]
            age = self._clock.now() - float(learned)
        except (KeyError, TypeError, ValueError):
            return None
        return value if 0 <= age < seconds else None

    def put(self, name: str, value: Any, keep: float) -> None:
        """Store a fact; drop facts older than `keep` seconds."""
        now = self._clock.now()
        facts = {
            key: fact
            for key, fact in self._read().items()
            if isinstance(fact, list) and len(fact) == 2 and _age(fact[1], now) < keep
        }
        content = json.dumps({**facts, name: [value, now]}).encode()
        with contextlib.suppress(OSError):
            files.write_atomically(self._path, content)

    def _read(self) -> dict[str, Any]:
        try:
            facts = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return facts if isinstance(facts, dict) else {}


def _age(learned: Any, now: float) -> float:
    return now - learned if isinstance(learned, int | float) and learned <= now else float("inf")
