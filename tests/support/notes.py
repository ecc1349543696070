"""Notes for tests: made by hand, or told in a repository with twins of all ports."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.notes import recall as recalling
from ghp_agents.notes import service as services
from ghp_agents.notes.note import Note, identity
from ghp_agents.notes.recall import Recalled
from ghp_agents.notes.service import RememberResult
from ghp_agents.ports import Snapshot
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import Parts, make_context
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.notes import MemoryBase
from tests.support.twins.state import MemoryRemote, MemoryStore

WORKER = Actor("worker-1")
PROJECT = "shop"
NOW = Timestamp("2025-06-15T15:06:40Z")


def note(text: str, **fields: Any) -> Note:
    """A note as worker-1 told it."""
    result = Note(
        id=identity(PROJECT, text),
        text=text,
        kind="fact",
        by=WORKER,
        at=NOW,
        clock=1,
        clone=CloneId("aaaa"),
        project=PROJECT,
    )
    return result._replace(**fields)


@dataclass
class Desk:
    """Where an agent, or a person (None), tells notes and asks for them."""

    ws: Workspace
    store: MemoryStore
    tracker: MemoryTracker
    knowledge: MemoryBase

    def by(self, name: str | None) -> "Desk":
        """The same place, as somebody else works in it."""
        ws = open_workspace(self.ws.folder, os.environ, self.ws.clock, name)
        return replace(self, ws=ws)

    @property
    def parts(self) -> Parts:
        """The parts that services take."""
        return make_context(self.ws, self.store, tracker=self.tracker)

    def tell(self, text: str, **words: Any) -> RememberResult:
        """`agent-remember`."""
        return services.remember(self.parts, text, project=PROJECT, **words)

    def ask(self, query: str, **words: Any) -> Recalled:
        """`agent-recall`."""
        return recalling.recall(self.parts, self.knowledge, query, **words)

    def texts(self, query: str, **words: Any) -> list[str]:
        """What is found."""
        return [note.text for note in self.ask(query, **words).notes]

    def notes(self) -> list[Note]:
        """All notes as they are now."""
        return services.read_all(self.store.snapshot())[0]

    def files(self) -> dict[str, bytes]:
        """The records of notes in the joined state."""
        return dict(self.store.snapshot().files(".ghp/notes/"))


def make_desk(
    repo: Path, hub: MemoryRemote | None = None, clone: str = "aaaa", name: str = "worker-1"
) -> Desk:
    """A desk in `repo`; those around one hub are clones of one project."""
    clock = ManualClock()
    return Desk(
        open_workspace(repo, os.environ, clock, name),
        MemoryStore(clock, clone, hub),
        MemoryTracker(clock),
        MemoryBase(),
    )


class RivalStore(MemoryStore):
    """A store in which somebody else commits between a decision and its commit, once."""

    rival: Record | None = None

    def commit(self, records: Any, expected: str) -> None:
        if self.rival is not None:
            rival, self.rival = self.rival, None
            super().commit([rival], self.snapshot().revision)
        super().commit(records, expected)


def snapshot_of(desk: Desk) -> Snapshot:
    """The state as a desk sees it."""
    return desk.store.snapshot()
