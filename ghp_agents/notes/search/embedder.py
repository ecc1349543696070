"""Our embedders for mem0: the local model, or hashes where it is not installed."""

import functools
import math
from collections.abc import Sequence
from typing import Any

from ghp_agents.notes.search import hashed, thesaurus

REMEMBERED = 16  # texts whose vectors are cached
OTHERWISE = 0.5  # weight of a question's synonyms; the question itself has 1


class LocalModel:
    """The embedder of the installed model package."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of a text; for a search, the question's synonyms are added."""
        return list(_embed_question(text) if memory_action == "search" else _embed_text(text))

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
        """The vectors of several."""
        return [self.embed(text) for text in texts]


class HashedWords(LocalModel):
    """The embedder that compares words only, not meanings."""

    NAME = "hashed-1"

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of one text."""
        return hashed.vector(text)


@functools.lru_cache(maxsize=REMEMBERED)
def _embed_text(text: str) -> tuple[float, ...]:
    from ghp_agents_recall import minilm

    return tuple(minilm.load_model().embed([text])[0])


@functools.lru_cache(maxsize=REMEMBERED)
def _embed_question(text: str) -> tuple[float, ...]:
    words = thesaurus.load().in_other_words(text)
    if not words:
        return _embed_text(text)
    pairs = zip(_embed_text(text), _embed_text(f"{text} ({words})"), strict=True)
    both = [first + OTHERWISE * other for first, other in pairs]
    size = math.hypot(*both)
    return tuple(value / size for value in both)
