"""Rank texts for a question by their words alone: Okapi BM25 over stems.

Half of all questions share a rare word with the answer, e.g. an identifier. For those, this is as
good as vectors.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping

_K1, _B = 1.2, 0.75  # the usual values
_WORD = re.compile(r"[^\W_]+")
# An identifier: it has a digit, a sign between letters, or an inner capital.
_NAME = re.compile(r"(?=\S*[^\W\d_])\S*(?:\d|[\w)][._/:=-]+\w|[a-z][A-Z])\S*")
_TRIMMED = ".,;:!?()[]{}\"'`“”"
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ed", "ies", "es", "s", "ly")
_STOP_WORDS = """
a an the and or but if of in on at to for from by with without within into onto over under after
before between during since until about as is are was were be been being am do does did done doing
has have had having will would can could may might must shall should it its they them their there
here this that these those he she his her him we us our ours you your yours i me my mine who whom
whose which what when where why how not no nor so than then too very just also each every any some
all both either neither
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def terms(text: str) -> list[str]:
    """Return the stems of a text's words, without stop words."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def words(text: str) -> list[str]:
    """Return a text's words in lower case."""
    return _WORD.findall(text.lower())


def stem(word: str) -> str:
    """Return an English word without its ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending) + ("y" if ending == "ies" else "")
            break
    return word.removesuffix("e") if len(word) > 3 else word


def rank(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Return by key the score of each text that shares a word with the query."""
    wanted = set(terms(query))
    counts = {key: Counter(terms(text)) for key, text in texts.items()}
    sizes = {key: counter.total() for key, counter in counts.items()}
    mean = (sum(sizes.values()) / len(sizes) if sizes else 0) or 1.0
    rarity = {word: _rarity(word, counts) for word in wanted}
    scores: dict[str, float] = {}
    for key, counter in counts.items():
        spread = _K1 * (1 - _B + _B * sizes[key] / mean)
        matches = [(rarity[word], counter[word]) for word in wanted if counter[word]]
        if matches:
            scores[key] = sum(weight * n * (_K1 + 1) / (n + spread) for weight, n in matches)
    return scores


def _rarity(word: str, counts: Mapping[str, "Counter[str]"]) -> float:
    having = sum(1 for counter in counts.values() if word in counter)
    return math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))


def rare_in_common(query: str, texts: Mapping[str, str]) -> dict[str, int]:
    """How many words each text shares with the query that few texts have, by its key."""
    wanted = set(terms(query))
    shared = {key: wanted & set(terms(text)) for key, text in texts.items()}
    having = Counter(word for common in shared.values() for word in common)
    few = max(2, len(texts) // 20)
    return {key: sum(having[word] <= few for word in common) for key, common in shared.items()}


def names(text: str) -> set[str]:
    """The identifiers in a text: `WATCHER=off`, `worker.yaml`, `X-Tenant`, `n042`."""
    parts = (part.strip(_TRIMMED) for part in text.split())
    return {part.casefold() for part in parts if _NAME.fullmatch(part)}


def shared_names(wanted: set[str], text: str) -> float:
    """Return the share of the `wanted` identifiers that a text contains, from 0 to 1."""
    if not wanted:
        return 0.0
    folded = text.casefold()
    return sum(1 for name in wanted if name in folded) / len(wanted)
