"""A hold: a lease in force now, from a clone's record or from a lock."""

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.core.ids import Timestamp


class Hold(NamedTuple):
    """Exclusive use of patterns, or of a named resource (then without patterns), by a holder."""

    id: str  # of the lease; shown as L-3f9a…
    holder: str
    is_person: bool
    patterns: tuple[str, ...]  # relative to the repository's root; as in .gitignore, the last wins
    name: str | None  # of a resource that is not a path
    since: "Timestamp"
    until: "Timestamp | None" = None
    reason: str = ""
    approved: bool = False  # a person or an orchestrator approved shared paths
    strict: bool = False  # backed by a lock: exclusive over all clones
    clone: str = ""  # of the agent that holds the lock, if known

    @property
    def short(self) -> str:
        """The displayed id."""
        return f"L-{self.id[:4]}"

    def is_of(self, name: str, is_person: bool, clone: str) -> bool:
        """Whether this is the holder; an agent of the same name in another clone is not."""
        is_elsewhere = not is_person and self.clone and clone and self.clone != clone
        return (self.holder, self.is_person) == (name, is_person) and not is_elsewhere


class Waiter(NamedTuple):
    """A request in the queue for a lease, and the requests and leases before it."""

    request: Hold  # as if it were held
    behind: tuple[Hold, ...]  # earlier overlapping ones, held or waiting
