"""The order of slow tests on several workers, so that all have work until the end.

Each worker begins with its share of the tests that take long, some of which wait and some compute.
The rest stays as it is: tests of one file use what was prepared for it. Workers that are done take
from the end of another's list, where the tests are short.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import pytest

REST = 2  # the rank of most tests


def dealt(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """The items in the order in which `--dist worksteal` gives each worker its share of them."""
    ranks = {item: _rank(item) for item in items}
    first = sorted((item for item in items if ranks[item] < REST), key=ranks.__getitem__)
    rest = iter([item for item in items if ranks[item] == REST])
    chosen: list[pytest.Item] = []
    for worker, size in enumerate(_shares(len(items), workers)):
        share = first[worker::workers]
        chosen += [*share, *islice(rest, max(0, size - len(share)))]
    return chosen


def _rank(item: pytest.Item) -> int:
    """Those that take long, then those that start real clients, then the rest."""
    if item.get_closest_marker("long"):
        return 0
    is_client = item.nodeid.startswith("tests/clients/")
    return 1 if is_client and item.get_closest_marker("slow") else REST


def _shares(count: int, workers: int) -> Iterator[int]:
    """How many items each worker gets at first."""
    for left in range(workers, 0, -1):
        yield count // left
        count -= count // left
