"""Slow tests in the order in which several workers begin with those that take long."""

from collections.abc import Sequence

import pytest

from tests.support.order import dealt

LONG = pytest.mark.long


@pytest.fixture
def items(request: pytest.FixtureRequest) -> Sequence[pytest.Item]:
    """Ten tests, of which the third, the fourth and the last take long."""
    made: list[pytest.Item] = [
        pytest.Function.from_parent(request.node.parent, name=f"test_{number}", callobj=dealt)
        for number in range(10)
    ]
    for number in (2, 3, 9):
        made[number].add_marker(LONG)
    return made


@pytest.mark.parametrize(
    ("workers", "order"),
    [
        (1, [2, 3, 9, 0, 1, 4, 5, 6, 7, 8]),
        (2, [2, 9, 0, 1, 4, 3, 5, 6, 7, 8]),
        (3, [2, 0, 1, 3, 4, 5, 9, 6, 7, 8]),
        (4, [2, 0, 3, 1, 9, 4, 5, 6, 7, 8]),
    ],
)
def test_each_worker_begins_with_its_share_of_those_that_take_long(
    items: Sequence[pytest.Item], workers: int, order: list[int]
) -> None:
    assert dealt(items, workers) == [items[number] for number in order]


@pytest.mark.parametrize("workers", range(1, 13))
def test_none_is_lost_where_most_take_long(items: Sequence[pytest.Item], workers: int) -> None:
    for item in items[2:]:
        item.add_marker(LONG)
    assert {*dealt(items, workers)} == {*items}
