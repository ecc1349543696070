"""What a sync settles: once, by the clone whose business it is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.escalations.escalation import Escalation
from ghp_agents.escalations.service import answer, questions
from ghp_agents.leases.acquire import HeldError, attempt
from ghp_agents.leases.reconcile import reconcile
from ghp_agents.leases.request import prepare
from tests.support.context import make_context
from tests.support.leases import NOW, Yard, make_yard, two_yards
from tests.support.script import Script

Clones = Callable[[int], list[Path]]
Yards = tuple[Yard, Yard]


@pytest.fixture
def yards(clones: Clones) -> Yards:
    one, other = two_yards(*clones(2))
    return one, other


def asked(yard: Yard) -> list[Escalation]:
    return questions(yard.parts(None).world)


def exchange(*yards: Yard) -> None:
    """Everybody hears of everybody, and settles."""
    for yard in (*yards, *yards, *yards):
        yard.sync()


# ------------------------------------------------------------------------------ overlaps


@pytest.mark.slow
def test_two_clones_that_granted_one_thing_keep_both_and_the_later_one_asks_once(
    yards: Yards,
) -> None:
    one, other = yards
    mine = one.take("worker-1", "src/").hold
    one.clock.wait(60)
    theirs = other.take("worker-2", "src/a.py").hold
    exchange(one, other)
    assert one.held() == other.held()
    assert one.listing().held == [mine, theirs]
    (question,) = asked(one)
    assert asked(other) == [question]
    assert question.clone == "clone-b"
    assert question.urgency == "high"
    assert question.question.agent == "worker-2"
    assert question.question.options == ("worker-1", "worker-2")
    assert question.question.text == (
        "Two leases overlap: who should have src/a.py?\n\n"
        f"worker-1 leased src/ at {NOW} ({mine.short}), and worker-2 leased src/a.py at "
        f"2025-06-15T15:07:40Z ({theirs.short}), in clones that had not synced yet. Until one is "
        "released, the lease of worker-1 counts."
    )


@pytest.mark.slow
def test_after_the_answer_it_is_not_asked_again(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/")
    other.take("worker-2", "src/a.py")
    exchange(one, other)
    answer(make_context(one.ws(None), one.store, tracker=one.tracker), asked(one)[0].id, "worker-2")
    (other.repo / ".git/ghp/cache/leases-compared.json").unlink()
    exchange(one, other)
    assert len(asked(one)) == 1
    assert other.held() == [("worker-1", "src/ !/src/a.py"), ("worker-2", "/src/a.py")]


@pytest.mark.slow
def test_all_overlaps_between_two_agents_are_one_question_and_one_answer_decides_them(
    yards: Yards,
) -> None:
    one, other = yards
    one.take("worker-1", "src/a.py", "docs/")
    one.take("worker-1", "src/b.py")
    other.take("worker-2", "src/a.py")
    other.take("worker-2", "src/")
    exchange(one, other)
    (question,) = asked(one)
    assert question.title == "Two leases overlap: who should have src/a.py, src/b.py?"
    answer(make_context(one.ws(None), one.store, tracker=one.tracker), question.id, "worker-1")
    exchange(one, other)
    assert len(asked(one)) == 1
    assert other.held() == [
        ("worker-1", "/src/a.py docs/"), ("worker-1", "/src/b.py"),
        ("worker-2", "src/ !/src/a.py !docs/ !/src/b.py"),
    ]  # fmt: skip


@pytest.mark.slow
def test_leases_that_have_nothing_in_common_and_those_of_one_agent_are_no_question(
    yards: Yards,
) -> None:
    one, other = yards
    one.take("worker-1", "src/")
    other.take("worker-2", "docs/")
    other.take("worker-1", "src/a.py")
    exchange(one, other)
    assert asked(one) == []


@pytest.mark.slow
def test_a_persons_later_lease_is_asked_about_in_the_name_of_the_agent(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/")
    other.take(None, "src/a.py")
    exchange(one, other)
    (question,) = asked(one)
    assert question.question.agent == "worker-1"
    assert question.question.options == ("worker-1", "Test Person")


@pytest.mark.slow
def test_a_later_lease_that_meets_an_old_one_is_found_though_others_were_compared(
    yards: Yards,
) -> None:
    one, other = yards
    one.take("worker-1", "src/")
    exchange(one, other)
    one.take("worker-3", "docs/")
    other.take("worker-2", "docs/a.md")
    exchange(one, other)
    assert [question.question.options for question in asked(one)] == [("worker-3", "worker-2")]


# ------------------------------------------------------------------------------ what is over


@pytest.mark.slow
def test_the_holders_clone_says_that_a_time_is_up(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0)
    exchange(one, other)
    one.clock.wait(59)
    other.sync()
    assert other.held() == [("worker-1", "src/")]
    one.clock.wait(1)
    exchange(one, other)
    assert other.held() == []
    assert one.events()[-1] == ("worker-1", "lease-release", "src/: its time was up")
    assert len(one.events()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [3_600.0, -3_600.0])
def test_clocks_that_differ_by_an_hour_change_no_order_and_end_nothing(
    yards: Yards, ahead: float
) -> None:
    one, second = yards
    clock = Script()
    clock.wait(ahead)
    other = Yard(second.repo, "clone-b", clock=clock, hub=one.store._hub, board=one.locks._board)
    mine = one.take("worker-1", "src/", ttl=600.0).hold
    one.beat("worker-1")
    exchange(one, other)
    with pytest.raises(HeldError):
        other.take("worker-2", "src/a.py")
    theirs = other.take("worker-2", "docs/", ttl=600.0).hold
    exchange(one, other)
    assert one.listing().held == other.listing().held == [mine, theirs]
    clock.wait(599)
    exchange(other, one)
    assert one.listing().held == other.listing().held == [mine, theirs]
    clock.wait(1)
    exchange(other, one)
    assert (one.listing().held, other.listing().held) == ([mine], []), "each by its own clock"
    one.clock.wait(600)
    exchange(one, other)
    assert one.listing().held == other.listing().held == []


def test_a_strict_one_whose_time_is_up_gives_its_right_back(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0, strict=True)
    one.clock.wait(60)
    exchange(one)
    assert [right.holder for right in other.locks.list()] == [None]
    assert one.held() == []


def test_a_right_that_is_out_of_reach_is_given_back_by_a_later_sync(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0, strict=True)
    one.clock.wait(60)
    one.locks._board.reachable = False
    reconcile(one.parts(None))
    assert one.held() == []
    one.locks._board.reachable = True
    reconcile(one.parts(None))
    assert [right.holder for right in other.locks.list()] == [None]


@pytest.mark.parametrize("is_told", [True, False])
def test_a_strict_one_that_is_leased_again_after_its_time_keeps_its_right(
    yards: Yards, is_told: bool
) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0, strict=True)
    one.clock.wait(60)
    if is_told:  # that it is over; but the right could not be given back
        one.locks._board.reachable = False
        reconcile(one.parts(None))
        one.locks._board.reachable = True
    again = one.take("worker-1", "src/", strict=True)
    assert again.is_new
    exchange(one)
    assert one.listing().held == [again.hold._replace(clone="clone-a")]
    assert [right.holder for right in other.locks.list()] == ["worker-1"]


def test_a_strict_one_that_another_took_over_ends_here(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", strict=True)
    (right,) = other.locks.list()
    other.locks.acquire(right.name, "worker-2", expected=right, patterns=("src/",), epoch=1)
    exchange(one)
    assert one.held() == [("worker-2", "src/")]
    assert one.events()[-1] == ("worker-1", "lease-release", "src/: another took the right")


@pytest.mark.slow
def test_a_request_whose_process_was_killed_is_ended(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/")
    plan = prepare(make_context(one.ws("worker-2"), one.store), one.wanted(("src/a.py",)))
    attempt(one.parts("worker-2"), plan, in_line=True)
    exchange(one, other)
    assert other.listing().waiting == []
    assert one.events()[-1] == (
        "worker-2", "lease-release", "src/a.py: the process that waited has ended",
    )  # fmt: skip


def test_an_agent_that_is_gone_has_no_leases(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/")
    one.beat("worker-1")
    one.clock.wait(86_401)
    exchange(one, other)
    assert one.events()[-1] == ("worker-1", "lease-release", "src/: worker-1 is gone")


@pytest.mark.slow
def test_settling_twice_changes_nothing(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0)
    other.take("worker-2", "src/a.py")
    exchange(one, other)
    one.clock.wait(60)
    exchange(one, other)
    before = one.store.ledger()
    assert reconcile(one.parts(None)) == ()
    exchange(one, other)
    assert one.store.ledger() == before


def test_agents_that_wait_for_each_other_are_asked_about(repo: Path) -> None:
    yard = make_yard(repo)
    for agent, word in (("worker-1", "src/"), ("worker-2", "docs/")):
        yard.take(agent, word)
        yard.beat(agent)

    def both_wait() -> None:
        notes = reconcile(yard.parts(None))
        (question,) = asked(yard)
        assert notes[0].startswith(f"Asked {question.name}: worker-1, worker-2 wait for each other")
        yard.give("worker-1", "src/")

    def wait_back() -> None:
        yard.clock.at(yard.clock.passed + 2, both_wait)
        got, _ = yard.wait("worker-2", "src/a.py")
        assert got.is_new
        yard.give("worker-2", "docs/")

    yard.clock.at(2, wait_back)
    got, _ = yard.wait("worker-1", "docs/a.md")
    assert got.is_new


def test_a_settled_clone_that_nobody_leased_in_is_left_alone(repo: Path) -> None:
    yard = make_yard(repo)
    assert reconcile(yard.parts(None)) == ()
    assert not (repo / ".git/ghp/cache/leases-compared.json").exists()


@pytest.mark.slow
def test_who_is_refused_after_an_overlap_is_told_by_whom(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/")
    other.take("worker-2", "src/a.py")
    exchange(one, other)
    with pytest.raises(HeldError) as caught:
        other.take("worker-3", "src/a.py")
    assert [obstacle.holder for obstacle in caught.value.obstacles] == ["worker-1", "worker-2"]
