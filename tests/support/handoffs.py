"""A place to hand over and to go on in, for tests: a repository with twins of all ports."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ghp_agents.core.ids import Actor, IssueNumber
from ghp_agents.escalations.service import EscalateResult, answer, escalate
from ghp_agents.handoffs.hand_over import pass_on
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.handoffs.restore import Restored, restore
from ghp_agents.handoffs.resume import Resumed, choose, resume
from ghp_agents.handoffs.service import HandoffResult, handoff
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import Parts, make_context
from tests.support.escalations import ShakyTracker
from tests.support.git import git
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryStore

ADA = Actor("Ada", is_person=True)
BODY = "We need a dashboard.\n\n## Acceptance criteria\n- [ ] shows agents\n- [x] is fast"


@dataclass
class Team:
    """What all agents share."""

    clock: ManualClock
    store: MemoryStore
    tracker: ShakyTracker
    board: Board
    locks: MemoryLocks

    def parts(self, ws: Workspace) -> Parts:
        """What every service takes."""
        return make_context(ws, self.store, self.locks, self.tracker)

    def at(self, folder: Path, name: str | None = "worker-1") -> "Station":
        """Where an agent works, or a person (None)."""
        return Station(open_workspace(folder, os.environ, self.clock, name), self)


@dataclass
class Station:
    """One agent in one worktree."""

    ws: Workspace
    team: Team

    @property
    def folder(self) -> Path:
        """The worktree."""
        return self.ws.folder

    def hand_over(self, **words: object) -> HandoffResult:
        """`agent-handoff`, with the issue given over."""
        team = self.team
        ctx = team.parts(self.ws)
        handed = handoff(ctx, **words)  # type: ignore[arg-type]
        pass_on(ctx, handed.handoff)
        return handed

    def resume(
        self, max_chars: int | None = None, stopped: Collection[int] = (), **words: object
    ) -> Resumed:
        """`agent-resume`."""
        chosen = choose(self.team.parts(self.ws), **words)  # type: ignore[arg-type]
        ctx = make_context(self.ws, self.team.store, self.team.locks)
        return resume(ctx, chosen, max_chars=max_chars, stopped=frozenset(stopped))

    def restore(self, **words: object) -> Restored:
        """`agent-resume --apply`."""
        chosen = choose(self.team.parts(self.ws), **words)  # type: ignore[arg-type]
        return restore(make_context(self.ws, self.team.store), chosen.handoff)

    def ask(self, text: str, **words: object) -> EscalateResult:
        """`agent-escalate`."""
        ctx = make_context(self.ws, self.team.store, tracker=self.team.tracker)
        return escalate(ctx, text, **words)  # type: ignore[arg-type]

    def answer(self, reference: str, text: str) -> None:
        """`agent-answer`."""
        answer(make_context(self.ws, self.team.store, tracker=self.team.tracker), reference, text)

    def issue(self) -> Issue:
        """The issue that the tests are about."""
        return self.team.tracker.get(2)


def make_team() -> Team:
    """A team with two issues: #2, the dashboard, is worker-1's and waits for #1, storage."""
    clock = ManualClock()
    tracker, board = ShakyTracker(clock), Board()
    tracker.create(IssueChange(title="Add the dashboard", body=BODY, priority="high"), ADA)
    tracker.change(2, IssueChange(add_assignees=("worker-1",), add_blockers=(IssueNumber(1),)), ADA)
    return Team(clock, MemoryStore(clock), tracker, board, MemoryLocks(clock, board))


def begin_work(repo: Path, branch: str = "agent/worker-1/2-dashboard") -> None:
    """Put a worktree on a branch for the issue."""
    git(repo, "checkout", "--quiet", "-b", branch)


def anonymous(text: str, handoff: Handoff) -> str:
    """A text without what differs from run to run."""
    return text.replace(handoff.id, "ID")
