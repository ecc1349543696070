"""The world as it was at a time, from records alone. Nothing is observed or stored."""

from functools import cached_property

from ghp_agents.core.clock import to_seconds
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence


class PastWorld(LeaseWorld):
    """The leases at a time. Their own times decide, because clocks of the past cannot be observed.

    Locks have no past here, so a strict lease is held as its records say.
    """

    def __init__(self, ctx: Context, at: float) -> None:
        snapshot = ctx.store.snapshot(at)
        super().__init__(ctx, snapshot, presence.look_back(ctx.ws, snapshot, at), at=at)

    @cached_property
    def expired(self) -> frozenset[str]:
        """The ids of the leases that had expired, by their writers' clocks."""
        return frozenset(
            log.id for log in self.logs if log.until and to_seconds(log.until) <= self.now
        )
