"""Synonyms, for words that a small model does not see as related.

Each line of the list in `ghp_agents_recall` is one thing. A text is about the things whose words it
contains; a word for many things counts less. The nearness of two texts is the cosine of these
weights.
"""

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ghp_agents.notes.search.bm25 import STOP_WORDS, stem, words

_THINGS, _WORDS = 2, 3  # synonyms of a text: at most this many things, and words for each

Things = Mapping[int, float]  # a thing, by its line in the thesaurus, and its weight


class Thesaurus:
    """Things with their words: `[["log in", "sign on"], ["queue", "backlog"]]`."""

    def __init__(self, things: Iterable[Sequence[str]]) -> None:
        self._things = tuple(map(tuple, things))
        self._meant: dict[tuple[str, ...], list[int]] = {}
        for number, synonyms in enumerate(self._things):
            for key in dict.fromkeys(map(_stems, synonyms)):
                self._meant.setdefault(key, []).append(number)
        self._longest = max(map(len, self._meant), default=0)

    def things(self, text: str) -> Things:
        """Return the things that a text is about."""
        weights: dict[int, float] = {}
        for key in self._keys(text):
            meant = self._meant.get(key, ())
            for number in meant:
                weights[number] = weights.get(number, 0.0) + len(key) / len(meant)
        return weights

    def in_other_words(self, text: str) -> str:
        """Return some synonyms for a text's main things; empty if there are none."""
        things = self.things(text)
        most = sorted(things, key=lambda thing: (-things[thing], len(self._things[thing]), thing))
        return "; ".join(", ".join(self._things[thing][:_WORDS]) for thing in most[:_THINGS])

    def _keys(self, text: str) -> Iterator[tuple[str, ...]]:
        stems = _stems(text)
        for start, word in enumerate(words(text)):
            for end in range(start + 1, min(start + self._longest, len(stems)) + 1):
                if end > start + 1 or word not in STOP_WORDS:
                    yield stems[start:end]


def nearness(left: Things, right: Things) -> float:
    """Return the nearness, from 0 (nothing in common) to 1 (about the same things)."""
    # Roots: a second word for a thing adds less than the first.
    first, second = (
        {thing: math.sqrt(min(meant, 1.0)) for thing, meant in things.items()}
        for things in (left, right)
    )
    sizes = math.hypot(*first.values()) * math.hypot(*second.values())
    return sum(first[key] * second[key] for key in first.keys() & second.keys()) / (sizes or 1)


@functools.cache
def load() -> Thesaurus:
    """Return our thesaurus; it is read once per process."""
    from ghp_agents_recall.minilm import THESAURUS

    lines = THESAURUS.read_text(encoding="utf-8").splitlines()
    return Thesaurus(line.split(", ") for line in lines if line and not line.startswith("#"))


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, words(text)))
