"""A ground for tests: nothing is there, nothing is shared, unless the test says so."""

from typing import Any

from ghp_agents.state.admin_port import PublishPlan, StoreAdmin


def ground(**values: Any) -> StoreAdmin:
    """A ground on which nothing is, with what the test says of it."""
    empty: dict[str, Any] = {
        "sharing": lambda: PublishPlan(None, why_not="there is no remote"),
        "missing": list,
        "last_probe": lambda: None,
        "probe": lambda: None,
        "belongings": list,
        "losses": list,
        "remote_refs": list,
        "remove_remote_refs": lambda refs: None,
        "repairs": {},
    }
    return StoreAdmin(**(empty | values))
