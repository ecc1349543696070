"""Which lines differ between pairs of blobs: one `git diff-tree` for all pairs."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from ghp_agents.git.objects import read_blobs
from ghp_agents.git.trial_merge import TrialPlace
from ghp_agents.hotpath import line_ranges

TEXT_LIMIT = 400  # characters that are kept of a hunk's new lines
LARGEST = 16_000_000  # bytes; in a larger blob no lines are compared
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


class Hunk(NamedTuple):
    """Some old lines were replaced by new ones; lines count from 0, ends are excluded."""

    start: int
    end: int
    new_start: int
    new_end: int
    text: str = ""  # the new lines, bounded
    digest: str = ""  # of all new lines


def hunks(place: TrialPlace, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[Hunk]]:
    """The hunks from the first blob of each pair to the second, as merges see them. Binary and very
    large blobs have none. Raises GitError."""
    differing = sorted({pair for pair in pairs if pair[0] != pair[1]})
    if not differing:
        return {}
    trees = [_tree(place, [pair[side] for pair in differing]) for side in (0, 1)]
    args = ("-c", f"core.bigFileThreshold={LARGEST}", "diff-tree", "-r", "-p", *line_ranges.DIFF)
    hunk_ranges = [ranges for _, ranges in line_ranges.files(place.check(*args, *trees).out)]
    news = sorted({pair[1] for pair, ranges in zip(differing, hunk_ranges, strict=True) if ranges})
    blobs = read_blobs(place.git_dir, news, place.env, largest=LARGEST)
    lines = {oid: _LINE.findall(blob or b"") for oid, blob in zip(news, blobs, strict=True)}
    return {
        pair: [_with_text(Hunk(*bounds), lines.get(pair[1], ())) for bounds in ranges]
        for pair, ranges in zip(differing, hunk_ranges, strict=True)
    }


def _tree(place: TrialPlace, blobs: Sequence[str]) -> str:
    """A tree with these blobs as files whose names sort in their order."""
    lines = [f"100644 blob {oid}\t{number:09}\n" for number, oid in enumerate(blobs)]
    return place.check("mktree", "--missing", stdin="".join(lines).encode()).text


def _with_text(hunk: Hunk, lines: Sequence[bytes]) -> Hunk:
    new = b"".join(lines[hunk.new_start : hunk.new_end])
    text = new[: TEXT_LIMIT * 4].decode("utf-8", "replace").removesuffix("\n")[:TEXT_LIMIT]
    return hunk._replace(text=text, digest=blake2b(new, digest_size=8).hexdigest())
