"""It takes two looks, with news in between, to find the holder of a strict lease dead."""

from pathlib import Path

import pytest

from ghp_agents.model.lease import Lease
from ghp_agents.model.liveness import Liveness
from ghp_agents.model.names import Timestamp
from ghp_agents.services import doubts
from ghp_agents.services.claim_sight import Sight
from ghp_agents.services.presence import AgentView
from tests.support.leases import Yard, two_yards

AT = Timestamp("2025-06-15T15:06:40Z")
RIGHT = Lease("path/0123456789ab", "worker-1", 1, 1, AT, "n", "", "r")


def sight(liveness: Liveness, seq: int = 1, *, is_here: bool = False) -> Sight:
    view = AgentView("worker-1", {"epoch": 1, "seq": seq}, liveness, 2_000.0, is_here)
    return Sight(view, lives=liveness is Liveness.ACTIVE)


def is_doubted(yard: Yard, seen: Sight) -> bool:
    met = {RIGHT.name: (RIGHT, seen)}
    return doubts.unconfirmed(yard.ws("worker-2"), yard.store, met) == [RIGHT]


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
def test_who_moved_between_two_looks_is_doubted_anew(yard: Yard, between: Sight) -> None:
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
