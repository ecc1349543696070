"""The names that are most similar to a mistyped one."""

from collections.abc import Sequence

ALIKE = 60  # characters that are compared; names are shorter
SHORT = 4
MARGIN = 0.1  # below the best ratio; worse matches are not suggested


def closest(word: str, names: Sequence[str]) -> list[str]:
    """The `names` that are most similar to `word`."""
    import difflib  # only after a mistake

    cutoff = 0.8 if len(word) > SHORT else 0.6  # a swap of two letters is much of a short word
    prefix = word[:ALIKE]
    matches = difflib.get_close_matches(prefix, names, n=2, cutoff=cutoff)
    ratios = [difflib.SequenceMatcher(None, name, prefix).ratio() for name in matches]
    return [name for name, ratio in zip(matches, ratios, strict=True) if ratio > ratios[0] - MARGIN]
