"""Which lines of both sides conflict, from the hunks of each against the base."""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.git.blob_hunks import Hunk
from ghp_agents.hotpath import line_ranges


class LineRange(NamedTuple):
    """Lines of a file, from 1, both included. `last` is before `first` where lines were removed."""

    first: int
    last: int


class ClashPlace(NamedTuple):
    """Lines of both sides that conflict, and their new text, bounded."""

    ours: LineRange
    theirs: LineRange
    our_text: str = ""
    their_text: str = ""

    @property
    def turned(self) -> "ClashPlace":
        """The same with the sides exchanged."""
        return ClashPlace(self.theirs, self.ours, self.their_text, self.our_text)


def clashes(ours: Sequence[Hunk], theirs: Sequence[Hunk]) -> list[ClashPlace]:
    """Where both sides change the same lines of the base, or lines that touch, in different ways.
    Git joins such changes, too."""
    same = {_change(hunk) for hunk in ours} & {_change(hunk) for hunk in theirs}
    marked = [(hunk.start, hunk.end, 0, hunk) for hunk in ours if _change(hunk) not in same]
    marked += [(hunk.start, hunk.end, 1, hunk) for hunk in theirs if _change(hunk) not in same]
    marked.sort(key=lambda item: item[:3])
    groups: list[tuple[list[Hunk], list[Hunk]]] = []
    reach = -1
    for start, end, side, hunk in marked:
        if start > reach:
            groups.append(([], []))
        reach = max(end, reach)
        groups[-1][side].append(hunk)
    return [_place(first, second) for first, second in groups if first and second]


def added_twice(hunks: Sequence[Hunk]) -> list[ClashPlace]:
    """The same for a file that both added; the hunks are from our version to theirs."""
    return [
        ClashPlace(
            LineRange(hunk.start + 1, hunk.end), LineRange(hunk.new_start + 1, hunk.new_end),
            "", hunk.text,
        )
        for hunk in hunks
    ]  # fmt: skip


def moved(lines: LineRange, hunks: Sequence[Hunk]) -> LineRange:
    """The same lines in another version of the file, to which the hunks lead."""
    ((start, end),) = line_ranges.mapped(
        [(lines.first - 1, lines.last)], [hunk[:4] for hunk in hunks]
    )
    return LineRange(start + 1, end)


def _change(hunk: Hunk) -> tuple[int, int, int, str]:
    return hunk.start, hunk.end, hunk.new_end - hunk.new_start, hunk.digest


def _place(ours: Sequence[Hunk], theirs: Sequence[Hunk]) -> ClashPlace:
    return ClashPlace(_lines(ours), _lines(theirs), _text(ours), _text(theirs))


def _lines(hunks: Sequence[Hunk]) -> LineRange:
    return LineRange(hunks[0].new_start + 1, hunks[-1].new_end)


def _text(hunks: Sequence[Hunk]) -> str:
    return "\n".join(hunk.text for hunk in hunks if hunk.text)[:400]
