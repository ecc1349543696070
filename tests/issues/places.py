"""Places to keep local issues in, for tests: clones in memory that share a hub and a board."""

from dataclasses import dataclass, field

from ghp_agents.hotpath.locate import Location
from ghp_agents.issues.local import LocalTracker
from ghp_agents.workspace import Workspace
from tests.support.clock import ManualClock
from tests.support.context import Parts, make_context
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryRemote, MemoryStore


@dataclass
class Place:
    """One clone: its workspace, store, locks and tracker."""

    ws: Workspace
    store: MemoryStore
    locks: MemoryLocks

    @property
    def tracker(self) -> LocalTracker:
        """Its issues."""
        return LocalTracker(self.ws, self.store, self.locks)

    @property
    def parts(self) -> Parts:
        """The parts that services take."""
        return make_context(self.ws, self.store, self.locks, self.tracker)


@dataclass
class Team:
    """Clones that meet at one hub, and get their numbers at one board."""

    clock: ManualClock = field(default_factory=ManualClock)
    hub: MemoryRemote = field(default_factory=MemoryRemote)
    board: Board = field(default_factory=Board)

    def clone(self, name: str, agent: str | None = "worker-1") -> Place:
        """One more clone."""
        place = Location(None, "/nowhere/.git", "/nowhere/.git")
        return Place(
            ws=Workspace(place, {}, self.clock, agent),
            store=MemoryStore(self.clock, name, self.hub),
            locks=MemoryLocks(self.clock, self.board),
        )

    def offline(self, *, online: bool = False) -> None:
        """Nobody reaches hub or board any more, or again."""
        self.hub.reachable = self.board.reachable = online


def meet(*places: Place) -> None:
    """Sync until everybody has what everybody said."""
    for _ in range(2):
        for place in places:
            place.store.sync()
