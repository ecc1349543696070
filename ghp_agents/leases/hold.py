"""A hold: a lease as it counts now, whether it is a record of a clone or a right."""

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.core.ids import Timestamp


class Hold(NamedTuple):
    """Who may have what alone. A hold is of patterns, or of a named resource and no patterns."""

    id: str  # of the lease; shown as L-3f9a…
    holder: str
    is_person: bool
    patterns: tuple[str, ...]  # relative to the repository's root; gitignore meaning, last wins
    name: str | None  # of a resource that is no path
    since: "Timestamp"
    until: "Timestamp | None" = None
    reason: str = ""
    approved: bool = False  # a person or an orchestrator let it cover shared paths
    strict: bool = False  # a right: exclusive over all clones
    clone: str = ""  # of the agent that has the right, where that is known

    @property
    def short(self) -> str:
        """Its id in print."""
        return f"L-{self.id[:4]}"

    def is_of(self, name: str, is_person: bool, clone: str) -> bool:
        """Whether somebody has it: an agent of the same name in another clone has not."""
        is_elsewhere = not is_person and self.clone and clone and self.clone != clone
        return (self.holder, self.is_person) == (name, is_person) and not is_elsewhere


class Waiter(NamedTuple):
    """Who stands in the queue for a lease, and behind whom."""

    id: str
    holder: str  # who waits
    is_person: bool
    patterns: tuple[str, ...]
    name: str | None
    since: "Timestamp"
    reason: str
    behind: tuple[Hold, ...]  # earlier ones that it meets, holding or waiting themselves
    strict: bool = False

    @property
    def short(self) -> str:
        """Its id in print."""
        return f"L-{self.id[:4]}"
