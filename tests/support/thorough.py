"""How many of many like cases are tried: a sample, or with THOROUGH=1 all of them."""

import os
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")
IS_THOROUGH = os.environ.get("THOROUGH") == "1"


def some(cases: Sequence[Case], every: int, first: int = 0) -> Sequence[Case]:
    """Each `every`-th of the cases, from `first` on, or all of them."""
    return cases if IS_THOROUGH else cases[first::every]
