"""A place to ask and answer in, for tests: a repository, a store, and a tracker that may fail."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ghp_agents.core.errors import UnknownError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.escalations.service import AnswerResult, EscalateResult, answer, escalate, questions
from ghp_agents.issues.issue import Comment, Issue, IssueChange
from ghp_agents.state.record import Record
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import Parts, make_context
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.state import MemoryStore

WORKER = AgentName("worker-1")


class Killed(BaseException):
    """The process ends here."""


class ShakyTracker(MemoryTracker):
    """A tracker that can be out of reach, or see its caller killed."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.create(IssueChange(title="Storage"), Actor("Ada", True))
        self.reachable = True
        self.kills = 0

    def get(self, issue: str | int) -> Issue:
        self._reach()
        return super().get(issue)

    def comment(self, issue: str | int, body: str, by: Actor, *, marker: str = "") -> Comment:
        self._reach()
        if self.kills:
            self.kills -= 1
            raise Killed
        return super().comment(issue, body, by, marker=marker)

    def said(self) -> list[tuple[str, str]]:
        """Who commented on the issue, and the last line of it: the marker."""
        return [(c.author, c.body.split("\n")[-1]) for c in super().get(1).comments]

    def _reach(self) -> None:
        if not self.reachable:
            raise UnknownError("The tracker cannot be reached.", hint="Check the network.")


class Place:
    """A repository with a store and a tracker, for one agent or person."""

    def __init__(
        self,
        repo: Path,
        store: MemoryStore,
        tracker: ShakyTracker,
        clock: ManualClock,
        name: str | None = WORKER,
    ) -> None:
        self.ws = open_workspace(repo, os.environ, clock, name)
        self.store, self.tracker, self.clock = store, tracker, clock

    @property
    def parts(self) -> Parts:
        """The parts that services take."""
        return make_context(self.ws, self.store, tracker=self.tracker)

    def ask(self, text: str = "Which database?", **more: object) -> EscalateResult:
        return escalate(self.parts, text, **more)  # type: ignore[arg-type]

    def reply(self, reference: str, text: str = "SQLite") -> AnswerResult:
        return answer(self.parts, reference, text)

    def known(self) -> list[Escalation]:
        return questions(self.parts.world)

    def by(self, name: str | None) -> "Place":
        """The same place, for somebody else."""
        repo = Path(self.ws.place.toplevel or "")
        return Place(repo, self.store, self.tracker, self.clock, name)


class RivalStore(MemoryStore):
    """Somebody else writes between the first look and the first commit."""

    rival: Callable[[], object] | None = None

    def commit(self, records: Sequence[Record], expected: str) -> None:
        rival, self.rival = self.rival, None
        if rival:
            rival()
        super().commit(records, expected)


def make_place(repo: Path) -> Place:
    """Where worker-1 works."""
    clock = ManualClock()
    return Place(repo, MemoryStore(clock), ShakyTracker(clock), clock)
