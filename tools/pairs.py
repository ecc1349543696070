"""What the local model is taught: notes, and questions that each of them answers."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PATH = Path(__file__).parent / "tuning/pairs.jsonl"
KEPT_OUT = 45  # each so-manieth note


class Pair(NamedTuple):
    """A note, and questions that it answers: one with words of it, two without any."""

    note: str
    near: Sequence[str]
    far: Sequence[str]


def read() -> tuple[list[Pair], list[Pair]]:
    """The pairs to learn from, and those that are kept out to see what was learnt."""
    lines = PATH.read_text(encoding="utf-8").splitlines()
    pairs = [Pair(**json.loads(line)) for line in lines]
    random.Random(1).shuffle(pairs)
    taught = [pair for place, pair in enumerate(pairs) if place % KEPT_OUT]
    return taught, pairs[::KEPT_OUT]
