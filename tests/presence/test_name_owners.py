"""In which clone an agent lives is noted, and a change is told once."""

from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, CloneId
from ghp_agents.presence import name_owners as homes
from ghp_agents.presence import service as presence
from tests.support.context import make_context
from tests.support.leases import Yard, two_yards

ADA = Actor("Ada", is_person=True)


@pytest.fixture
def yards(clones: object) -> tuple[Yard, Yard]:
    return two_yards(*clones(2))  # type: ignore[operator]


def told(yard: Yard) -> list[str]:
    ws, snapshot = yard.ws(None), yard.store.snapshot()
    return homes.observe(ws, snapshot, presence.list_agents(make_context(ws, yard.store), snapshot))


def exchange(*yards: Yard) -> None:
    for yard in (*yards, *yards):
        yard.store.sync()


def test_who_goes_to_another_clone_is_told_once(yards: tuple[Yard, Yard]) -> None:
    one, two = yards
    one.beat("worker-1")
    two.beat("worker-2")
    exchange(one, two)
    assert told(two) == []
    one.beat("worker-1", "stopped")
    two.beat("worker-1", epoch=2)
    exchange(one, two)
    words = "worker-1 moved from clone clone-a to this clone"
    hint = "If you did not start it there, somebody else uses its name."
    assert told(two) == [f"{words}. {hint}"]
    assert told(two) == []
    two.clock.wait(120)
    (finding,) = homes.check(two.ws(None), two.store.snapshot())
    assert (finding.text, finding.remedy) == (f"{words} (2 min ago).", hint)
    two.clock.wait(86_400)
    assert [*homes.check(two.ws(None), two.store.snapshot())] == []


def test_of_a_clone_that_knows_no_other_nothing_is_noted(repo: Path) -> None:
    yard = Yard(repo)
    yard.beat("worker-1")
    assert told(yard) == []
    assert not (yard.ws(None).cache_dir / homes.HOMES).exists()


def test_who_does_not_live_elsewhere_has_not_gone_there(yards: tuple[Yard, Yard]) -> None:
    one, two = yards
    one.beat("worker-1")
    exchange(one, two)
    assert told(two) == []
    two.clock.wait(2_000)
    two.beat("worker-1", "stopped", epoch=2)
    exchange(one, two)
    assert told(two) == []
    assert [*homes.check(two.ws(None), two.store.snapshot())] == []


def test_a_clone_that_has_another_id_now_is_no_other_home(yards: tuple[Yard, Yard]) -> None:
    one, two = yards
    one.beat("worker-1")
    two.beat("worker-2")
    exchange(one, two)
    assert told(two) == []
    one.store.use_clone_id(CloneId("clone-c"))
    two.store.absorb_clones(
        [tip for tip in two.store.snapshot().tips() if tip.clone == "clone-a"], ADA
    )
    exchange(one, two)
    assert told(two) == []


@pytest.mark.parametrize("notes", [b"{", b"[]", b'{"worker-1": ["clone-a", "once", ""]}'])
def test_notes_that_cannot_be_read_say_nothing(yards: tuple[Yard, Yard], notes: bytes) -> None:
    one, two = yards
    one.beat("worker-1")
    exchange(one, two)
    assert told(two) == []
    (two.ws(None).cache_dir / homes.HOMES).write_bytes(notes)
    one.beat("worker-1", "stopped")
    two.beat("worker-1", epoch=2)
    exchange(one, two)
    assert told(two) == []
    assert [*homes.check(two.ws(None), two.store.snapshot())] == []
