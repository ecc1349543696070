"""After a sync the remote has again what it lost; with git it is in tests/security."""

import os
from pathlib import Path

import pytest

from ghp_agents.escalations import service as escalation
from ghp_agents.leases import lost_locks as lost_rights
from ghp_agents.leases import settled_questions
from ghp_agents.locks.lock import Lock
from ghp_agents.state.cause import DISPUTE, Cause
from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.git import git
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryStore


class Place:
    """A clone whose board can lose rights."""

    def __init__(self, repo: Path) -> None:
        git(repo, "config", "user.name", "Ann Example")
        clock = ManualClock()
        self.board = Board()
        self.ws = open_workspace(repo, dict(os.environ), clock)
        self.store = MemoryStore(clock, "here")
        self.locks = MemoryLocks(clock, self.board, "here")
        self.parts = make_context(self.ws, self.store, self.locks, MemoryTracker(clock))


@pytest.fixture
def place(repo: Path) -> Place:
    return Place(repo)


def test_a_lost_right_is_put_back_and_written_down(place: Place) -> None:
    taken = place.locks.acquire("trunk", "worker-1", expected=None)
    place.board.leases.clear()
    assert lost_rights.put_back_locks(place.parts, SenderBudget(place.store.snapshot())) == [
        "the remote had lost history of the lock trunk"
    ]
    assert place.board.leases == {"trunk": taken}
    (entry,) = place.store.ledger()
    assert (entry.event, entry.object, entry.generation) == ("restore", "trunk", 1)
    assert lost_rights.put_back_locks(place.parts, SenderBudget(place.store.snapshot())) == []


def test_out_of_reach_nothing_is_mended_and_nothing_fails(place: Place) -> None:
    place.locks.acquire("trunk", "worker-1", expected=None)
    place.board.leases.clear()
    place.board.reachable = False
    assert lost_rights.put_back_locks(place.parts, SenderBudget(place.store.snapshot())) == []


def settled(place: Place) -> list[str]:
    return [x.settled for x in settled_questions.read(place.parts.world)]


def test_a_dispute_is_asked_about_once_by_the_clone_that_found_it(place: Place) -> None:
    lease = place.locks.acquire("name/staging-db", "bob", expected=None)
    dispute = lease._replace(holder=None, cause=Cause(DISPUTE, "bob"), reason="two have it")
    for clone, reason in (
        ("elsewhere", "two have it"), ("here", "two have it"), ("here", "they lost it again"),
    ):  # fmt: skip
        right: Lock = dispute._replace(clone=clone, reason=reason)
        place.locks._known["name/staging-db"] = place.board.leases["name/staging-db"] = right
        lost_rights.put_back_locks(place.parts, SenderBudget(place.store.snapshot()))
    (question,) = escalation.questions(place.parts.world)
    other = question.question._replace(agent="eve")  # found by another clone at once
    escalation.ask_once(place.parts, other)
    assert settled(place) == ["", f"{question.name} asks the same"]
    place.locks._known["name/staging-db"] = lease
    assert settled(place) == ["nobody disputes name/staging-db now"] * 2
    assert question.question.text == (
        "Who holds name/staging-db?\n\nTwo have it. Nobody can hold it until a person decides: "
        "`ghp agent-release --name staging-db --reason TEXT` frees it."
    )
