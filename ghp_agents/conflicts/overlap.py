"""Which pairs of changes can conflict at all, by their paths alone.

Git merges only these pairs. Two changes conflict only in a common path, where a file of one is a
folder of the other, or where one moves a folder and the other adds to it. A rename changes both
its paths, so that a rename and an edit have a common path.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.core.file_names import parents


class NetChange(NamedTuple):
    """The paths that differ from the main branch after a merge into it."""

    paths: frozenset[str]
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()


def candidates(changes: Sequence[NetChange]) -> list[tuple[int, int]]:
    """The pairs that may conflict, by their numbers, in order."""
    pairs: set[tuple[int, int]] = set()
    by_path: dict[str, list[int]] = defaultdict(list)
    for number, change in enumerate(changes):
        for path in change.paths:
            by_path[path].append(number)
    for numbers in by_path.values():
        pairs.update((x, y) for at, x in enumerate(numbers) for y in numbers[at + 1 :])
    moved_from: dict[str, set[int]] = defaultdict(set)
    for number, change in enumerate(changes):
        for path in change.removed if change.added else ():
            for folder in parents(path):
                moved_from[folder].add(number)
    for number, change in enumerate(changes):
        for path in change.added:
            for folder in parents(path):
                others = {*by_path.get(folder, ()), *moved_from.get(folder, ())} - {number}
                pairs.update((min(number, other), max(number, other)) for other in others)
    return sorted(pairs)
