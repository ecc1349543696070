"""A context made of the parts that a test has."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ghp_agents.ports import Forge, IssueTracker, LockService, StateStore
from ghp_agents.workspace import Workspace
from ghp_agents.world import World

if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository


class _Missing:
    """Fails when a part is used that the test did not pass."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"This context lacks the part that has `{name}`.")


@dataclass(frozen=True)
class Parts:
    """A Context whose parts exist already."""

    ws: Workspace
    store: StateStore
    locks: LockService
    tracker: IssueTracker
    hub: "GitHubRepository | None"
    forge: Forge

    @property
    def world(self) -> World:
        """What they know now."""
        return World(self)


def make_context(
    ws: Workspace | None = None,
    store: StateStore | None = None,
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
