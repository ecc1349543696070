"""It takes two looks, with news in between, to find the holder of a strict lease dead."""

import os
from pathlib import Path

import pytest

from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.ids import Timestamp
from ghp_agents.leases import second_look as doubts
from ghp_agents.locks.lock import Lock
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state import observed
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.leases import Yard, two_yards
from tests.support.twins.state import MemoryStore

AT = Timestamp("2025-06-15T15:06:40Z")
RIGHT = Lock("path/0123456789ab", "worker-1", 1, 1, AT, "n", "", "r")


def sight(liveness: Liveness, seq: int = 1, *, is_here: bool = False) -> HolderView:
    view = AgentView("worker-1", {"epoch": 1, "seq": seq}, liveness, 2_000.0, is_here)
    return HolderView(view, lives=liveness is Liveness.ACTIVE)


def is_doubted(yard: Yard, view: HolderView, right: Lock = RIGHT) -> bool:
    met = {right.name: (right, view)}
    return doubts.unconfirmed(make_context(yard.ws("worker-2"), yard.store), met) == [right]


@pytest.fixture
def yard(clones: object) -> Yard:
    return two_yards(*clones(2))[1]  # type: ignore[operator]


def test_a_second_look_confirms_after_a_while_and_with_news(yard: Yard) -> None:
    dead = sight(Liveness.DEAD)
    assert is_doubted(yard, dead)
    yard.clock.wait(10)
    assert is_doubted(yard, dead), "there was no news"
    yard.store.sync()
    assert not is_doubted(yard, dead)


def test_the_second_look_is_not_at_once(yard: Yard) -> None:
    dead = sight(Liveness.DEAD)
    assert is_doubted(yard, dead)
    yard.clock.wait(9)
    yard.store.sync()
    assert is_doubted(yard, dead)


@pytest.mark.parametrize("between", [sight(Liveness.ACTIVE), sight(Liveness.DEAD, seq=2)])
def test_who_moved_between_two_looks_is_doubted_anew(yard: Yard, between: HolderView) -> None:
    assert is_doubted(yard, sight(Liveness.DEAD))
    yard.clock.wait(60)
    yard.store.sync()
    is_doubted(yard, between)
    assert is_doubted(yard, sight(Liveness.DEAD, seq=2))


def test_of_an_agent_of_this_clone_no_news_is_waited_for(yard: Yard) -> None:
    dead = sight(Liveness.DEAD, is_here=True)
    assert is_doubted(yard, dead)
    yard.clock.wait(10)
    assert not is_doubted(yard, dead)
    assert not is_doubted(yard, sight(Liveness.STOPPED, is_here=True)), "it said so itself"


def test_where_nothing_can_be_kept_nothing_is_confirmed(yard: Yard, repo: Path) -> None:
    ws = yard.ws("worker-2")
    ws.cache_dir.parent.mkdir(parents=True, exist_ok=True)
    ws.cache_dir.write_text("in the way")
    for _ in range(3):
        assert is_doubted(yard, sight(Liveness.DEAD))
        yard.clock.wait(60)
        yard.store.sync()


def test_who_was_seen_alive_is_doubted_anew(yard: Yard) -> None:
    dead = sight(Liveness.DEAD, is_here=True)
    assert is_doubted(yard, dead)
    yard.clock.wait(10)
    assert not is_doubted(yard, sight(Liveness.ACTIVE, is_here=True))
    assert is_doubted(yard, dead)


def test_a_right_that_was_taken_again_is_doubted_anew(yard: Yard) -> None:
    dead = sight(Liveness.DEAD, is_here=True)
    assert is_doubted(yard, dead)
    yard.clock.wait(10)
    assert is_doubted(yard, dead, RIGHT._replace(revision="another"))


def test_an_agent_elsewhere_that_stopped_needs_two_looks_too(yard: Yard) -> None:
    assert is_doubted(yard, sight(Liveness.STOPPED))


def test_a_machine_that_was_started_anew_doubts_anew(repo: Path) -> None:
    clock, dead = ManualClock(), sight(Liveness.DEAD, is_here=True)
    ws, store = open_workspace(repo, os.environ, clock), MemoryStore(clock)
    met = {RIGHT.name: (RIGHT, dead)}
    ws.steady()
    clock.wait(100)
    assert doubts.unconfirmed(make_context(ws, store), met) == [RIGHT]
    clock.restart()
    clock.step(3_600)
    assert doubts.unconfirmed(make_context(ws, store), met) == [RIGHT]
    clock.wait(10)
    assert doubts.unconfirmed(make_context(ws, store), met) == []


@pytest.mark.parametrize("notes", [b"{", b"[]", b'{"path/0123456789ab": ["r 1 1", "once"]}'])
def test_notes_that_cannot_be_read_confirm_nothing(yard: Yard, notes: bytes) -> None:
    dead = sight(Liveness.DEAD, is_here=True)
    assert is_doubted(yard, dead)
    yard.clock.wait(10)
    (yard.ws(None).cache_dir / observed.DOUBTS).write_bytes(notes)
    assert is_doubted(yard, dead)
