"""How long one call may wait in total."""

from ghp_agents.ports import Clock


class Deadline:
    """A budget of seconds that starts when the object is created."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._until = clock.now() + seconds

    def left(self) -> float:
        """The seconds left."""
        return max(0.0, self._until - self._clock.now())

    def allows(self, seconds: float) -> bool:
        """Whether a wait of this length fits."""
        return seconds <= self.left()

    def wait(self, seconds: float) -> bool:
        """Wait if it fits; else return False at once."""
        if not self.allows(seconds):
            return False
        if seconds > 0:
            self._clock.wait(seconds)
        return True
