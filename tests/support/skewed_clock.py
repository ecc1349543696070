"""A machine's clock that is wrong, as seen from a clock that is right."""

from tests.support.clock import ManualClock


class SkewedClock:
    """A machine's clock, which is wrong, and which somebody may set."""

    def __init__(self, world: ManualClock, skew: float) -> None:
        self._world, self._skew = world, skew
        self._starts, self._zero = 1, 0.0

    def step(self, seconds: float) -> None:
        """Somebody sets the clock."""
        self._skew += seconds

    def restart(self) -> None:
        """The machine is started anew."""
        self._starts += 1
        self._zero = self._world.interval()[1]

    def now(self) -> float:
        """Seconds since the epoch, as this machine has them."""
        return self._world.now() + self._skew

    def interval(self) -> tuple[str, float]:
        """Time that nobody sets."""
        return f"start {self._starts}", self._world.interval()[1] - self._zero

    def wait(self, seconds: float) -> None:
        """Time passes for all."""
        self._world.wait(seconds)
