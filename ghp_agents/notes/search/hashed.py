"""The fallback embedder: words and parts of words, hashed into a vector. It knows no meanings.

It is used if mem0 is installed and the local model is not. It finds identifiers and inflected
words, but no synonyms.
"""

import math
from collections.abc import Iterator
from zlib import crc32

from ghp_agents.notes.search.bm25 import STOP_WORDS, stem, words

DIMENSIONS = 1024
_PARTS = 4  # letters in a part of a word


def vector(text: str) -> list[float]:
    """Return a text's vector of length 1; near vectors share words or parts of words."""
    values = [0.0] * DIMENSIONS
    for feature, weight in _features(text):
        number = crc32(feature.encode("utf-8", "replace"))
        values[number % DIMENSIONS] += weight if number & 0x8000_0000 else -weight
    size = math.sqrt(sum(value * value for value in values))
    return [value / size for value in values] if size else [1.0, *values[1:]]


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in words(text):
        if word in STOP_WORDS:
            continue
        yield stem(word), 1.0
        padded = f"<{word}>"
        for start in range(len(padded) - _PARTS + 1):
            yield padded[start : start + _PARTS], 0.4
