"""Clones of one remote for tests of the state in git, on a clock that stands still."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.hotpath import fastjson as quickjson
from ghp_agents.ports import Snapshot
from ghp_agents.state.git import outbox
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.presence import Agents, Presence
from ghp_agents.state.private_repo import StateRepository, find_repository
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock

RECORDS = ".ghp/notes/"
AT = Timestamp("2026-01-02T03:04:05Z")


def workspace(folder: Path, clock: ManualClock | None = None) -> Workspace:
    """The workspace around a folder."""
    return open_workspace(folder, dict(os.environ), clock or ManualClock())


def private(folder: Path) -> StateRepository:
    """The private repository of a clone, which must be there."""
    repository = find_repository(workspace(folder))
    assert repository is not None
    return repository


def write_presence(folder: Path, agent: str, fields: Presence, now: float) -> Path:
    """Put `said` where a beat of `agent` puts it."""
    path = Path(workspace(folder).ghp_dir, "agents", f"{agent}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    fresh.write_bytes(quickjson.encode(dict(fields)))
    os.utime(fresh, (now, now))
    fresh.replace(path)
    return path


def one_page(snapshot: Snapshot, agents: Agents) -> dict[str, bytes]:
    """The pages to publish, where a test needs none in particular."""
    return {"README.md": f"# {len(agents)} of {len(snapshot.agents())} agents\n".encode()}


def store(folder: Path) -> GitRefsStore:
    """The state as one more process of a clone sees it."""
    return GitRefsStore(workspace(folder))


def note(name: str, clock: int) -> Record:
    """A record of one file, called `name`."""
    files = ((f"{RECORDS}{name}", name.encode()),)
    return Record("note", Actor("worker-1"), name, name, AT, clock, files)


def say(folder: Path, *names: str) -> None:
    """Commit a note for each name, all at once."""

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        return None, [note(name, snapshot.clock + 1) for name in names]

    transact(store(folder), decide)


def said(folder: Path) -> list[str]:
    """The notes that are in the state; the ledger must have each of them once."""
    names = [path.removeprefix(RECORDS) for path in store(folder).snapshot().files(RECORDS)]
    waiting = [record.object for _, record in outbox.waiting(workspace(folder)).records]
    ledger = [entry.object for entry in store(folder).ledger() if entry.event == "note"]
    assert sorted(ledger + waiting) == names
    return names


@dataclass
class GitField:
    """Clones of one bare remote; each store is one more process, as far as it can tell."""

    remote: Path
    make: Callable[[int], list[Path]]
    alone_at: Path
    clock: ManualClock = field(default_factory=ManualClock)
    folders: list[Path] = field(default_factory=list)

    def folder(self, clone: int) -> Path:
        """The main worktree of a clone."""
        while len(self.folders) <= clone:
            self.folders += self.make(1)
        return self.folders[clone]

    def store(self, clone: int) -> GitRefsStore:
        """The state as one more process of a clone sees it."""
        return GitRefsStore(workspace(self.folder(clone), self.clock))

    def beat(self, clone: int, agent: str, fields: Presence) -> None:
        """What a beat leaves."""
        write_presence(self.folder(clone), agent, fields, self.clock.now())

    def alone(self) -> GitRefsStore:
        """A repository that has no remote."""
        return GitRefsStore(workspace(self.alone_at, self.clock))

    def cut(self) -> None:
        """The remote is gone for now."""
        self.remote.rename(self.remote.with_suffix(".away"))

    def mend(self) -> None:
        """The remote is back, as it was."""
        self.remote.with_suffix(".away").rename(self.remote)
