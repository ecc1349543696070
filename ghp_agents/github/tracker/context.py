"""What all parts of the tracker on GitHub work with: the repository there, and who is who."""

from collections.abc import Iterable
from functools import cached_property

from ghp_agents.git import process as git
from ghp_agents.github.accounts import Names
from ghp_agents.github.api.errors import HubError
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.labels import SIGNS
from ghp_agents.github.tracker import mirror as mirror_file
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.locks.names import PREFIX, claim_name, claimed_issue
from ghp_agents.ports import LockService
from ghp_agents.workspace import Workspace


class TrackerContext:
    """One repository on GitHub, as one clone sees it."""

    def __init__(self, ws: Workspace, hub: GitHubRepository, leaser: LockService) -> None:
        self.ws, self.hub, self.leaser = ws, hub, leaser
        self.repository = f"{hub.host}/{hub.repository}"

    @cached_property
    def signs(self) -> frozenset[str]:
        """The labels that begin like an agent's and are none."""
        return SIGNS | {self.ws.settings.needs_human_label.lower()}

    @cached_property
    def viewer(self) -> str:
        """The account of the token; empty where GitHub does not tell, as for an app. Asks."""
        try:
            return self.hub.viewer()
        except HubError:
            return ""

    @cached_property
    def person(self) -> str:
        """The person who works here, by git."""
        return git.config(self.ws.folder, "user.name") or ""

    def mirror(self) -> mirror_file.Mirror | None:
        """What is kept of the issues; asks nobody."""
        return mirror_file.load(self.ws, self.repository)

    def names(self, viewer: str, accounts: Iterable[str]) -> Names:
        """Who is who, among others the `accounts` that are met."""
        is_met = bool(viewer) and viewer.casefold() in {account.casefold() for account in accounts}
        return Names(self.ws.settings.accounts, viewer, self.person if is_met else "")

    def names_of(self, viewer: str, issues: Iterable[MirroredIssue]) -> Names:
        """Who is who among those who are assigned to issues."""
        return self.names(viewer, (login for issue in issues for login in issue.assignees))

    def names_for(self, names: Iterable[str]) -> Names:
        """Who is who, for names that somebody wants assigned or no longer so. Asks."""
        people = any(not is_name(name) for name in names)
        return Names(
            self.ws.settings.accounts, self.viewer if people else "", self.person if people else ""
        )

    def held(self, number: int) -> str | None:
        """Who holds an issue, as far as it is known here: "" for nobody, None if nobody knows."""
        name = claim_name(number)
        lock = next((known for known in self.leaser.known(name) if known.name == name), None)
        return None if lock is None else lock.holder or ""

    def holders(self) -> dict[int, str]:
        """Who holds which issue, as far as it is known here."""
        known = {claimed_issue(lock.name): lock.holder for lock in self.leaser.known(PREFIX)}
        return {number: holder for number, holder in known.items() if number and holder}
