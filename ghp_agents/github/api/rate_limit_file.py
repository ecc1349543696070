"""The token's budget and breaker in one small file that all processes of the clone share."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.github.api import rate_limit
from ghp_agents.github.api.rate_limit import RateLimits

PATIENCE = 2.0  # seconds; a change takes less than one millisecond


class Meter:
    """Reads and changes the file. If it is not writable, each process uses its own values."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own = RateLimits()

    def read(self) -> RateLimits:
        """The shared values."""
        try:
            return rate_limit.from_json(json.loads(self._path.read_bytes()))
        except (OSError, ValueError, RecursionError):
            return self._own

    def change(self, update: Callable[[RateLimits], RateLimits]) -> RateLimits:
        """Apply a change and share it with all processes."""
        with self._locked():
            self._own = update(self.read())
            content = json.dumps(rate_limit.to_json(self._own)).encode()
            with contextlib.suppress(OSError):  # then only this process knows
                files.write_atomically(self._path, content)
        return self._own

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Under the lock if possible; without it a number may be slightly too high."""
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(GhpError):
                lock = self._path.with_suffix(".lock")
                stack.enter_context(files.locked_if_possible(lock, patience=PATIENCE))
            yield
