"""What is held is called by the beginning of its id."""

from ghp_agents.core.ids import Timestamp
from ghp_agents.leases.hold import Hold

SINCE = Timestamp("2025-06-15T15:06:40Z")


def test_a_lease_has_a_short_name() -> None:
    hold = Hold("3f9a11112222", "worker-1", False, ("src/",), None, SINCE)
    assert hold.short == "L-3f9a"
