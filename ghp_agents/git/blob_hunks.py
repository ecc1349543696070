"""Which lines differ between pairs of blobs: one `git diff-tree` for all pairs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from ghp_agents.git.trial_merge import TrialPlace

TEXT_LIMIT = 400  # characters that are kept of a hunk's new lines
_HEADER = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE = re.compile(rb"diff --git a/(\d+) b/\d+")
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--diff-algorithm=myers")
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")


class Hunk(NamedTuple):
    """Some old lines were replaced by new ones; lines count from 0, ends are excluded."""

    start: int
    end: int
    new_start: int
    new_end: int
    text: str  # the new lines, bounded
    digest: str = ""  # of all new lines


def hunks(place: TrialPlace, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[Hunk]]:
    """The hunks from the first blob of each pair to the second. Binary pairs are left out.
    Raises GitError."""
    known = sorted({pair for pair in pairs if pair[0] != pair[1]})
    if not known:
        return {}
    trees = [_tree(place, [pair[side] for pair in known]) for side in (0, 1)]
    args = (
        "-c",
        "core.bigFileThreshold=16m",
        "diff-tree",
        "-r",
        "-p",
        "-U0",
        *_PLAIN,
        *_PREFIXES,
        *trees,
    )
    return {known[number]: found for number, found in _parse(place.check(*args).out)}


def _tree(place: TrialPlace, blobs: Sequence[str]) -> str:
    """A tree with these blobs as files called 0, 1, …"""
    lines = [f"100644 blob {oid}\t{number}\n" for number, oid in enumerate(blobs)]
    return place.check("mktree", "--missing", stdin="".join(lines).encode()).text


def _parse(patch: bytes) -> Iterator[tuple[int, list[Hunk]]]:
    number, found, is_text = -1, list[Hunk](), False
    lines = iter(patch.split(b"\n"))
    for line in lines:
        if line.startswith(b"@@ ") and (header := _HEADER.match(line)):
            found.append(_hunk(header, lines))
            is_text = True
        elif name := _FILE.fullmatch(line):
            if is_text:
                yield number, found
            number, found, is_text = int(name[1]), [], False
    if is_text:
        yield number, found


def _hunk(header: re.Match[bytes], lines: Iterator[bytes]) -> Hunk:
    start, count, new_start, new_count = (int(group or 1) if group != b"0" else 0
                                          for group in header.groups())  # fmt: skip
    added: list[bytes] = []
    whole = blake2b(digest_size=8)
    room = TEXT_LIMIT * 4  # bytes
    for number in range(count + new_count):
        line = next(lines, b"")
        if line.startswith(b"\\"):  # "\ No newline at end of file" of the old lines
            line = next(lines, b"")
        if number < count:
            continue
        whole.update(line + b"\n")
        if room > 0:
            added.append(line[1 : room + 1])
            room -= len(line)
    text = b"\n".join(added).decode("utf-8", "replace")[:TEXT_LIMIT]
    first = start - 1 if count else start
    new_first = new_start - 1 if new_count else new_start
    return Hunk(first, first + count, new_first, new_first + new_count, text, whole.hexdigest())
