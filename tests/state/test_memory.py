"""The state in memory keeps the contract."""

from dataclasses import dataclass, field

import pytest

from ghp_agents.ports import StateStore
from ghp_agents.state import presence
from ghp_agents.state.presence import Presence
from tests.contracts.absorption import AbsorptionContract
from tests.contracts.state_store import StateStoreContract
from tests.state.clones import one_page
from tests.support.clock import ManualClock
from tests.support.twins.state import MemoryRemote, MemoryStore


@dataclass
class MemoryField:
    """Clones that share a hub; what is in memory is one process."""

    clock: ManualClock = field(default_factory=ManualClock)
    hub: MemoryRemote = field(default_factory=MemoryRemote)
    made: dict[int, MemoryStore] = field(default_factory=dict)

    def store(self, clone: int) -> MemoryStore:
        """The one store of a clone."""
        if clone not in self.made:
            self.made[clone] = MemoryStore(self.clock, f"clone-{clone}", self.hub)
        return self.made[clone]

    def beat(self, clone: int, agent: str, fields: Presence) -> None:
        """A beat of an agent of a clone."""
        self.store(clone).beat(agent, fields)

    def alone(self) -> StateStore:
        """A clone without a hub."""
        return MemoryStore(self.clock, "alone")

    def cut(self) -> None:
        """The hub is away."""
        self.hub.reachable = False

    def mend(self) -> None:
        """The hub is back."""
        self.hub.reachable = True


class TestInMemory(StateStoreContract, AbsorptionContract):
    @pytest.fixture
    def field(self) -> MemoryField:
        return MemoryField()


def test_the_published_document_is_the_joined_one() -> None:
    field = MemoryField()
    field.beat(0, "worker-1", {"status": "idle", "epoch": 1, "seq": 1})
    field.beat(1, "worker-2", {"status": "done", "epoch": 1, "seq": 1})
    field.store(0).sync()
    field.store(1).publish(one_page)
    assert field.hub.published == presence.encode(field.store(1).snapshot().agents())
    assert field.store(1).snapshot().agents().keys() == {"worker-1", "worker-2"}
