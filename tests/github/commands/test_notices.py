"""What people on GitHub want of an agent: told as long as it is so, or once."""

import json
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, AgentName, IssueNumber, Timestamp
from ghp_agents.github.commands.notices import ASSIGNED, assignments, orders, remember
from ghp_agents.hotpath import news_flag as bell
from ghp_agents.issues.comment_commands import DONE, STOP, Act, Obeyed, encode
from ghp_agents.issues.issue import Issue
from ghp_agents.presence import service as presence
from tests.support.escalations import WORKER, Place, make_place
from tests.support.twins.locks import Board, MemoryLocks


@pytest.fixture
def here(repo: Path) -> Place:
    """Where worker-1 works, registered."""
    place = make_place(repo)
    presence.register(place.ws, place.store, WORKER)
    return place


def issue(number: int, *assignees: str, state: str = "open") -> Issue:
    return Issue(f"{number:08x}", IssueNumber(number), "T", assignees=assignees, state=state)


def assigned_numbers(here: Place) -> list[int]:
    return [int(name.split("/")[1]) for _, name in assignments(here.ws, WORKER)]


def test_what_is_assigned_is_told_until_it_is_in_hand(here: Place) -> None:
    remember(here.ws, [issue(1, "worker-1"), issue(2, "worker-2"), issue(3, "Ada Example", "@eve")])
    assert assigned_numbers(here) == [1]
    presence.heartbeat(here.ws, here.store, WORKER, {"issue": 1})
    assert assigned_numbers(here) == []


def test_who_gets_something_new_is_woken_once(here: Place) -> None:
    bell.clear(here.ws.folders, WORKER)
    remember(here.ws, [issue(1, "worker-1")])
    assert bell.is_set(here.ws.folders, WORKER)
    bell.clear(here.ws.folders, WORKER)
    remember(here.ws, [issue(1, "worker-1"), issue(2, "worker-2")])
    assert not bell.is_set(here.ws.folders, WORKER)


def test_what_is_closed_or_taken_away_is_forgotten_and_news_again_later(here: Place) -> None:
    remember(here.ws, [issue(1, "worker-1"), issue(2, "worker-1")])
    first = assignments(here.ws, WORKER)
    here.clock.wait(1)
    remember(here.ws, [issue(1, "worker-1", state="closed"), issue(2)])
    assert assigned_numbers(here) == []
    remember(here.ws, [issue(1, "worker-1"), issue(2, "worker-1")])
    again = assignments(here.ws, WORKER)
    assert [text for text, _ in first] == [text for text, _ in again]
    assert {name for _, name in first}.isdisjoint(name for _, name in again)


@pytest.mark.parametrize("content", [b"[", b"[1]", b'{"worker-1": 3}', b'{"worker-1": {"x": 1}}'])
def test_what_cannot_be_read_is_noted_anew(here: Place, content: bytes) -> None:
    path = here.ws.cache_dir / ASSIGNED
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert assigned_numbers(here) == []
    remember(here.ws, [issue(1, "worker-1")])
    assert assigned_numbers(here) == [1]
    assert list(json.loads(path.read_bytes())) == ["worker-1"]


def test_an_order_to_stop_stands_as_long_as_the_claim_that_it_is_about(here: Place) -> None:
    locks = MemoryLocks(here.clock, Board())
    lease = locks.acquire("issue/1", WORKER, expected=None, epoch=1)
    assert orders(locks, here.store.snapshot(), WORKER) == []
    snapshot = here.store.snapshot()
    act = Act(STOP, "/agent stop", DONE, "told", WORKER, lease.generation)
    ada = Actor("@ada", True)
    obeyed = Obeyed(7, 1, ada, (act,), Timestamp("2025-01-25T10:30:00Z"), 1, snapshot.clone)
    here.store.commit([encode(obeyed)], expected=snapshot.revision)
    (found,) = orders(locks, here.store.snapshot(), WORKER)
    assert found[1] == f"command/{obeyed.id}"
    assert orders(locks, here.store.snapshot(), AgentName("worker-2")) == []
    lease = locks.release("issue/1", expected=lease)
    assert orders(locks, here.store.snapshot(), WORKER) == []
    locks.acquire("issue/1", WORKER, expected=lease, epoch=1)
    assert orders(locks, here.store.snapshot(), WORKER) == []
