"""A conflict with the main branch: each file, the lines, and both texts."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ghp_agents.core.file_names import plain
from ghp_agents.core.ids import count
from ghp_agents.git.both_sides import ConflictedFile, SidesOverlap

if TYPE_CHECKING:
    pass

LINES_SHOWN = 10  # of each side of a place; the JSON has more
_KINDS = {
    "lines": "changed on both sides",
    "added": "added on both sides",
    "deleted here": "deleted here, and changed on {base}",
    "deleted there": "changed here, and deleted on {base}",
    "binary": "a binary file that changed on both sides",
    "large": "a large file that changed on both sides",
    "link": "a link that changed on both sides",
    "submodule": "a submodule that changed on both sides",
    "moved": "moved or replaced on one side",
    "not compared": "changed on both sides",
}


def lines(files: Sequence[ConflictedFile], base: str) -> Iterator[str]:
    """The conflicting files, with both sides of each place."""
    for file in files:
        yield f"{plain(file.path)}: {_KINDS[file.kind].format(base=base)}"
        for overlap in file.overlaps:
            yield from _sides(overlap, base)
        if file.more:
            yield f"  … and {count(file.more, 'more place')}"


def _sides(overlap: SidesOverlap, base: str) -> Iterator[str]:
    yield f"  {where(overlap.start, overlap.end)} here:"
    yield from _text(overlap.ours)
    yield f"  {where(overlap.their_start, overlap.their_end)} on {base}:"
    yield from _text(overlap.theirs)


def where(start: int, end: int) -> str:
    """The lines of one side, in words."""
    if end < start:
        return f"nothing before line {start}"
    return f"line {start}" if start == end else f"lines {start}-{end}"


def _text(text: str) -> Iterator[str]:
    lines = text.split("\n") if text else []
    for line in lines[:LINES_SHOWN]:
        yield f"    | {line}"
    if len(lines) > LINES_SHOWN:
        yield f"    … and {count(len(lines) - LINES_SHOWN, 'more line')}"
