"""The one place that names real adapters: from a folder and an environment to working parts."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from ghp_agents.ports import Clock, Forge, IssueTracker, LockService, StateStore
from ghp_agents.workspace import Workspace, open_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository
    from ghp_agents.ports import KnowledgeBase
    from ghp_agents.state.admin_port import StoreAdmin


class App:
    """The parts of the program for one command; each is made when it is first used."""

    def __init__(
        self,
        cwd: Path,
        environ: Mapping[str, str],
        *,
        name: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.cwd = cwd
        self.environ = environ
        self.name = name  # by --as
        self._clock = clock
        self.tell: Callable[[str], None] | None = None  # where warnings of its parts go

    @cached_property
    def ws(self) -> Workspace:
        """The repository around the folder. Raises NotSetUpError."""
        return open_workspace(self.cwd, self.environ, self._clock, self.name)

    @cached_property
    def store(self) -> StateStore:
        """Where records are kept."""
        from ghp_agents.state.git.store import GitRefsStore

        return GitRefsStore(self.ws)

    @cached_property
    def leaser(self) -> LockService:
        """Who decides rights: the coordination remote, or this clone if there is none."""
        from ghp_agents.locks.git import GitRefLeaser

        return GitRefLeaser(self.ws, self.tell)

    @cached_property
    def hub(self) -> "GitHubRepository | None":
        """The repository on GitHub; None where issues live in the state. Raises NotSetUpError."""
        from ghp_agents.github.api import access

        found = access.find(self.ws)
        if found is None:
            return None
        from ghp_agents.github.api.repository import GitHubRepository

        return GitHubRepository(self.ws, found)

    @cached_property
    def tracker(self) -> IssueTracker:
        """Where issues are: on GitHub, if that is where this repository is, or in the state."""
        if self.hub is not None:
            from ghp_agents.github.tracker.tracker import GitHubTracker

            return GitHubTracker(self.ws, self.hub, self.leaser)
        from ghp_agents.issues.local import LocalTracker

        return LocalTracker(self.ws, self.store, self.leaser)

    @cached_property
    def knowing_tracker(self) -> IssueTracker:
        """The tracker for who only asks what is known here, as hooks do: it looks for no token,
        and so starts no process, and it asks GitHub nothing."""
        from ghp_agents.github.api import access

        place = access.where(self.ws) if self.ws.settings.tracker != "local" else None
        if place is not None:
            from ghp_agents.github.api.repository import GitHubRepository
            from ghp_agents.github.api.token import Token
            from ghp_agents.github.tracker.tracker import GitHubTracker

            nobody = access.Access(place.host, place.repository, "", Token(""))
            tracker = GitHubTracker(
                self.ws, GitHubRepository(self.ws, nobody), self.leaser, asks=False
            )
            if tracker.is_mirrored or self.ws.settings.tracker == "github":
                return tracker
        from ghp_agents.issues.local import LocalTracker

        return LocalTracker(self.ws, self.store, self.leaser)

    @cached_property
    def forge(self) -> Forge:
        """Where pull requests are: where the issues are."""
        if self.hub is not None:
            from ghp_agents.github.forge import GitHubForge

            return GitHubForge(self.ws, self.hub)
        from ghp_agents.pulls.local import LocalForge

        return LocalForge(self.ws, self.store, self.leaser)

    @cached_property
    def ground(self) -> "StoreAdmin":
        """What set-up and the doctor can do with the place where records are kept."""
        from ghp_agents.state.git.admin import admin

        return admin.build_admin(self.ws, self.store)

    @cached_property
    def project(self) -> str:
        """The name of the project, which all its clones have in common."""
        from ghp_agents.notes import project

        return str(self.ws.settings.notes.get("project") or project.name(self._address))

    @cached_property
    def knowledge(self) -> "KnowledgeBase":
        """Where notes are found: through mem0, where it is installed."""
        from ghp_agents.core.errors import GhpError
        from ghp_agents.notes import project
        from ghp_agents.notes.search.result import engines
        from ghp_agents.notes.search.select import choose

        memory = self.ws.settings.notes
        try:
            scope = str(memory.get("project") or project.scope(self._address))
        except GhpError:  # a remote that is configured wrongly keeps nobody from searching
            scope = project.LOCAL
        return choose(self.ws.folders, scope, engines(memory))

    @cached_property
    def _address(self) -> str | None:
        """Where the clones of this project meet."""
        from ghp_agents.state import remote_branches

        return remote_branches.address(self.ws)
