"""Training pairs for the local model: notes, and questions that each of them answers."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PATH = Path(__file__).parent / "tuning/pairs.jsonl"
KEPT_OUT = 45  # every 45th note


class Pair(NamedTuple):
    """A note, and questions that it answers: one that shares words with it, two that share none."""

    note: str
    near: Sequence[str]
    far: Sequence[str]


def read() -> tuple[list[Pair], list[Pair]]:
    """The pairs for training, and those held out for evaluation."""
    lines = PATH.read_text(encoding="utf-8").splitlines()
    pairs = [Pair(**json.loads(line)) for line in lines]
    random.Random(1).shuffle(pairs)
    taught = [pair for place, pair in enumerate(pairs) if place % KEPT_OUT]
    return taught, pairs[::KEPT_OUT]
