"""How many of many like cases are tried: a sample, or with THOROUGH=1 all of them.

A scheduled workflow, `.github/workflows/thorough.yml`, tries all of them each night.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from zlib import crc32

import pytest

Case = TypeVar("Case")
IS_THOROUGH = os.environ.get("THOROUGH") == "1"
EVERY = int(os.environ.get("EVERY", "1"))  # of all tests, one in so many is tried
CASES, SHARE = 1, 6  # of a slow test: at least so many are tried, and one in so many


def some(cases: Sequence[Case], every: int, first: int = 0) -> Sequence[Case]:
    """Each `every`-th of the cases, from `first` on, or all of them."""
    return cases if IS_THOROUGH else cases[first::every]


def count(whole: int, sample: int) -> int:
    """How often a slow test does something: `whole` times with THOROUGH=1, else `sample` times."""
    return whole if IS_THOROUGH else sample


def mostly_slow(cases: Iterable[Any], every: int) -> list[Any]:
    """Each `every`-th of like cases for each run of the tests, and the others as slow ones."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] if number % every else [])
        for number, case in enumerate(cases)
    ]


def shared_out(tests: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """Those of all tests that EVERY says are tried, and the others."""
    if IS_THOROUGH:
        return [*tests], []
    return [*tests[::EVERY]], [test for number, test in enumerate(tests) if number % EVERY]


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The cases of slow tests that are not tried; the mark `cases(n)` changes how many are."""
    if IS_THOROUGH:
        return []
    tests = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("slow"):
            tests[question(item, "cases")].append(item)
    return [
        item
        for name, cases in tests.items()
        for number, item in enumerate(cases)
        if number not in chosen(name, len(cases), _least(cases[0]))
    ]


def chosen(name: str, among: int, least: int) -> set[int]:
    """The numbers of the cases of a test that are tried: the same in each run, and others in
    another test of the same cases."""
    wanted = min(among, max(least, among // SHARE))
    return {(crc32(name.encode()) + among * step // wanted) % among for step in range(wanted)}


def question(item: pytest.Item, mark: str) -> str:
    """Which cases belong together: those of a test, or all tests of a class with the mark, which
    asks a contract of one more adapter."""
    node = next((node for node, _ in item.iter_markers_with_node(mark)), item)
    return node.nodeid if isinstance(node, pytest.Class) else item.nodeid.partition("[")[0]


def _least(item: pytest.Item) -> int:
    mark = item.get_closest_marker("cases")
    return int(mark.args[0]) if mark else CASES
