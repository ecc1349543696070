"""What is held is called by the beginning of its id."""

from ghp_agents.core.ids import Timestamp
from ghp_agents.leases.hold import Hold, Waiter

SINCE = Timestamp("2025-06-15T15:06:40Z")


def test_a_lease_and_who_waits_for_one_have_a_short_name() -> None:
    hold = Hold("3f9a11112222", "worker-1", False, ("src/",), None, SINCE)
    waiter = Waiter("ab0011112222", "worker-2", False, ("src/",), None, SINCE, "", (hold,))
    assert (hold.short, waiter.short) == ("L-3f9a", "L-ab00")
