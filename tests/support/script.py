"""A clock on which things happen while somebody waits."""

from collections.abc import Callable

from tests.support.clock import ManualClock


class Script(ManualClock):
    """A clock on which things happen while somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.begin = self.now()
        self.plan: list[tuple[float, Callable[[], object]]] = []

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return self.now() - self.begin

    def at(self, seconds: float, do: Callable[[], object]) -> None:
        """Do something `seconds` after the beginning."""
        self.plan.append((seconds, do))

    def wait(self, seconds: float) -> None:
        until = self.passed + seconds
        while due := [step for step in self.plan if step[0] <= until]:
            first = min(due, key=lambda step: step[0])
            self.plan.remove(first)
            super().wait(max(0.0, first[0] - self.passed))
            first[1]()
        super().wait(until - self.passed)
