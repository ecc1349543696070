"""Which pairs of changes can conflict at all, by their paths alone.

Git merges only these pairs. Two changes conflict only in a common path, where a file of one is a
folder of the other, or where one moves a folder and the other adds to it. A rename changes both
its paths, so that a rename and an edit have a common path.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple


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
    moved_from = _folders(changes, [change.removed if change.added else () for change in changes])
    for number, change in enumerate(changes):
        for path in change.added:
            for folder in _above(path):
                others = [*by_path.get(folder, ()), *moved_from.get(folder, ())]
                pairs.update(_pair(number, other) for other in others if other != number)
    return sorted(pairs)


def _folders(
    changes: Sequence[NetChange], paths: Sequence[frozenset[str] | tuple[()]]
) -> dict[str, set[int]]:
    """For each folder above one of the paths: the numbers of the changes."""
    owners: dict[str, set[int]] = defaultdict(set)
    for number in range(len(changes)):
        for path in paths[number]:
            for folder in _above(path):
                owners[folder].add(number)
    return owners


def _above(path: str) -> Iterator[str]:
    """The folders above a path."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _pair(number: int, other: int) -> tuple[int, int]:
    return (number, other) if number < other else (other, number)
