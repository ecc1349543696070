"""How long one call may wait, all waits together."""

from ghp_agents.ports import Clock


class Deadline:
    """A budget of seconds that starts to run when it is made."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._until = clock.now() + seconds

    def left(self) -> float:
        """What is left of it."""
        return max(0.0, self._until - self._clock.now())

    def allows(self, seconds: float) -> bool:
        """Whether a wait of so long is within it."""
        return seconds <= self.left()

    def wait(self, seconds: float) -> bool:
        """Wait if that is within it; False, at once, if it is not."""
        if not self.allows(seconds):
            return False
        if seconds > 0:
            self._clock.wait(seconds)
        return True
