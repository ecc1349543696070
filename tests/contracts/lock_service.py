"""What every locks does. A test class inherits it and says where its rivals meet."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar

import pytest
from hypothesis import strategies as st

from ghp_agents.core.errors import UnknownError, UsageError
from ghp_agents.locks.lock import Lock, LockMovedError, Release
from ghp_agents.ports import LockService
from tests.support.clock import ManualClock

T = TypeVar("T")

NAMES = ("issue/1", "issue/12", "trunk")
RIVALS = 3
# What one of the rivals does: who, what, with which right.
STEPS = st.lists(
    st.tuples(
        st.integers(0, RIVALS - 1),
        st.sampled_from(["acquire", "acquire", "release", "read"]),
        st.sampled_from(NAMES),
    ),
    max_size=25,
)
Steps = Sequence[tuple[int, str, str]]


class Field(Protocol):
    """Where rivals meet: one place that decides, and a clock."""

    clock: ManualClock

    def locks(self) -> LockService:
        """One more rival, as far from the others as they can be here."""


class RemoteField(Field, Protocol):
    """A field on which the one place that decides can be far away."""

    def cut(self) -> None:
        """Nobody can reach it any more."""

    def mend(self) -> None:
        """It can be reached again."""

    def forget(self, name: str) -> None:
        """It loses a right, and has an older state of the others."""

    def break_after_write(self) -> None:
        """The next change happens, and then nobody can reach the place that decides."""


def at_once(rivals: Sequence[Callable[[], T]]) -> list[T | LockMovedError]:
    """What each rival got when all began at the same moment."""
    start = threading.Barrier(len(rivals))

    def run(rival: Callable[[], T]) -> T | LockMovedError:
        start.wait()
        try:
            return rival()
        except LockMovedError as moved:
            return moved

    with ThreadPoolExecutor(len(rivals)) as pool:
        return list(pool.map(run, rivals))


def play(field: Field, steps: Steps) -> None:
    """Rivals act on what each saw last; each right must go as one chain of leases."""
    rivals = [field.locks() for _ in range(RIVALS)]
    last_read: dict[tuple[int, str], Lock | None] = {}
    truth: dict[str, list[Lock]] = {name: [] for name in NAMES}
    for who, verb, name in steps:
        field.clock.wait(1)
        now = truth[name][-1] if truth[name] else None
        previous = last_read.get((who, name))
        got, outcome = _act(rivals[who], verb, name, f"worker-{who}", previous)
        last_read[who, name] = got
        assert outcome in ("looked", "done" if previous == now else "moved")
        if outcome == "done" and got and got != previous:
            truth[name].append(got)
        else:
            assert got == now
    for name, leases in truth.items():
        _check_chain(leases)
        assert rivals[0].read(name) == (leases[-1] if leases else None)
        assert rivals[-1].history(name) == leases
    held = [leases[-1] for leases in truth.values() if leases]
    assert rivals[-1].list() == sorted(held, key=lambda lease: lease.name)
    assert rivals[-1].known() == rivals[-1].list()  # it just read the history of each


def _act(
    rival: LockService, verb: str, name: str, holder: str, previous: Lock | None
) -> tuple[Lock | None, str]:
    """What the rival knows afterwards, and what came of it."""
    try:
        if verb == "acquire":
            return rival.acquire(name, holder, expected=previous), "done"
        if verb == "release" and previous:
            return rival.release(name, expected=previous), "done"
    except LockMovedError as moved:
        return moved.current, "moved"
    return rival.read(name), "looked"


def _check_chain(leases: Sequence[Lock]) -> None:
    generation = 0
    for lease in leases:
        generation += lease.holder is not None
        assert lease.generation == generation
    assert len({lease.revision for lease in leases}) == len(leases)
    assert len({lease.nonce for lease in leases}) == len(leases)


class LockContract:
    """Inherit it, with a fixture `field`."""

    crowd = 6  # how many race at once

    def test_a_right_that_nobody_took_is_nobodys(self, field: Field) -> None:
        assert field.locks().read("trunk") is None
        assert field.locks().history("trunk") == []
        assert field.locks().list() == []
        assert field.locks().known() == []

    def test_the_first_acquisition_has_generation_1(self, field: Field) -> None:
        taken = field.locks().acquire(
            "issue/12", "worker-1", expected=None, epoch=3, reason="to fix it"
        )
        assert taken == Lock(
            name="issue/12",
            holder="worker-1",
            generation=1,
            epoch=3,
            acquired_at=taken.acquired_at,
            nonce=taken.nonce,
            reason="to fix it",
            revision=taken.revision,
            clone=taken.clone,
        )
        assert taken.acquired_at == "2025-06-15T15:06:40Z"
        assert taken.nonce
        assert taken.revision

    def test_every_rival_reads_what_one_took(self, field: Field) -> None:
        taken = field.locks().acquire("issue/12", "worker-1", expected=None)
        assert field.locks().read("issue/12") == taken
        assert field.locks().list() == [taken]

    def test_who_comes_second_is_told_who_holds_it(self, field: Field) -> None:
        taken = field.locks().acquire("issue/12", "worker-1", expected=None)
        with pytest.raises(LockMovedError) as caught:
            field.locks().acquire("issue/12", "worker-2", expected=None)
        assert caught.value.current == taken
        assert field.locks().read("issue/12") == taken

    def test_a_release_keeps_the_generation_and_the_next_one_is_higher(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        taken = one.acquire("issue/12", "worker-1", expected=None)
        free = one.release("issue/12", expected=taken, reason="done")
        assert (free.holder, free.generation, free.reason) == (None, 1, "done")
        assert two.read("issue/12") == free
        again = two.acquire("issue/12", "worker-2", expected=free)
        assert (again.holder, again.generation) == ("worker-2", 2)

    def test_a_right_can_be_taken_from_its_holder_by_who_saw_it(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        taken = one.acquire("issue/12", "worker-1", expected=None)
        over = two.acquire("issue/12", "worker-2", expected=two.read("issue/12"))
        assert (over.holder, over.generation) == ("worker-2", 2)
        assert one.read("issue/12") == over
        assert over.revision != taken.revision

    def test_a_holder_who_was_replaced_cannot_release(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        taken = one.acquire("issue/12", "worker-1", expected=None)
        over = two.acquire("issue/12", "worker-2", expected=taken)
        with pytest.raises(LockMovedError) as caught:
            one.release("issue/12", expected=taken)
        assert caught.value.current == over
        assert one.read("issue/12") == over

    def test_a_holder_who_was_replaced_cannot_acquire_on_what_it_knew(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        taken = one.acquire("issue/12", "worker-1", expected=None)
        over = two.acquire("issue/12", "worker-2", expected=taken)
        with pytest.raises(LockMovedError) as caught:
            one.acquire("issue/12", "worker-1", expected=taken)
        assert caught.value.current == over

    def test_several_are_released_at_once_but_for_those_that_moved(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        names = ("issue/1", "issue/12", "issue/13")
        held = [one.acquire(name, "worker-1", expected=None) for name in names]
        first = one.release_all([Release(lock, "merged") for lock in held[:2]])
        assert [lock and (lock.holder, lock.reason, lock.generation) for lock in first] == [
            (None, "merged", 1),
            (None, "merged", 1),
        ]
        assert [two.read(name) for name in names] == [*first, held[2]]
        again = two.acquire("issue/1", "worker-2", expected=first[0])
        assert one.release_all([Release(held[0]), Release(held[2])])[0] is None
        assert one.read("issue/1") == again
        third = one.read("issue/13")
        assert third is not None
        assert third.holder is None

    def test_what_is_known_of_locks_has_their_histories(self, field: Field) -> None:
        one = field.locks()
        taken = one.acquire("issue/12", "worker-1", expected=None)
        free = one.release("issue/12", expected=taken, reason="done")
        other = one.acquire("trunk", "lead", expected=None)
        histories = one.known_histories(["issue/12", "trunk", "issue/77"])
        assert {name: [*locks] for name, locks in histories.items()} == {
            "issue/12": [taken, free],
            "trunk": [other],
        }

    def test_a_second_release_is_refused_and_shows_that_it_is_free(self, field: Field) -> None:
        one = field.locks()
        taken = one.acquire("trunk", "worker-1", expected=None)
        free = one.release("trunk", expected=taken)
        with pytest.raises(LockMovedError) as caught:
            field.locks().release("trunk", expected=taken)
        assert caught.value.current == free

    def test_equal_claims_by_two_never_both_succeed(self, field: Field) -> None:
        # The same holder, time, epoch and reason: without a nonce these would be one object.
        first = field.locks().acquire("issue/12", "worker-1", expected=None, epoch=1)
        with pytest.raises(LockMovedError) as caught:
            field.locks().acquire("issue/12", "worker-1", expected=None, epoch=1)
        assert caught.value.current == first

    def test_a_free_right_is_given_back_without_a_change(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        free = one.release("trunk", expected=one.acquire("trunk", "worker-1", expected=None))
        assert two.release("trunk", expected=free, reason="again") == free
        assert len(two.history("trunk")) == 2
        taken = one.acquire("trunk", "worker-1", expected=free)
        with pytest.raises(LockMovedError) as caught:
            two.release("trunk", expected=free)
        assert caught.value.current == taken

    def test_the_same_release_by_two_never_succeeds_twice(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        taken = one.acquire("trunk", "worker-1", expected=None)
        got = at_once([partial(x.release, "trunk", expected=taken) for x in (one, two)])
        (free,) = [lease for lease in got if isinstance(lease, Lock)]
        assert one.read("trunk") == two.read("trunk") == free

    def test_one_right_does_not_touch_another(self, field: Field) -> None:
        one = field.locks()
        first = one.acquire("issue/1", "worker-1", expected=None)
        second = one.acquire("issue/12", "worker-2", expected=None)
        one.release("issue/1", expected=first)
        assert field.locks().read("issue/12") == second

    def test_a_list_has_the_rights_below_its_prefix_by_name(self, field: Field) -> None:
        one = field.locks()
        acquired = {
            name: one.acquire(name, "worker-1", expected=None)
            for name in ("trunk", "issue/2", "issue/12", "numbers", "path/0a1b")
        }
        names = {
            prefix: [lease.name for lease in field.locks().list(prefix)]
            for prefix in ("", "issue/", "issue/1", "t", "path/", "nothing/", "Issue/")
        }
        assert names == {
            "": ["issue/12", "issue/2", "numbers", "path/0a1b", "trunk"],
            "issue/": ["issue/12", "issue/2"],
            "issue/1": ["issue/12"],
            "t": ["trunk"],
            "path/": ["path/0a1b"],
            "nothing/": [],
            "Issue/": [],
        }
        assert field.locks().list("issue/") == [acquired["issue/12"], acquired["issue/2"]]

    def test_a_free_right_stays_in_the_list(self, field: Field) -> None:
        one = field.locks()
        free = one.release("trunk", expected=one.acquire("trunk", "worker-1", expected=None))
        assert field.locks().list() == [free]

    def test_what_one_did_and_read_it_knows_without_asking(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        taken = one.acquire("issue/12", "worker-1", expected=None)
        other = two.acquire("issue/1", "worker-2", expected=None)
        assert taken in one.known()
        assert one.read("issue/1") == other
        trunk = one.acquire("trunk", "worker-1", expected=None)
        free = one.release("trunk", expected=trunk)
        assert one.known() == [other, taken, free]

    def test_who_comes_second_knows_from_then_on_who_holds_it(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        taken = one.acquire("issue/12", "worker-1", expected=None)
        with pytest.raises(LockMovedError):
            two.acquire("issue/12", "worker-2", expected=None)
        assert two.known() == [taken]

    def test_what_is_known_can_be_asked_for_by_its_prefix(self, field: Field) -> None:
        one = field.locks()
        for name in ("trunk", "issue/2", "issue/12", "numbers", "path/0a1b", "name/staging"):
            one.acquire(name, "worker-1", expected=None)
        prefixes = ("issue/", "issue/1", "t", "path/", "name/staging", "issue/*", "Issue/", "../")
        assert {prefix: [x.name for x in one.known(prefix)] for prefix in prefixes} == {
            "issue/": ["issue/12", "issue/2"],
            "issue/1": ["issue/12"],
            "t": ["trunk"],
            "path/": ["path/0a1b"],
            "name/staging": ["name/staging"],
            "issue/*": [],
            "Issue/": [],
            "../": [],
        }

    def test_the_history_of_a_right_has_each_of_its_leases_oldest_first(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        first = one.acquire("issue/12", "worker-1", expected=None, reason="to fix it")
        over = two.acquire("issue/12", "worker-2", expected=first, reason="it is dead")
        free = two.release("issue/12", expected=over)
        one.acquire("issue/1", "worker-1", expected=None)
        last = one.acquire("issue/12", "worker-1", expected=free)
        assert field.locks().history("issue/12") == [first, over, free, last]
        assert field.locks().history("issue/2") == []

    def test_who_asked_for_the_history_knows_the_last_lease(self, field: Field) -> None:
        taken = field.locks().acquire("trunk", "worker-1", expected=None)
        two = field.locks()
        two.history("trunk")
        assert two.known() == [taken]

    def test_a_right_to_paths_says_which_until_it_is_given_back(self, field: Field) -> None:
        one, patterns = field.locks(), ("src/*.py", "!src/a.py", "docs/ä b/")
        taken = one.acquire("path/0a1b", "worker-1", expected=None, epoch=1, patterns=patterns)
        assert taken.patterns == patterns
        assert field.locks().read("path/0a1b") == taken
        free = one.release("path/0a1b", expected=taken)
        assert free.patterns == ()
        assert field.locks().history("path/0a1b") == [taken, free]

    @pytest.mark.parametrize("name", ["issue", "../trunk", "", "issue/1/2", "Trunk", "a.lock"])
    def test_what_is_no_name_is_refused_before_anything_happens(
        self, field: Field, name: str
    ) -> None:
        one = field.locks()
        taken = one.acquire("trunk", "worker-1", expected=None)
        with pytest.raises(UsageError):
            one.read(name)
        with pytest.raises(UsageError):
            one.acquire(name, "worker-1", expected=None)
        with pytest.raises(UsageError):
            one.release(name, expected=taken)
        with pytest.raises(UsageError):
            one.history(name)
        assert one.list() == [taken]

    def test_nobody_cannot_hold_a_right(self, field: Field) -> None:
        with pytest.raises(UsageError):
            field.locks().acquire("trunk", " ", expected=None)
        assert field.locks().read("trunk") is None

    def test_words_of_others_are_kept_as_they_are(self, field: Field) -> None:
        one = field.locks()
        taken = one.acquire("trunk", 'Zoë "<x>" $(x) 🙂', expected=None, reason="<- %s {0} `x`\n-x")
        assert (taken.holder, taken.reason) == ('Zoë "<x>" $(x) 🙂', "<- %s {0} `x` -x")
        assert field.locks().read("trunk") == taken

    def test_of_many_who_want_one_right_exactly_one_gets_it(self, field: Field) -> None:
        rivals = [field.locks() for _ in range(self.crowd)]
        got = at_once(
            [
                partial(rival.acquire, "trunk", f"worker-{who}", expected=None)
                for who, rival in enumerate(rivals)
            ]
        )
        (winner,) = [lease for lease in got if isinstance(lease, Lock)]
        losers = [moved.current for moved in got if isinstance(moved, LockMovedError)]
        assert losers == [winner] * (self.crowd - 1)
        assert [rival.read("trunk") for rival in rivals] == [winner] * self.crowd

    def test_of_many_who_take_over_one_right_exactly_one_gets_it(self, field: Field) -> None:
        dead = field.locks().acquire("issue/12", "worker-0", expected=None)
        rivals = [field.locks() for _ in range(self.crowd)]
        got = at_once(
            [
                partial(rival.acquire, "issue/12", f"worker-{who}", expected=dead)
                for who, rival in enumerate(rivals, start=1)
            ]
        )
        (winner,) = [lease for lease in got if isinstance(lease, Lock)]
        assert winner.generation == 2
        assert rivals[0].read("issue/12") == winner

    def test_many_who_count_with_a_right_never_get_one_number_twice(self, field: Field) -> None:
        def number(locks: LockService, who: int) -> int:
            current = locks.read("numbers")
            while True:
                try:
                    return locks.acquire("numbers", f"w-{who}", expected=current).generation
                except LockMovedError as moved:
                    current = moved.current

        rivals = [field.locks() for _ in range(self.crowd)]
        got = at_once([partial(number, rival, who) for who, rival in enumerate(rivals)])
        assert sorted(x for x in got if isinstance(x, int)) == list(range(1, self.crowd + 1))

    def test_a_rival_who_comes_between_reading_and_taking_wins(self, field: Field) -> None:
        one, two = field.locks(), field.locks()
        read = one.read("trunk")
        rival = two.acquire("trunk", "worker-2", expected=two.read("trunk"))
        with pytest.raises(LockMovedError) as caught:
            one.acquire("trunk", "worker-1", expected=read)
        assert caught.value.current == rival


class RemoteLockContract(LockContract):
    """For lock services whose one place that decides can be out of reach."""

    def test_what_the_place_lost_is_put_back_by_who_knows_it(self, field: RemoteField) -> None:
        one, two = field.locks(), field.locks()
        lost = one.acquire("issue/1", "worker-1", expected=None)
        first = one.acquire("issue/2", "worker-1", expected=None)
        held = two.acquire("issue/2", "worker-2", expected=first)
        assert one.read("issue/2") == held
        field.forget("issue/1")
        assert [one.read("issue/1"), one.read("issue/2")] == [lost, held]
        assert field.locks().list() == [lost, held]
        field.forget("issue/1")
        assert one.list() == [lost, held]
        assert field.locks().list() == [lost, held]

    def test_out_of_reach_is_unknown_and_never_free(self, field: RemoteField) -> None:
        one = field.locks()
        taken = one.acquire("trunk", "worker-1", expected=None)
        field.cut()
        for ask in (
            lambda: one.read("trunk"),
            lambda: one.read("issue/1"),
            lambda: one.list(),
            lambda: one.history("trunk"),
            lambda: one.acquire("issue/1", "worker-1", expected=None),
            lambda: one.acquire("trunk", "worker-2", expected=taken),
            lambda: one.release("trunk", expected=taken),
            lambda: field.locks().read("trunk"),
        ):
            with pytest.raises(UnknownError) as caught:
                ask()
            assert caught.value.hint
        assert one.known() == [taken]
        assert field.locks().known() == []
        field.mend()
        assert one.read("trunk") == taken
        assert field.locks().list() == [taken]

    def test_what_was_taken_since_the_last_sync_was_not_lost(self, field: RemoteField) -> None:
        one, two = field.locks(), field.locks()
        taken = one.acquire("issue/1", "worker-1", expected=None)
        assert one.mend() == []
        given = one.release("issue/1", expected=taken)
        two.acquire("issue/1", "worker-2", expected=given)
        assert one.mend() == []
        assert two.mend() == []

    def test_nobody_is_told_a_lie_when_the_connection_breaks_after_the_change(
        self, field: RemoteField
    ) -> None:
        one, two = field.locks(), field.locks()
        field.break_after_write()
        with pytest.raises(UnknownError):
            one.acquire("issue/12", "worker-1", expected=None)
        field.mend()
        truth = one.read("issue/12")
        assert truth is not None
        assert (truth.holder, truth.generation) == ("worker-1", 1)
        with pytest.raises(LockMovedError) as caught:
            two.acquire("issue/12", "worker-2", expected=None)
        assert caught.value.current == truth
        assert one.release("issue/12", expected=truth).holder is None

    def test_a_release_of_which_nobody_heard_happened_once(self, field: RemoteField) -> None:
        one = field.locks()
        taken = one.acquire("issue/12", "worker-1", expected=None)
        field.break_after_write()
        with pytest.raises(UnknownError):
            one.release("issue/12", expected=taken)
        field.mend()
        free = one.read("issue/12")
        assert free is not None
        assert (free.holder, free.generation) == (None, 1)
        with pytest.raises(LockMovedError) as caught:
            one.release("issue/12", expected=taken)
        assert caught.value.current == free
