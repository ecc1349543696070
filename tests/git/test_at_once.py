"""Several processes at once."""

import pytest

from ghp_agents.git import at_once


def test_results_are_in_the_order_of_the_items() -> None:
    assert at_once.each(lambda number: number * 2, range(20)) == [*range(0, 40, 2)]
    assert at_once.each(str, []) == []


def test_the_first_failure_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        at_once.each(lambda number: 1 // number, [1, 0, 2])


def test_there_is_at_least_one_core_and_a_limit() -> None:
    assert 1 <= at_once.cores() <= at_once.MOST
