"""Reads the conflicts that git marked in a merged file, and the hunks of a difference. Pure."""

from ghp_agents.hotpath.light_dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Region:
    """A conflict: lines in either version, from `start` to before `end`, counted from 0."""

    start: int
    end: int
    their_start: int
    their_end: int


def marked(content: bytes, size: int) -> "tuple[list[Region], list[bytes], list[bytes]]":
    """The marked conflicts by their lines in the merge with each side, and these merges."""
    begin, middle, end = (char * size for char in (b"<", b"=", b">"))
    regions: list[Region] = []
    mine: list[bytes] = []
    theirs: list[bytes] = []
    side = b""
    for line in content.splitlines(keepends=True) if b"\r" not in content else _lines(content):
        mark = line[:size] if line[:1] in (b"<", b"=", b">") else b""
        if mark == begin and not side:
            side, start, their_start = begin, len(mine), len(theirs)
        elif mark == middle and side == begin:
            side = middle
        elif mark == end and side == middle:
            side = b""
            regions.append(Region(start, len(mine), their_start, len(theirs)))
        else:
            if side != middle:
                mine.append(line)
            if side != begin:
                theirs.append(line)
    return regions, mine, theirs


def _lines(content: bytes) -> "list[bytes]":
    """Lines that end with LF; `splitlines` also splits at a lone CR."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def mapped(hunks: "Sequence[tuple[int, int, int, int]]", line: int) -> int:
    """The line of the new version for a line of the old one, both counted from 0."""
    shift = 0
    for start, count, new_start, new_count in hunks:
        if start + count <= line:
            shift = new_start + new_count - start - count
        elif start < line:
            return new_start + min(line - start, new_count)
        else:
            break
    return line + shift


def hunks(diff: bytes) -> "list[tuple[int, int, int, int]]":
    ranges = []
    for line in diff.split(b"\n"):
        if line.startswith(b"@@ -"):
            old, new = line.split(b" ")[1:3]
            ranges.append((*_range(old), *_range(new)))
    return ranges


def _range(text: bytes) -> "tuple[int, int]":
    """`-12,3` as the first line from 0, and the number of lines."""
    first, _, count = text[1:].partition(b",")
    lines = int(count) if count else 1
    return int(first) - (1 if lines else 0), lines
