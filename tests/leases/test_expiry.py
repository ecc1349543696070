"""A lease with a time ends for other clones, too, while its holder's clone says nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.guard import evaluate as ruling
from ghp_agents.hotpath import policy_cache as rulebook
from ghp_agents.leases.acquire import HeldError
from ghp_agents.leases.strict import RivalError
from tests.support.leases import Yard, two_yards
from tests.support.script import Script

Clones = Callable[[int], list[Path]]
Yards = tuple[Yard, Yard]


@pytest.fixture
def yards(clones: Clones) -> Yards:
    one, other = two_yards(*clones(2))
    return one, other


def tell(one: Yard, other: Yard) -> None:
    """The one says what it has said; it is silent from then on."""
    one.sync()
    other.sync()


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["worker-1", None])
def test_a_lease_ends_when_news_prove_that_it_was_not_renewed_in_its_time(
    yards: Yards, agent: str | None
) -> None:
    one, other = yards
    one.take(agent, "src/", ttl=60.0)
    tell(one, other)
    one.clock.wait(59)
    other.sync()
    with pytest.raises(HeldError):
        other.take("worker-2", "src/a.py")
    one.clock.wait(1)
    assert len(other.held()) == 1, "who hears nothing knows nothing"
    other.sync()
    assert other.held() == []
    assert other.take("worker-2", "src/a.py").is_new
    for yard in (other, one, other):
        yard.sync()
    assert one.held() == other.held() == [("worker-2", "/src/a.py")]


@pytest.mark.parametrize("ahead", [3_600.0, -3_600.0])
def test_a_time_is_counted_from_when_it_was_first_seen_by_the_clock_of_who_looks(
    yards: Yards, ahead: float
) -> None:
    one, second = yards
    clock = Script()
    clock.wait(ahead)
    other = Yard(second.repo, "clone-b", clock=clock, hub=one.store._hub, board=one.locks._board)
    one.take("worker-1", "src/", ttl=600.0)
    tell(one, other)
    clock.wait(599)
    other.sync()
    assert other.held() == [("worker-1", "src/")]
    clock.wait(1)
    other.sync()
    assert other.held() == []


@pytest.mark.slow
def test_a_renewal_counts_anew_from_when_it_was_seen(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0)
    tell(one, other)
    one.clock.wait(50)
    one.take("worker-1", "src/", ttl=60.0)
    one.clock.wait(5)
    tell(one, other)
    one.clock.wait(59)
    other.sync()
    assert other.held() == [("worker-1", "src/")]
    one.clock.wait(1)
    other.sync()
    assert other.held() == []


def test_a_clock_that_was_set_back_ends_nothing_too_early(yards: Yards) -> None:
    one, second = yards
    clock = Script()
    clock.step(86_400)
    hub, board = one.store._hub, one.locks._board
    other = Yard(second.repo, "clone-b", clock=clock, hub=hub, board=board)
    one.take("worker-1", "src/", ttl=60.0)
    tell(one, other)
    clock.step(-86_400)
    clock.wait(59)
    other.sync()
    assert other.held() == [("worker-1", "src/")]
    clock.wait(1)
    other.sync()
    assert other.held() == []


@pytest.mark.slow
@pytest.mark.parametrize(("first", "then"), [("src/", "src/"), ("src/", "src/a.py")])
def test_a_strict_one_is_taken_by_compare_and_swap(yards: Yards, first: str, then: str) -> None:
    one, other = yards
    one.take("worker-1", first, ttl=60.0, strict=True)
    tell(one, other)
    one.clock.wait(59)
    other.sync()
    with pytest.raises((HeldError, RivalError)):
        other.take("worker-2", then, strict=True)
    one.clock.wait(1)
    other.sync()
    assert other.take("worker-2", then, strict=True).is_new
    assert [right.holder for right in other.locks.list() if right.holder] == ["worker-2"]
    for yard in (one, other, one):
        yard.sync()
    mine = "/src/a.py" if then == "src/a.py" else then
    assert one.held() == other.held() == [("worker-2", mine)]


def test_what_has_ended_is_forgotten(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0)
    tell(one, other)
    noted = other.repo / ".git/ghp/cache/lapses.json"
    assert noted.read_text() != "{}"
    one.give("worker-1", "src/")
    tell(one, other)
    assert noted.read_text() == "{}"


def test_edits_are_refused_until_then_and_allowed_from_then_on(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0)
    tell(one, other)

    def words() -> list[str]:
        agent = AgentName("worker-2")
        verdicts = ruling.judge(other.parts("worker-2"), agent, ["src/a.py"])
        return [verdict.word for verdict in verdicts]

    assert words() == ["deny"]
    one.clock.wait(60)
    assert words() == ["deny"]
    other.sync()
    assert words() == ["allow"]


@pytest.mark.parametrize(("now", "may"), [(9.0, False), (10.0, True)])
def test_a_rulebook_knows_when_it_may_be_out_of_date(now: float, may: bool) -> None:
    assert rulebook.may_have_expired({"lapses": 10.0}, now) is may
    assert not rulebook.may_have_expired({"lapses": None}, now)
