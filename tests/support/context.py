"""A context made of the parts that a test has."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from ghp_agents.ports import CloneAdmin, Exchange, Forge, IssueTracker, LockService, StateStore
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository


class WholeStore(StateStore, Exchange, CloneAdmin, Protocol):
    """What an adapter of the state is."""


class _Missing:
    """Fails when a part is used that the test did not pass."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"This context lacks the part that has `{name}`.")


@dataclass(frozen=True)
class Parts:
    """A Context whose parts exist already."""

    ws: Workspace
    store: WholeStore
    locks: LockService
    tracker: IssueTracker
    hub: "GitHubRepository | None"
    forge: Forge

    @property
    def exchange(self) -> Exchange:
        """The same store."""
        return self.store

    @property
    def clone_admin(self) -> CloneAdmin:
        """The same store."""
        return self.store


def make_context(
    ws: Workspace | None = None,
    store: WholeStore | None = None,
    locks: LockService | None = None,
    tracker: IssueTracker | None = None,
    hub: "GitHubRepository | None" = None,
    forge: Forge | None = None,
) -> Parts:
    """The context of these parts. Using another one fails the test."""
    missing = cast(Any, _Missing())
    return Parts(
        ws or missing,
        store or missing,
        locks or missing,
        tracker or missing,
        hub,
        forge or missing,
    )
