"""How many of many like cases are tried: a sample, or with THOROUGH=1 all of them."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
IS_THOROUGH = os.environ.get("THOROUGH") == "1"


def some(cases: Sequence[Case], every: int, first: int = 0) -> Sequence[Case]:
    """Each `every`-th of the cases, from `first` on, or all of them."""
    return cases if IS_THOROUGH else cases[first::every]


def mostly_slow(cases: Iterable[Any], every: int) -> list[Any]:
    """Each `every`-th of like cases for each run of the tests, and the others as slow ones."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] if number % every else [])
        for number, case in enumerate(cases)
    ]
