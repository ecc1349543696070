"""Which of a batch fail: each is found, no good one is blamed, and few runs are needed."""

from collections.abc import Sequence
from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.pulls.merging.batch import Sorted, Sorter


class Runs:
    """Checks that fail where a red one is in the combination, and in some runs by chance."""

    def __init__(self, red: Sequence[int], flaky: Sequence[int] = ()) -> None:
        self.red, self.flaky, self.done = set(red), set(flaky), list[tuple[int, ...]]()

    def passes(self, some: Sequence[int]) -> bool:
        self.done.append(tuple(some))
        return not self.red.intersection(some) and len(self.done) not in self.flaky

    def sort(self, number: int, retries: int = 1) -> Sorted[int]:
        return Sorter(self.passes, lambda some: some, retries).sort(range(number))


def everybody(number: int, leave_out: Sequence[int] = ()) -> tuple[int, ...]:
    return tuple(n for n in range(number) if n not in leave_out)


def test_a_green_batch_needs_one_run() -> None:
    runs = Runs([])
    assert runs.sort(16) == Sorted(everybody(16))
    assert runs.done == [everybody(16)]


def test_an_empty_batch_needs_none() -> None:
    runs = Runs([])
    assert runs.sort(0) == Sorted(())
    assert runs.done == []


def test_a_red_one_alone_is_run_again_before_it_counts() -> None:
    runs = Runs([0])
    assert runs.sort(1) == Sorted((), (0,))
    assert runs.done == [(0,), (0,)]


def test_one_red_among_sixteen_is_found_in_six_runs_wherever_it_is() -> None:
    for red in range(16):
        runs = Runs([red])
        outcome = runs.sort(16)
        assert (sorted(outcome.good), outcome.bad) == ([*everybody(16, [red])], (red,))
        assert len(runs.done) <= 6


def test_one_flaky_run_sends_nobody_back() -> None:
    for number in (1, 2, 8, 16):
        for flaky in range(1, 8):
            outcome = Runs([], [flaky]).sort(number)
            assert (sorted(outcome.good), outcome.bad) == ([*everybody(number)], ())


def test_one_flaky_run_blames_no_other_than_the_red_one() -> None:
    for red in range(16):
        for flaky in range(1, 9):
            outcome = Runs([red], [flaky]).sort(16)
            assert (sorted(outcome.good), outcome.bad) == ([*everybody(16, [red])], (red,))


def test_without_retries_a_failure_counts_at_once() -> None:
    runs = Runs([0])
    assert runs.sort(1, retries=0).bad == (0,)
    assert len(runs.done) == 1


@pytest.mark.slow
@given(st.integers(0, 24), st.sets(st.integers(0, 23)), st.integers(0, 3))
def test_all_red_ones_are_found_and_the_others_are_good(
    number: int, red: set[int], retries: int
) -> None:
    red = {n for n in red if n < number}
    runs = Runs([*red])
    outcome = runs.sort(number, retries)
    assert sorted(outcome.bad) == sorted(red)
    assert sorted(outcome.good) == [*everybody(number, [*red])]
    assert outcome.left == ()
    levels = ceil(log2(number)) if number > 1 else 0
    assert len(runs.done) <= 1 + len(red) * (levels + 1 + max(1, retries))


@given(st.integers(1, 16), st.sets(st.integers(0, 15)), st.sets(st.integers(1, 60)))
def test_what_is_good_passed_in_exactly_that_combination(
    number: int, red: set[int], flaky: set[int]
) -> None:
    runs = Runs([*red], [*flaky])
    outcome = runs.sort(number)
    assert not outcome.good or outcome.good in runs.done
    assert sorted([*outcome.good, *outcome.bad, *outcome.left]) == [*range(number)]


def test_two_that_only_fail_together_cost_the_second_its_place() -> None:
    def passes(some: Sequence[int]) -> bool:
        return not {2, 5}.issubset(some)

    outcome = Sorter(passes, lambda some: some, 1).sort(range(8))
    assert outcome == Sorted((0, 1, 2, 3, 4, 6, 7), (5,))


def test_what_git_cannot_merge_without_a_red_one_waits() -> None:
    def mergeable(some: Sequence[int]) -> Sequence[int]:
        return [n for n in some if n != 3 or 1 in some]

    runs = Runs([1])
    outcome = Sorter(runs.passes, mergeable, 1).sort(range(5))
    assert outcome == Sorted((0, 2, 4), (1,), (3,))
