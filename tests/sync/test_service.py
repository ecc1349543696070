"""A sync exchanges state, and makes up for what could not be done before."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.escalations.service import escalate
from ghp_agents.issues.issue import IssueChange
from ghp_agents.issues.local import LocalTracker
from ghp_agents.state.join import SyncReport
from ghp_agents.sync.service import sync
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.escalations import ShakyTracker
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryRemote, MemoryStore

ADA = Actor("Ada", is_person=True)


@dataclass
class Clone:
    """A clone that shares a hub and a board with others, all in memory."""

    ws: Workspace
    store: MemoryStore
    locks: MemoryLocks
    hub: MemoryRemote
    board: Board

    @property
    def tracker(self) -> LocalTracker:
        return LocalTracker(self.ws, self.store, self.locks)

    def reach(self, reachable: bool) -> None:
        """Let the network be there, or not."""
        self.hub.reachable = self.board.reachable = reachable

    def sync(self, *, push: bool = True, publish: bool = False) -> SyncReport:
        ctx = make_context(self.ws, self.store, self.locks, self.tracker)
        return sync(ctx, push=push, publish=publish)


@pytest.fixture
def here(repo: Path) -> Clone:
    clock, hub, board = ManualClock(), MemoryRemote(), Board()
    ws = open_workspace(repo, os.environ, clock, "worker-1")
    return Clone(ws, MemoryStore(clock, "here", hub), MemoryLocks(clock, board), hub, board)


def test_an_issue_made_offline_has_its_number_and_is_sent_in_one_sync(here: Clone) -> None:
    here.reach(False)
    created = here.tracker.create(IssueChange(title="Write it"), ADA)
    here.reach(True)
    report = here.sync()
    assert (report.pushed, report.unsent, report.trouble) == (True, 0, None)
    assert [issue.number for issue in here.tracker.list()] == [1]
    assert created.number != 1, "offline it had another name, which still finds it"
    assert here.tracker.get(created.number).title == "Write it"
    assert here.store.sync_status().unsent == 0


def test_a_second_sync_finds_nothing_to_make_up_for(here: Clone) -> None:
    here.reach(False)
    here.tracker.create(IssueChange(title="Write it"), ADA)
    here.reach(True)
    here.sync()
    before = dict(here.hub.histories)
    assert here.sync() == SyncReport(remote="hub", fetched=True)
    assert here.hub.histories == before


def test_without_pushing_nothing_is_named_and_nothing_sent(here: Clone) -> None:
    here.reach(False)
    created = here.tracker.create(IssueChange(title="Write it"), ADA)
    here.reach(True)
    report = here.sync(push=False)
    assert (report.pushed, report.unsent) == (False, 1)
    assert here.tracker.get(created.number).number == created.number
    assert here.hub.histories == {}


def test_a_remote_out_of_reach_is_in_the_report_and_nothing_is_made_up_for(here: Clone) -> None:
    here.reach(False)
    here.tracker.create(IssueChange(title="Write it"), ADA)
    expected = SyncReport(remote="hub", unsent=1, trouble="the hub cannot be reached")
    assert here.sync(publish=True) == expected
    assert here.hub.published is None


def test_a_comment_that_is_owed_is_made_and_one_that_cannot_be_is_said(here: Clone) -> None:
    tracker = ShakyTracker(ManualClock())
    tracker.reachable = False
    escalate(make_context(here.ws, here.store, tracker=tracker), "Which database?", issue="#1")
    late = sync(make_context(here.ws, here.store, here.locks, tracker))
    assert [note.split(":")[0] for note in late.notes] == ["Cannot comment on #1"]
    tracker.reachable = True
    assert sync(make_context(here.ws, here.store, here.locks, tracker)).notes == ()
    assert [author for author, _ in tracker.said()] == ["worker-1"]


def test_publishing_shows_the_joined_document(here: Clone) -> None:
    assert here.hub.published is None
    here.sync(publish=True)
    assert here.hub.published == b'{\n  "schemaVersion": 1,\n  "agents": {}\n}\n'
