"""Strict leases: one holder over all clones at once, though paths overlap and rights do not."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import Actor
from ghp_agents.leases import strict
from ghp_agents.leases.acquire import HeldError
from ghp_agents.leases.coverage import Coverage, WorktreeFiles
from ghp_agents.leases.strict import LOOKS, PAUSE, RivalError, lock_name
from ghp_agents.locks.lock import Lock
from tests.support.context import make_context
from tests.support.leases import Yard, make_yard, two_yards
from tests.support.twins.locks import Board, MemoryLocks

Clones = Callable[[int], list[Path]]
Yards = tuple[Yard, Yard]


@pytest.fixture
def yards(clones: Clones) -> Yards:
    one, other = two_yards(*clones(2))
    return one, other


def take(yard: Yard, agent: str, *words: str, locks: MemoryLocks | None = None) -> Lock:
    """Only the right, as `leasing` takes it."""
    parts = make_context(yard.ws(agent), yard.store, locks or yard.locks)
    return strict.take_lock(parts, strict.Asker(Actor(agent), 1, "", reached(yard, *words), "why"))


def reached(yard: Yard, *words: str) -> Coverage:
    """What a lease would cover."""
    return WorktreeFiles(yard.ws(None)).reach(yard.wanted(words).patterns)


def rights(yard: Yard) -> dict[str, str | None]:
    """Who holds which right, at the place that decides."""
    return {right.name: right.holder for right in yard.locks.list()}


def test_a_strict_lease_is_a_right_of_all_clones_and_a_record(yards: Yards) -> None:
    one, other = yards
    got = one.take("worker-1", "src/", strict=True, reason="parser")
    name = lock_name(("src/",), None)
    assert got.hold.strict
    assert rights(other) == {name: "worker-1"}
    assert one.listing().held == [got.hold._replace(clone="clone-a")]
    (right,) = other.locks.list()
    assert (right.patterns, right.epoch, right.reason) == (("src/",), 1, "parser")


def test_another_clone_is_refused_though_it_has_heard_of_nothing(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", strict=True)
    with pytest.raises(HeldError, match=r"^src/a\.py is leased by worker-1 since"):
        other.take("worker-2", "src/a.py", strict=True)
    assert rights(one) == {lock_name(("src/",), None): "worker-1"}
    assert other.held() == []
    assert other.take("worker-2", "docs/", strict=True).is_new


def test_after_a_sync_ordinary_leases_are_refused_too_and_it_counts_first(yards: Yards) -> None:
    one, other = yards
    mine = other.take("worker-2", "src/b.py").hold
    one.take("worker-1", "src/", strict=True)
    one.sync()
    other.sync()
    assert [hold.holder for hold in other.listing().held] == ["worker-1", "worker-2"]
    with pytest.raises(HeldError, match=r"^src/a\.py is leased by worker-1"):
        other.take("worker-3", "src/a.py")
    assert not other.take("worker-2", "src/b.py").is_new
    assert other.listing().held[1] == mine


def test_an_ordinary_lease_of_this_clone_is_in_the_way_of_a_strict_one(yards: Yards) -> None:
    one, _ = yards
    one.take("worker-1", "src/a.py")
    with pytest.raises(HeldError):
        one.take("worker-2", "src/", strict=True)
    assert rights(one) == {}, "the remote was not even asked"


def test_a_named_resource_can_be_strict(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", name="staging-db", strict=True)
    with pytest.raises(HeldError, match=r"^staging-db is leased by worker-1"):
        other.take("worker-2", name="staging-db", strict=True)
    assert rights(one) == {"name/staging-db": "worker-1"}
    one.give("worker-1", name="staging-db")
    assert rights(one) == {"name/staging-db": None}
    assert other.take("worker-2", name="staging-db", strict=True).is_new


def test_giving_back_frees_the_right_at_once(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", strict=True)
    one.give("worker-1", "src/")
    assert one.held() == []
    assert other.take("worker-2", "src/a.py", strict=True).is_new


def test_a_process_that_was_killed_between_right_and_record_goes_on_with_the_same_command(
    yards: Yards,
) -> None:
    one, other = yards
    first = take(one, "worker-1", "src/")
    assert one.held() == [("worker-1", "src/")], "the right alone counts"
    with pytest.raises(HeldError):
        other.take("worker-2", "src/", strict=True)
    assert one.take("worker-1", "src/", strict=True).is_new
    (right,) = one.locks.list()
    assert right == first
    assert one.held() == [("worker-1", "src/")]


def test_taken_over_elsewhere_it_is_not_held_here_any_more(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", strict=True)
    (right,) = other.locks.list()
    other.locks.acquire(right.name, "worker-2", expected=right, patterns=("src/",), epoch=1)
    with pytest.raises(HeldError, match=r"leased by worker-2"):
        one.take("worker-1", "src/", strict=True)
    assert one.held() == [("worker-2", "src/")]


def test_the_right_of_one_who_died_is_taken_away_before_another_has_it(yards: Yards) -> None:
    one, _ = yards
    one.take("worker-1", "src/", strict=True)
    one.beat("worker-1", "stopped")
    got = one.take("worker-2", "src/a.py", strict=True)
    assert got.is_new
    assert rights(one) == {
        lock_name(("src/",), None): None,
        lock_name(("/src/a.py",), None): "worker-2",
    }
    one.beat("worker-1", epoch=2)
    assert one.held() == [("worker-2", "/src/a.py")]


def test_a_right_of_which_this_clone_has_just_heard_is_a_sign_of_life(yards: Yards) -> None:
    one, other = yards
    one.beat("worker-1")
    one.sync()
    other.sync()
    one.clock.wait(2_000)
    other.sync()  # worker-1 has been silent for so long that it is dead
    take(one, "worker-1", "src/")
    other.locks.hear()
    with pytest.raises(HeldError, match=r"^src/a\.py is leased by worker-1"):
        other.take("worker-2", "src/a.py")
    one.clock.wait(2_000)
    other.sync()
    assert other.take("worker-2", "src/a.py").is_new


def test_the_clone_that_granted_it_knows_that_its_time_is_up_before_a_sync(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", ttl=60.0, strict=True)
    one.clock.wait(60)
    with pytest.raises(HeldError):
        other.take("worker-2", "src/a.py", strict=True)
    assert one.take("worker-2", "src/a.py", strict=True).is_new
    assert one.held() == [("worker-2", "/src/a.py")]
    assert rights(one) == {
        lock_name(("src/",), None): None,
        lock_name(("/src/a.py",), None): "worker-2",
    }


def test_the_right_of_one_who_died_long_ago_is_had_at_the_second_look(yards: Yards) -> None:
    one, other = yards
    one.take("worker-1", "src/", strict=True)
    one.beat("worker-1")
    one.sync()
    other.locks.hear()
    other.sync()
    one.clock.wait(2_000)
    other.sync()
    assert other.held() == []
    with pytest.raises(HeldError, match="which looks dead"):
        other.take("worker-2", "src/a.py", strict=True)
    one.clock.wait(10)
    other.sync()
    assert other.take("worker-2", "src/a.py", strict=True).is_new


# ------------------------------------------------------------------- two who come at once


class Late(MemoryLocks):
    """A rival does something right after this one has written its right, or has looked."""

    after_write: Callable[[], object] | None = None
    after_look: Callable[[], object] | None = None

    def acquire(self, *args: object, **more: object) -> Lock:
        got = super().acquire(*args, **more)  # type: ignore[arg-type]
        self._run("after_write")
        return got

    def list(self, prefix: str = "") -> list[Lock]:
        got = super().list(prefix)
        self._run("after_look")
        return got

    def _run(self, name: str) -> None:
        do = getattr(self, name)
        setattr(self, name, None)
        if do:
            do()


def test_of_two_that_write_before_either_looks_the_lower_nonce_has_it(yards: Yards) -> None:
    one, other = yards
    late = Late(one.clock, one.locks._board)
    written: list[Lock] = []
    late.after_write = lambda: written.append(
        other.locks.acquire(
            lock_name(("/src/a.py",), None), "worker-2", expected=None, epoch=1,
            patterns=("/src/a.py",),
        )
    )  # fmt: skip

    def give_way() -> None:
        other.locks.release(written[0].name, expected=written[0])

    one.clock.at(PAUSE, give_way)
    got = _outcome(lambda: take(one, "worker-1", "src/", locks=late))
    (mine,) = [x for x in one.locks.history(lock_name(("src/",), None)) if x.holder]
    if mine.nonce < written[0].nonce:
        assert got == mine
        assert one.clock.passed == pytest.approx(PAUSE), "it looked again, and was alone"
    else:
        assert isinstance(got, RivalError)
        assert got.hold.holder == "worker-2"
        assert rights(one)[mine.name] is None


def _outcome(do: Callable[[], Lock]) -> Lock | RivalError:
    try:
        return do()
    except RivalError as error:
        return error


def test_one_who_had_it_before_never_gives_way_and_is_not_waited_for_long(yards: Yards) -> None:
    one, other = yards
    late = Late(one.clock, one.locks._board)
    late.after_look = lambda: other.take("worker-2", "src/a.py", strict=True)
    with pytest.raises(RivalError) as caught:
        take(one, "worker-1", "src/", locks=late)
    assert caught.value.hold.holder == "worker-2"
    assert one.clock.passed <= LOOKS * PAUSE
    assert rights(one) == {
        lock_name(("/src/a.py",), None): "worker-2",
        lock_name(("src/",), None): None,
    }


def test_where_nobody_can_look_after_writing_nothing_is_held_for_certain(yards: Yards) -> None:
    one, _ = yards
    late = Late(one.clock, one.locks._board)
    late.after_write = lambda: setattr(one.locks._board, "reachable", False)
    with pytest.raises(UnknownError):
        take(one, "worker-1", "src/", locks=late)


class Busy(SystemClock):
    """The time stands still, and waiting lets others go first."""

    def now(self) -> float:
        return 1_750_000_000.0

    def wait(self, seconds: float) -> None:
        super().wait(0.001)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("src/", "src/a.py"), ("*.py", "src/"), ("src/", "src/")])
def test_of_two_clones_at_once_never_both_have_it(repo: Path, words: tuple[str, str]) -> None:
    yard = make_yard(repo)
    clock = Busy()
    winners = []
    for number in range(15):
        board = Board()

        def one(word: str, agent: str, board: Board = board) -> Lock | None:
            ws = yard.ws(agent)
            object.__setattr__(ws, "clock", clock)
            reach = reached(yard, word)
            locks = MemoryLocks(clock, board)
            try:
                who = strict.Asker(Actor(agent), 1, "", reach)
                return strict.take_lock(make_context(ws, yard.store, locks), who)
            except GhpError:
                return None

        with ThreadPoolExecutor(2) as pool:
            got = list(pool.map(one, words, (f"a-{number}", f"b-{number}")))
        held = [right for right in board.leases.values() if right.holder]
        assert len([right for right in got if right]) <= 1
        assert held == [right for right in got if right]
        winners.append(len(held))
    assert sum(winners) > 0, "at least sometimes one of them has it"
