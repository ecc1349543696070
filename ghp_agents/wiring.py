"""The only place that names real adapters: creates the parts of a command."""

import contextlib
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from ghp_agents.core.clock import SystemClock
from ghp_agents.hotpath import background
from ghp_agents.ports import (
    Clock,
    Forge,
    IssueTracker,
    LockService,
    StateStore,
)
from ghp_agents.state import coordination
from ghp_agents.workspace import Workspace, open_workspace
from ghp_agents.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository
    from ghp_agents.github.tokenless.place import Tracker
    from ghp_agents.ports import KnowledgeBase
    from ghp_agents.state.admin_port import StoreAdmin
    from ghp_agents.state.git.store import GitRefsStore


class App:
    """The parts of the program for one command; each is created on first use."""

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
        self.tell: Callable[[str], None] | None = None  # shows warnings of the parts

    @cached_property
    def ws(self) -> Workspace:
        """The repository around the folder. Raises NotSetUpError."""
        return open_workspace(self.cwd, self.environ, self._clock, self.name)

    @property
    def clock(self) -> Clock:
        """The clock, also outside a repository."""
        return self._clock or SystemClock()

    def limit_waiting(self, seconds: float) -> None:
        """Let one exchange with the remote take at most `seconds`; for commands that somebody waits
        for. Call it before the parts are used."""
        if self.ws.settings.timeout > seconds:
            self.ws = self.ws.with_timeout(seconds)

    @cached_property
    def _git_store(self) -> "GitRefsStore":
        from ghp_agents.state.git.store import GitRefsStore

        return GitRefsStore(self.ws, ring=self._ring)

    def _ring(self) -> None:
        """Have new records sent in the background, if there is somewhere to send them."""
        from ghp_agents.core.errors import GhpError

        with contextlib.suppress(GhpError):  # the command reports the configuration's errors
            if coordination.coordination_remote(self.ws):
                settings = {"background": self.ws.settings.background}
                background.ring(self.ws.folders, self.environ, self.ws.clock.now(), settings)

    @property
    def store(self) -> StateStore:
        """Stores records."""
        return self._git_store

    @property
    def world(self) -> World:
        """What is known in this moment."""
        return world_of(self)

    @cached_property
    def locks(self) -> LockService:
        """Decides locks: the coordination remote, or this clone if there is none."""
        from ghp_agents.locks.git import GitLocks

        return GitLocks(self.ws, self.tell)

    @cached_property
    def hub(self) -> "GitHubRepository | None":
        """The repository on GitHub; None if issues are in the state. Raises NotSetUpError."""
        from ghp_agents.github.api import access

        repository_access = access.find(self.ws, lambda: self.place_without_token is not None)
        if repository_access is None:
            if self.tell:
                access.warn_once(self.ws, self.tell)
            return None
        from ghp_agents.github.api.repository import GitHubRepository

        return GitHubRepository(self.ws, repository_access)

    @cached_property
    def place_without_token(self) -> "Tracker | None":
        """The place of the issues that other clones recorded, for a clone without a token; None
        if none did. The tracker is a fact of the repository, whoever has a token."""
        from ghp_agents.github.tokenless import recorded

        return recorded.find(self.ws, self.store)

    @cached_property
    def tracker(self) -> IssueTracker:
        """The issues: on GitHub if the repository's are there, else in the state."""
        if self.hub is not None:
            from ghp_agents.github.tracker.tracker import GitHubTracker

            return GitHubTracker(self.ws, self.hub, self.locks)
        return self._tracker_without_token

    @property
    def _tracker_without_token(self) -> IssueTracker:
        if self.place_without_token:
            from ghp_agents.github.tokenless.tracker import TokenlessTracker

            return TokenlessTracker(self.ws, self.store, self.locks, self.place_without_token)
        from ghp_agents.issues.local import LocalTracker

        return LocalTracker(self.ws, self.store, self.locks)

    @cached_property
    def knowing_tracker(self) -> IssueTracker:
        """The tracker for callers that need only local knowledge, such as hooks. It needs no token,
        starts no process, and does not contact GitHub."""
        from ghp_agents.github.api import access

        place = access.where(self.ws) if self.ws.settings.tracker != "local" else None
        if place is not None:
            from ghp_agents.github.api.repository import GitHubRepository
            from ghp_agents.github.api.token import Token
            from ghp_agents.github.tracker.tracker import GitHubTracker

            nobody = access.Access(place.host, place.repository, "", Token(""))
            tracker = GitHubTracker(
                self.ws, GitHubRepository(self.ws, nobody), self.locks, asks=False
            )
            is_set = self.ws.settings.tracker == "github"
            if tracker.is_mirrored or (is_set and not self.place_without_token):
                return tracker
        return self._tracker_without_token

    @property
    def offline(self) -> "Offline":
        """The same parts, with the issues as this clone knows them."""
        return Offline(self)

    def past(self, at: float) -> "Past":
        """The same parts with the state, local issues and pull requests as they were at a time."""
        return Past(self, at)

    @cached_property
    def forge(self) -> Forge:
        """The pull requests: in the same place as the issues."""
        if self.hub is not None:
            from ghp_agents.github.forge import GitHubForge

            return GitHubForge(self.ws, self.hub)
        if self.place_without_token:
            from ghp_agents.github.tokenless.forge import TokenlessForge

            return TokenlessForge(self.ws, self.store, self.place_without_token)
        from ghp_agents.pulls.local import LocalForge

        return LocalForge(self.ws, self.store, self.locks)

    @cached_property
    def ground(self) -> "StoreAdmin":
        """What set-up and the doctor can do with the store."""
        from ghp_agents.state.git.admin import admin

        return admin.build_admin(self.ws, self._git_store)

    @cached_property
    def project(self) -> str:
        """The name of the project, which all its clones share."""
        from ghp_agents.notes import project

        return str(self.ws.settings.notes.get("project") or project.name(self._address))

    @cached_property
    def knowledge(self) -> "KnowledgeBase":
        """Finds notes: with mem0 if it is installed."""
        from ghp_agents.core.errors import GhpError
        from ghp_agents.notes import project
        from ghp_agents.notes.search.result import engines
        from ghp_agents.notes.search.select import choose

        memory = self.ws.settings.notes
        try:
            scope = str(memory.get("project") or project.scope(self._address))
        except GhpError:  # a misconfigured remote does not prevent searching
            scope = project.LOCAL
        return choose(self.ws.folders, scope, engines(memory))

    @cached_property
    def _address(self) -> str | None:
        """The address of the remote that the project's clones share."""
        from ghp_agents.state import remote_branches

        return remote_branches.address(self.ws)


