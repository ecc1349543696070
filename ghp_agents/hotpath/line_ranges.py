"""Which lines of a file a change touches, and whether git would merge two changes. Pure.

Lines are counted from 0 in the base, and a range ends before its `end`. An insertion has an empty
range: it is in front of the line `start`. Before an edit a hook loads this, so it imports nothing.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Range = tuple[int, int]  # start and end in the base
    Hunk = tuple[int, int, int, int]  # start and end in the base, and in the new version

MOST = 20  # ranges of a file; of more, neighbours become one
END = 2**31  # more lines than git compares: the end of a range that covers the rest
LONGEST = 600  # characters of written ranges; ours are shorter
# As merges see a change: no heuristic that moves it, no common tail that is cut off (as without
# context), and nothing of the user's settings. One line of context is left out again by `hunks`.
DIFF = (
    *("--no-color", "--no-ext-diff", "--no-textconv", "--histogram", "--no-indent-heuristic"),
    *("-U1", "--inter-hunk-context=0", "--full-index", "--submodule=short", "--no-relative"),
    "--ignore-submodules=all",
)


def hunks(patch: bytes) -> "list[Hunk] | None":
    """The changes in git's patch of one file; None if it is binary."""
    if not patch:
        return []
    return [hunk for _, changes in files(patch) for hunk in changes] or None


def files(patch: bytes) -> "Iterator[tuple[str, list[Hunk]]]":
    """For each file of a patch by git: the id of its base (empty if the patch names none) and the
    changes. The lines of a change are counted, so no content is mistaken for a header."""
    lines = patch.split(b"\n")
    base, at, begun = "", 0, False
    changes: list[Hunk] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(b"diff --git "):
            if begun:
                yield base, changes
            base, changes, begun = "", [], True
        elif line.startswith(b"index "):
            base = line[6:].partition(b"..")[0].decode("ascii", "replace")
        elif line.startswith(b"@@ -"):
            at = _hunk(lines, at, line, changes)
    if begun:
        yield base, changes


def _hunk(lines: "Sequence[bytes]", at: int, header: bytes, changes: "list[Hunk]") -> int:
    """Add the changes of a hunk that begins at `at`; returns where it ends."""
    _, minus, plus, _ = header.split(b" ", 3)
    (old, olds), (new, news) = _span(minus), _span(plus)
    olds, news = old + olds, new + news
    first = old, new
    while old < olds or new < news or lines[at][:1] == b"\\":
        mark = lines[at][:1]
        at += 1
        if mark == b"-":
            old += 1
        elif mark == b"+":
            new += 1
        elif mark != b"\\":  # a line of context ends a change
            _add(changes, first, old, new)
            old, new = old + 1, new + 1
            first = old, new
    _add(changes, first, old, new)
    return at


def _add(changes: "list[Hunk]", first: "tuple[int, int]", old: int, new: int) -> None:
    if first != (old, new):
        changes.append((first[0], old, first[1], new))


def _span(text: bytes) -> "tuple[int, int]":
    """The first line of `-12,3` from 0, and how many there are."""
    start, comma, count = text[1:].partition(b",")
    number = int(count) if comma else 1
    return int(start) - (1 if number else 0), number


def bounded(ranges: "Sequence[Range]") -> "list[Range]":
    """At most `MOST` ranges: if there are more, those with the fewest lines between are joined."""
    gaps = [ranges[at + 1][0] - ranges[at][1] for at in range(len(ranges) - 1)]
    widest = sorted(range(len(gaps)), key=lambda at: -gaps[at])[: MOST - 1]
    joined: list[Range] = []
    first = 0
    for at in sorted(widest):
        joined.append((ranges[first][0], ranges[at][1]))
        first = at + 1
    return [*joined, (ranges[first][0], ranges[-1][1])] if ranges else []


def encode(ranges: "Sequence[Range]") -> str:
    """The ranges as people read them, and as git writes them in a patch: first line and number of
    lines, `10,3`. `9,0` is an insertion after line 9."""
    return " ".join(
        f"{start + 1},{end - start}" if end > start else f"{start},0" for start, end in ranges
    )


def decode(text: str) -> "list[Range]":
    """Ranges that another clone wrote. Raises ValueError."""
    if len(text) > LONGEST or not text.isascii():
        raise ValueError("not ranges of lines")
    ranges: list[Range] = []
    for word in text.split(" "):
        first, comma, count = word.partition(",")
        if not (comma and first.isdigit() and count.isdigit() and len(first + count) < 20):
            raise ValueError("not ranges of lines")
        start = int(first) - (1 if int(count) else 0)
        if start < (ranges[-1][1] if ranges else 0):
            raise ValueError("ranges of lines out of order")
        ranges.append((start, start + int(count)))
    return ranges


def touching(mine: "Sequence[Range]", theirs: "Sequence[Range]") -> "tuple[Range, Range] | None":
    """The first two ranges that git cannot merge: those that overlap, and those without a line in
    between. Both are in the order of lines."""
    left = right = 0
    while left < len(mine) and right < len(theirs):
        if mine[left][1] < theirs[right][0]:
            left += 1
        elif theirs[right][1] < mine[left][0]:
            right += 1
        else:
            return mine[left], theirs[right]
    return None


def mapped(ranges: "Sequence[Range]", between: "Sequence[Hunk]") -> "list[Range]":
    """Ranges of one version in another one, by the changes between the two. A range that such a
    change touches also covers what the change became."""
    return [_moved(start, end, between) for start, end in ranges]


def _moved(start: int, end: int, between: "Sequence[Hunk]") -> "Range":
    shift, first, last = 0, -1, -1  # by how many lines the versions differ before the range
    for old, old_end, new, new_end in between:
        is_same_place = old == old_end == start == end  # two insertions
        if old_end <= start and not is_same_place:
            shift = new_end - old_end
            continue
        if old >= end and not is_same_place:
            break
        first = min(start + shift, new) if first < 0 else first
        shift = new_end - old_end
        last = new_end if end <= old_end else end + shift
    return (first, last) if first >= 0 else (start + shift, end + shift)
