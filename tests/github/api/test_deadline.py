"""How long one call may wait."""

from ghp_agents.core.clock import ManualClock
from ghp_agents.github.api.deadline import Deadline


def test_waits_add_up_and_what_is_too_long_is_not_begun() -> None:
    clock = ManualClock()
    patience = Deadline(clock, 30.0)
    began = clock.now()
    assert patience.wait(20.0)
    assert not patience.wait(10.1)
    assert clock.now() - began == 20.0
    assert patience.wait(10.0)
    assert patience.left() == 0.0
    assert patience.wait(0.0)
    assert not patience.wait(0.1)


def test_time_that_passes_otherwise_counts_too() -> None:
    clock = ManualClock()
    patience = Deadline(clock, 30.0)
    clock.wait(50.0)
    assert patience.left() == 0.0