def world_of(parts: "App | Offline") -> World:
    """What is known in this moment: the same world until it ends."""
    return parts.ws.kept.get((parts.store, "world"), lambda: World(parts))


class Offline:
    """The context of callers that need only local knowledge, such as hooks. Reading its issues
    needs no token, starts no process, and does not contact GitHub."""

    hub = None

    def __init__(self, app: App) -> None:
        self.ws, self.store, self.locks = app.ws, app.store, app.locks
        self._app = app

    @property
    def world(self) -> World:
        """What is known in this moment."""
        return world_of(self)

    @property
    def tracker(self) -> IssueTracker:
        """The issues as this clone knows them."""
        return self._app.knowing_tracker

    @property
    def forge(self) -> Forge:
        """The pull requests."""
        return self._app.forge


class Past(Offline):
    """The context of commands that show the state, local issues and pull requests as they were."""

    def __init__(self, app: App, at: float) -> None:
        from ghp_agents.state.git.store import GitRefsStore

        super().__init__(app)
        self.store, self._at = GitRefsStore(app.ws, at), at

    @property
    def world(self) -> World:
        """What is known of that time."""
        return World(self, at=self._at)

    @property
    def tracker(self) -> IssueTracker:
        """The issues at that time; for reading only."""
        from ghp_agents.issues.local import LocalTracker

        return LocalTracker(self.ws, self.store, self.locks)

    @property
    def forge(self) -> Forge:
        """The pull requests at that time; for reading only."""
        from ghp_agents.pulls.local import LocalForge

        return LocalForge(self.ws, self.store, self.locks)
