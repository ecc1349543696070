"""What is fuzzed: a reader of foreign bytes, with inputs that are right."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

Read = Callable[[bytes], object]
ROUND = 60  # inputs of a reader before the next one has its turn


class Reader(NamedTuple):
    """What reads foreign bytes, and inputs that are right."""

    read: Read
    seeds: Sequence[bytes]
    start_s: float = 0.0  # of the processor, that every input takes: the start of a process
    inputs: int = ROUND  # in a turn


class SlowError(Exception):
    """A reader took too long."""
