"""Words that people say for the same thing, where a small model sees nothing in common.

`thesaurus.txt` has a thing to a line. A text is about the things whose words it has, less so where
a word stands for many of them; how near two texts are is the cosine of that.
"""

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ghp_agents.notes.search.bm25 import STOP_WORDS, stem

_PATH = Path(__file__).with_name("thesaurus.txt")
_WORD = re.compile(r"[^\W_]+")
_THINGS, _WORDS = 2, 3  # so many things, and words for each, stand in for those of a text

Things = Mapping[int, float]  # a thing, by its place in the thesaurus, and how much it is meant


class Thesaurus:
    """Things, and the words for each: `[["log in", "sign on"], ["queue", "backlog"]]`."""

    def __init__(self, things: Iterable[Sequence[str]]) -> None:
        self._things = tuple(tuple(words) for words in things)
        self._meant: dict[tuple[str, ...], list[int]] = {}
        for number, words in enumerate(self._things):
            for key in dict.fromkeys(_stems(word) for word in words):
                self._meant.setdefault(key, []).append(number)
        self._longest = max(map(len, self._meant), default=0)

    def things(self, text: str) -> Things:
        """What a text is about."""
        found: dict[int, float] = {}
        for key in self._keys(text):
            meant = self._meant.get(key, ())
            for number in meant:
                found[number] = found.get(number, 0.0) + len(key) / len(meant)
        return found

    def in_other_words(self, text: str) -> str:
        """Some other words for what the text is about most; nothing if there are none."""
        things = self.things(text)
        most = sorted(things, key=lambda each: (-things[each], len(self._things[each]), each))
        return "; ".join(", ".join(self._things[each][:_WORDS]) for each in most[:_THINGS])

    def _keys(self, text: str) -> Iterator[tuple[str, ...]]:
        words = _WORD.findall(text.lower())
        stems = [stem(word) for word in words]
        for start, word in enumerate(words):
            for end in range(start + 1, min(start + self._longest, len(words)) + 1):
                if end > start + 1 or word not in STOP_WORDS:
                    yield tuple(stems[start:end])


def nearness(one: Things, other: Things) -> float:
    """From 0, nothing in common, to 1, about the same things."""
    # Roots: a second word for a thing says less than the first.
    first, second = (
        {thing: math.sqrt(min(meant, 1.0)) for thing, meant in each.items()}
        for each in (one, other)
    )
    sizes = math.hypot(*first.values()) * math.hypot(*second.values())
    return sum(first[each] * second[each] for each in first.keys() & second.keys()) / (sizes or 1)


@functools.cache
def load() -> Thesaurus:
    """Ours, read once in a process."""
    lines = _PATH.read_text(encoding="utf-8").splitlines()
    return Thesaurus(line.split(", ") for line in lines if line and not line.startswith("#"))


def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _WORD.findall(text.lower()))
