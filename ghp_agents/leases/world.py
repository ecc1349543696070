"""The world as one decision sees it: the state, the agents, the locks and the leases in force."""

from collections.abc import Sequence
from functools import cached_property

from ghp_agents.claims import holder_liveness
from ghp_agents.core.clock import to_seconds
from ghp_agents.core.ids import Actor
from ghp_agents.core.moment import derived
from ghp_agents.leases import expiry, record
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import LeaseHistory
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.state.record import Problem
from ghp_agents.world import World

PATHS, NAMES = "path/", "name/"  # the kinds of locks of strict leases


class LeaseWorld(World):
    """What one decision sees, each part read once, on first use.

    Use it for one decision. Inside `transact`, build it from the snapshot that `decide` gets; after
    a commit or a sync, build a new one. Of the past, the leases' own times decide, because clocks
    of the past cannot be observed; a strict lease is held as its records say.
    """

    def __init__(
        self,
        ctx: Context,
        snapshot: Snapshot | None = None,
        agents: Sequence[AgentView] | None = None,
        records: tuple[list[LeaseHistory], list[Problem]] | None = None,
        at: float | None = None,
    ) -> None:
        super().__init__(ctx, snapshot, at)
        self._agents = agents
        self._known_records = records

    @cached_property
    def agents(self) -> Sequence[AgentView]:
        """All known agents with their liveness."""
        if self._agents is not None:
            return self._agents
        if self.at is not None:
            return presence.look_back(self.ws, self.snapshot, self.at)
        return presence.list_agents(self.ctx, self.snapshot)

    def lives(self, who: Actor) -> bool:
        """Whether an actor is alive. People, and agents unknown here, count as alive."""
        return who.is_person or self._liveness.get(who.name, Liveness.ACTIVE) in LIVING

    def is_seen_alive(self, agent: str) -> bool:
        """Whether an agent is known and alive."""
        return self._liveness.get(agent) in LIVING

    def is_gone(self, agent: str) -> bool:
        """Whether an agent is gone."""
        return self._liveness.get(agent) is Liveness.GONE

    @cached_property
    def _liveness(self) -> dict[str, Liveness]:
        return {view.name: view.liveness for view in self.agents}

    @cached_property
    def strict_locks(self) -> dict[str, Lock]:
        """The locks of strict leases that this clone knows, by name."""
        return {x.name: x for x in self.locks if x.name.startswith((PATHS, NAMES))}

    @cached_property
    def logs(self) -> list[LeaseHistory]:
        """All leases, also ended ones, in the order of their requests."""
        return self._records[0]

    @property
    def problems(self) -> list[Problem]:
        """The records of leases that cannot be read."""
        return self._records[1]

    @cached_property
    def _records(self) -> tuple[list[LeaseHistory], list[Problem]]:
        return self._known_records or read_all(self.snapshot)

    @cached_property
    def expired(self) -> frozenset[str]:
        """The ids of the expired leases of other clones; of the past, of all."""
        if self.is_past:
            ends = ((log.id, log.until) for log in self.logs if log.until)
            return frozenset(id for id, until in ends if to_seconds(until) <= self.now)
        return expiry.expired(self.ctx, self.snapshot, self.logs)

    @cached_property
    def holds(self) -> list[Hold]:
        """All leases that are held now: strict ones first, then the others by request order.

        If two overlap, because their clones had not synced, the first in this list counts.
        """
        mine = [log for log in self.logs if self.is_active(log)]
        recorded = {log.nonce for log in self.logs}
        bare = [
            as_hold(lock)
            for lock in self.strict_locks.values()
            if lock.is_taken and lock.nonce not in recorded and self._counts(lock)
        ]
        strict = [self.hold_of(log) for log in mine if log.request.right]
        ordinary = [log.hold() for log in mine if not log.request.right]
        return [*sorted([*bare, *strict], key=lambda hold: (hold.since, hold.id)), *ordinary]

    def is_active(self, log: LeaseHistory) -> bool:
        """Whether a lease is held now."""
        return (
            log.is_open
            and log.granted is not None
            and not log.is_over(self.snapshot.clone, self.now)
            and log.id not in self.expired
            and self.lives(log.holder)
            and self.lock_is_current(log)
        )

    def lock_is_current(self, log: LeaseHistory) -> bool:
        """Whether a strict lease still has its lock, as far as known here."""
        lock = self.strict_locks.get(log.request.right)
        return lock is None or lock.nonce == log.nonce

    def hold_of(self, log: LeaseHistory) -> Hold:
        """A lease as a hold, with the clone of its lock's holder."""
        lock = self.strict_locks.get(log.request.right)
        return log.hold()._replace(clone=lock.clone) if lock else log.hold()

    def _counts(self, lock: Lock) -> bool:
        """Whether a lock without a record here is in force."""
        if holder_liveness.is_over(self.ws, lock, self.ctx.locks.clone):
            return False
        return self.lives(holder_of(lock)) or self.holder(lock).lives

    def holder(self, lock: Lock) -> holder_liveness.HolderView:
        """The holder of a lock."""
        return self.holders([lock])[lock.name]

    def holders(self, locks: Sequence[Lock]) -> dict[str, holder_liveness.HolderView]:
        """The holders of these locks, by the locks' names."""
        # Given agents may come from a look that left out the processes.
        agents = self.agents if self._agents is None else None
        return holder_liveness.holders_of(self.ctx, locks, agents)


@derived
def read_all(snapshot: Snapshot) -> tuple[list[LeaseHistory], list[Problem]]:
    """All leases, also ended ones that are not settled, in the order of their requests, and
    unreadable records."""
    return record.read_leases(snapshot.present(record.FOLDER))


def holder_of(lock: Lock) -> Actor:
    """The holder of a lock."""
    return Actor(lock.holder or "", lock.is_person)


def as_hold(lock: Lock) -> Hold:
    """A lock as a lease, if its record is not here (yet)."""
    kind, _, word = lock.name.partition("/")
    return Hold(
        id=word,
        holder=lock.holder or ("nobody, in dispute," if lock.is_disputed else ""),
        is_person=lock.is_person,
        patterns=lock.patterns,
        name=word if f"{kind}/" == NAMES else None,
        since=lock.acquired_at,
        until=lock.until,
        reason=lock.reason,
        strict=True,
        clone=lock.clone,
    )
