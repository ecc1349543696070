"""What all parts of the GitHub tracker share: the repository, and who is who."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from ghp_agents.github import account
from ghp_agents.github.accounts import Names
from ghp_agents.github.api.errors import HubError
from ghp_agents.github.labels import SIGNS
from ghp_agents.github.tracker import mirror as mirror_file
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.locks.names import PREFIX, claim_name
from ghp_agents.ports import LockService
from ghp_agents.workspace import Workspace
from ghp_agents.world import by_issue

if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository


class TrackerContext:
    """One repository on GitHub, as one clone sees it."""

    def __init__(self, ws: Workspace, hub: "GitHubRepository", locks: LockService) -> None:
        self.ws, self.hub, self.locks = ws, hub, locks
        self.repository = f"{hub.host}/{hub.repository}"

    @cached_property
    def signs(self) -> frozenset[str]:
        """Labels that begin like an agent's label but name no agent."""
        return SIGNS | {self.ws.settings.needs_human_label.lower()}

    @cached_property
    def viewer(self) -> str:
        """The token's account; empty if GitHub does not tell, e.g. for an app. Sends a request."""
        try:
            return self.hub.viewer()
        except HubError:
            return ""

    @property
    def account(self) -> str:
        """The person whose account the token is of, for footers; sends no request."""
        return account.person(self.hub, self.ws.settings.accounts)

    @cached_property
    def person(self) -> str:
        """The person who works here, from git's `user.name`."""
        return self.ws.person or ""

    def mirror(self) -> mirror_file.Mirror | None:
        """The mirrored issues; sends no request."""
        return mirror_file.load(self.ws, self.repository)

    def names(self, viewer: str, accounts: Iterable[str]) -> Names:
        """Who is who, given the `accounts` that occur."""
        is_met = bool(viewer) and viewer.casefold() in {account.casefold() for account in accounts}
        return Names(self.ws.settings.accounts, viewer, self.person if is_met else "")

    def names_of(self, viewer: str, issues: Iterable[MirroredIssue]) -> Names:
        """Who is who among the assignees of issues."""
        return self.names(viewer, (login for issue in issues for login in issue.assignees))

    def names_for(self, names: Iterable[str]) -> Names:
        """Who is who, for names to assign or unassign. Sends a request."""
        people = any(not is_name(name) for name in names)
        return Names(
            self.ws.settings.accounts, self.viewer if people else "", self.person if people else ""
        )

    def held(self, number: int) -> str | None:
        """The holder of an issue's lock, as known here: "" for nobody, None if unknown."""
        lock = by_issue(self.locks.known(claim_name(number))).get(number)
        return None if lock is None else lock.holder or ""

    def holders(self) -> dict[int, str]:
        """The holders of all issues, as known here."""
        locks = by_issue(self.locks.known(PREFIX))
        return {number: lock.holder for number, lock in locks.items() if lock.holder}
