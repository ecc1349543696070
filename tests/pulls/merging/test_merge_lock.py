"""The right to the trunk: one has it, the dead lose it, and who was replaced does not go on."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.claims.effects import ClaimContext, myself, registered
from ghp_agents.core.errors import RefusedError
from ghp_agents.locks.held import HeldLock
from ghp_agents.locks.lock import Lock
from ghp_agents.pulls.merging import merge_lock as merge_right
from tests.support.clock import ManualClock
from tests.support.road import DEAD, Road


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def me(road: Road, name: str) -> ClaimContext:
    house = road.house(name)
    return registered(myself(house))


def right(road: Road) -> Lock:
    lock = road.house("@me").locks.read("trunk")
    assert lock is not None
    return lock


def take(road: Road, name: str) -> Lock:
    """The right, left by a process that was killed."""
    who = me(road, name)
    before, reason = who.ctx.locks.read("trunk"), merge_right.from_here(who, "")
    return who.ctx.locks.acquire("trunk", who.name, expected=before, epoch=who.epoch, reason=reason)


def clone_of(road: Road) -> str:
    return road.house("@me").store.snapshot().clone


def test_it_is_held_for_the_block_and_given_back_after(road: Road) -> None:
    with merge_right.held(me(road, "lead"), "merges #2"):
        reason = f"merges #2, in clone {clone_of(road)}"
        assert (right(road).holder, right(road).reason) == ("lead", reason)
    assert right(road).holder is None


def test_it_is_given_back_when_the_block_fails(road: Road) -> None:
    with pytest.raises(ZeroDivisionError), merge_right.held(me(road, "lead"), ""):
        _ = 1 / 0
    assert right(road).holder is None


def test_while_another_has_it_nobody_else_merges(road: Road) -> None:
    lease = take(road, "lead")
    with pytest.raises(RefusedError) as refused, merge_right.held(me(road, "other"), ""):
        pytest.fail("it is held")
    assert str(refused.value) == (
        f"lead has been merging since {lease.acquired_at}. lead gave this reason: «in clone "
        f"{clone_of(road)}»."
    )
    assert "--wait" in refused.value.hint


@pytest.mark.slow
def test_two_processes_of_one_name_do_not_merge_at_once(road: Road) -> None:
    with (
        merge_right.held(me(road, "lead"), ""),
        pytest.raises(RefusedError, match="Another process of this clone is merging now"),
        merge_right.held(me(road, "lead"), ""),
    ):
        pytest.fail("it is held")


def test_a_command_that_was_killed_is_followed_by_the_same_ones(road: Road) -> None:
    before = take(road, "lead")
    with merge_right.held(me(road, "lead"), ""):
        assert right(road).generation == before.generation + 1


@pytest.mark.slow
def test_who_merges_in_another_clone_is_another_whatever_the_name(
    clones: Callable[[int], list[Path]],
) -> None:
    one, two = map(Road, clones(2))
    with (
        merge_right.held(me(one, "@me"), "merges #2"),
        pytest.raises(RefusedError, match=f"«merges #2, in clone {clone_of(one)}»"),
        merge_right.held(me(two, "@me"), "merges #3"),
    ):
        pytest.fail("it is held")
    with merge_right.held(me(two, "@me"), "merges #3"):
        assert right(one).reason == f"merges #3, in clone {clone_of(two)}"


def test_a_dead_holder_is_replaced(road: Road) -> None:
    take(road, "lead")
    road.silence("lead")
    with merge_right.held(me(road, "other"), ""):
        assert right(road).holder == "other"


@pytest.mark.parametrize("name", ["lead", "@me"])
def test_what_nobody_moved_for_long_is_taken_from_the_living_too(road: Road, name: str) -> None:
    take(road, name)
    with pytest.raises(RefusedError), merge_right.held(me(road, "other"), ""):
        pytest.fail("it is held")
    road.clock.wait(DEAD)
    with merge_right.held(me(road, "other"), ""):
        assert right(road).holder == "other"


def test_who_goes_on_with_checks_is_not_taken_for_one_who_does_not(road: Road) -> None:
    first = HeldLock(me(road, "lead").ctx, take(road, "lead"), merge_right.lost_error)
    for _ in range(3):
        with (
            pytest.raises(RefusedError, match="lead has been merging since"),
            merge_right.held(me(road, "other"), ""),
        ):
            pytest.fail("it is held")
        road.clock.wait(DEAD / 2)
        first.renew("checks #2")


def test_who_was_replaced_does_not_go_on(road: Road) -> None:
    with merge_right.held(me(road, "lead"), "") as held:
        take(road, "other")
        for go_on in (held.confirm, lambda: held.renew("checks #2")):
            with pytest.raises(RefusedError, match="other acquired the merge lock meanwhile"):
                go_on()
    assert right(road).holder == "other"


class Waiting(ManualClock):
    """A clock on which the holder gives the right back at the third look."""

    def __init__(self, road: Road) -> None:
        super().__init__()
        self._road = road
        self.waits = 0

    def wait(self, seconds: float) -> None:
        self.waits += 1
        super().wait(seconds)
        if self.waits == 3:
            locks = self._road.house("lead").locks
            locks.release("trunk", expected=right(self._road))


def test_who_has_patience_waits_for_it(road: Road) -> None:
    take(road, "lead")
    clock = Waiting(road)
    with merge_right.held(me(Road(road.folder, clock), "other"), "", patience=60):
        assert right(road).holder == "other"
    assert clock.waits == 3


def test_and_no_longer_than_that(road: Road) -> None:
    take(road, "lead")
    began = road.clock.now()
    with (
        pytest.raises(RefusedError, match="lead has been merging since"),
        merge_right.held(me(road, "other"), "", patience=60),
    ):
        pytest.fail("it is held")
    assert road.clock.now() - began == 60
