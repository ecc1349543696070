"""Time for tests: a clock that they set."""

from ghp_agents.core import moment


class ManualClock:
    """A clock that moves only when a test moves it."""

    def __init__(self, now: float = 1_750_000_000.0) -> None:
        self._now = self._seconds = now
        self._starts = 1

    def now(self) -> float:
        """Seconds since the epoch, as set."""
        return self._now

    def interval(self) -> tuple[str, float]:
        """An id of the machine's boot, and seconds that only `wait` moves."""
        return f"start {self._starts}", self._seconds

    def wait(self, seconds: float) -> None:
        """Advance by `seconds` at once."""
        moment.end()
        self._now += seconds
        self._seconds += seconds

    def step(self, seconds: float) -> None:
        """Set the clock; no time passes."""
        moment.end()
        self._now += seconds

    def restart(self) -> None:
        """Restart the machine."""
        self._starts += 1
        self._seconds = 0.0
