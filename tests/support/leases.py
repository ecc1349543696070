"""A place to lease in, for tests: a repository with files, and agents who share its records."""

import os
from pathlib import Path
from typing import Any

from ghp_agents.core import moment
from ghp_agents.git.worktree import head
from ghp_agents.guard import approval
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.leases import queue as lease_waiting
from ghp_agents.leases import service as lease
from ghp_agents.leases.acquire import LeaseResult
from ghp_agents.leases.coverage import WorktreeFiles
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.leases.service import LeaseListing, ReleasedLeases
from ghp_agents.presence import service as presence
from ghp_agents.state.join import SyncReport
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.sync.service import sync
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.context import Parts, make_context
from tests.support.escalations import RivalStore
from tests.support.git import commit
from tests.support.script import Script
from tests.support.taking import take
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryRemote, MemoryStore

FILES = {
    "README.md": "",
    "docs/a.md": "",
    "src/a.py": "",
    "src/b.py": "",
    "src/gen/x.py": "",
}
_FURNISHED: dict[str, dict[Path, bytes]] = {}  # by the commit before
NOW = "2025-06-15T15:06:40Z"


class Yard:
    """A clone, and all who work in it. Several may share a hub and a board, as on one remote."""

    def __init__(
        self,
        repo: Path,
        clone: str = "here",
        *,
        clock: Script | None = None,
        hub: MemoryRemote | None = None,
        board: Board | None = None,
    ) -> None:
        self.repo = repo
        self.clock = clock or Script()
        self.store: MemoryStore = RivalStore(self.clock, clone, hub)
        self.locks = MemoryLocks(self.clock, board, clone)
        self.tracker = MemoryTracker(self.clock)

    def ws(self, agent: str | None, **environ: str) -> Workspace:
        """The workspace of an agent, or of the person."""
        return open_workspace(self.repo, {**os.environ, **environ}, self.clock, agent)

    def parts(self, agent: str | None) -> Parts:
        """What every service takes."""
        return make_context(self.ws(agent), self.store, self.locks, self.tracker)

    # ------------------------------------------------------------------ what they do

    def wanted(self, words: tuple[str, ...], cwd: Path | None = None, **more: Any) -> LeaseRequest:
        """What the words of a command come to."""
        patterns = WorktreeFiles(self.ws(None)).spelled(words, cwd or self.repo) if words else ()
        return LeaseRequest(patterns, **more)

    def take(self, agent: str | None, *words: str, **more: Any) -> LeaseResult:
        """Lease something at once."""
        return take(self.parts(agent), self.wanted(words, **more))

    def wait(
        self, agent: str | None, *words: str, timeout: float | None = None, **more: Any
    ) -> tuple[LeaseResult, list[str]]:
        """Lease something in its turn; also the places in the queue that were told."""
        lines: list[str] = []
        wanted = self.wanted(words, **more)
        parts = self.parts(agent)
        approve = approval.approver(parts)
        got = lease_waiting.wait(parts, approve, wanted, timeout=timeout, tell=lines.append)
        return got, lines

    def give(self, agent: str | None, *words: str, **more: Any) -> ReleasedLeases:
        """Give something back."""
        options = {"cwd": self.repo, **more}
        return lease.release(make_context(self.ws(agent), self.store, self.locks), words, **options)

    def edit(self, agent: str, path: str) -> str | None:
        """Begin to edit a file; the one who has it already, if there is one."""
        ws = self.ws(agent)
        if ws.presence(agent) is None:
            presence.register(ws, self.store, pulse_name(agent))
        epoch = (ws.presence(agent) or {})["epoch"]
        return touched.take_lease(
            ws.folders, agent, epoch, path, ws.place.git_dir, self.clock.now()
        )

    def beat(self, agent: str, status: str = "implementing", epoch: int = 1) -> None:
        """Let an agent be known to live, or to have stopped."""
        seq = int(self.clock.passed) + 1
        fields = {"status": status, "epoch": epoch, "seq": seq, "timestamp": NOW}
        self.store.beat(agent, fields)

    def sync(self) -> SyncReport:
        """Exchange what was said, and settle what follows from it."""
        report = sync(self.parts(None))
        if report.fetched:
            self.locks.hear()
        return report

    # ------------------------------------------------------------------ what there is

    def listing(self) -> LeaseListing:
        """All that is leased, as this clone knows it."""
        return lease.listing(make_context(self.ws(None), self.store, self.locks), implicit=True)

    def held(self) -> list[tuple[str, str]]:
        """Who has what."""
        return [(hold.holder, _what(hold)) for hold in self.listing().held]

    def events(self) -> list[tuple[str, str, str]]:
        """Events of the ledger that are about leases: who, what, and the text."""
        return [_event(x) for x in self.store.ledger() if x.event.startswith("lease")]


def pulse_name(agent: str) -> Any:
    """An agent's name, checked."""
    assert pulse.is_name(agent)
    return agent


def _what(hold: Hold) -> str:
    return hold.name or " ".join(hold.patterns)


def _event(entry: LedgerEntry) -> tuple[str, str, str]:
    return entry.actor, entry.event, entry.text


def furnish(repo: Path) -> Path:
    """Give a repository some files, unless it has them. All of them get the same commit, which is
    made once and copied."""
    if not (repo / "src/gen").exists():
        cached = _FURNISHED.setdefault(head(repo), {})
        if not cached:
            commit(repo, FILES, "Files")
            cached.update({path: (repo / path).read_bytes() for path in _files(repo)})
        for path, content in cached.items():
            target = repo / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != content:
                target.write_bytes(content)
        moment.end()  # as after git, which would have made them
    return repo


def _files(repo: Path) -> list[Path]:
    places = [repo / ".git/objects", repo / ".git/refs/heads", *(repo / name for name in FILES)]
    paths = [path for place in places for path in (place, *place.rglob("*")) if path.is_file()]
    return [path.relative_to(repo) for path in (*paths, repo / ".git/index")]


def make_yard(repo: Path) -> Yard:
    """One clone without a remote."""
    return Yard(furnish(repo))


def two_yards(one: Path, other: Path) -> tuple[Yard, Yard]:
    """Two clones around one remote, on one clock."""
    clock, hub, board = Script(), MemoryRemote(), Board()
    first = Yard(furnish(one), "clone-a", clock=clock, hub=hub, board=board)
    second = Yard(furnish(other), "clone-b", clock=clock, hub=hub, board=board)
    return first, second
