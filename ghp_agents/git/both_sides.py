"""Both sides of a conflict: for each file, the lines that each side has where they collide."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from ghp_agents.core.declared import Name, Written
from ghp_agents.git import process as git
from ghp_agents.git.merge import Stage
from ghp_agents.git.objects import read_blobs
from ghp_agents.hotpath import line_ranges

FILES = 10  # files whose lines are looked at
OVERLAPS = 3  # of one file
TEXT = 400  # characters of one side
LARGEST = 2_000_000  # bytes of a file whose lines are looked at
GITLINK, _LINK = "160000", "120000"

Kind = Literal[
    "lines", "added", "deleted here", "deleted there", "binary", "large", "link", "submodule",
    "moved", "not compared",
]  # fmt: skip


class SidesOverlap(NamedTuple):
    """Lines that both sides changed, counted from 1; `end` is before `start` for no lines."""

    start: int
    end: int
    ours: str
    their_start: int
    their_end: int
    theirs: str


class ConflictedFile(NamedTuple):
    """A file that conflicts with the main branch."""

    path: str
    kind: Annotated[Kind, Written(str)]
    overlaps: Annotated[tuple[SidesOverlap, ...], Name("places")] = ()
    more: int = 0  # overlaps that are not listed

    def turned(self) -> "ConflictedFile":
        """The same, seen from the other side."""
        kinds: dict[Kind, Kind] = {
            "deleted here": "deleted there", "deleted there": "deleted here"
        }  # fmt: skip
        overlaps = tuple(
            SidesOverlap(x.their_start, x.their_end, x.theirs, x.start, x.end, x.ours)
            for x in self.overlaps
        )
        return self._replace(kind=kinds.get(self.kind, self.kind), overlaps=overlaps)


class _Change(NamedTuple):
    """Lines of the base that one side replaced, and the lines that it has there."""

    base: range
    lines: range
    is_ours: bool


def both_sides(
    common_dir: Path, stages: Sequence[Stage], env: Mapping[str, str] | None = None
) -> tuple[ConflictedFile, ...]:
    """The conflicting files with both sides; `env` names the folders of the objects."""
    by_path: dict[str, dict[int, Stage]] = {}
    for stage in stages:
        by_path.setdefault(stage.path, {})[stage.number] = stage
    shown = [*by_path.items()]
    files = [_file(common_dir, path, versions, env) for path, versions in shown[:FILES]]
    return (*files, *(ConflictedFile(path, "not compared") for path, _ in shown[FILES:]))


def _file(
    common_dir: Path, path: str, versions: Mapping[int, Stage], env: Mapping[str, str] | None
) -> ConflictedFile:
    kind = _kind(versions)
    if kind not in ("lines", "added"):
        return ConflictedFile(path, kind)
    numbers = sorted(versions)
    blobs = read_blobs(common_dir, [versions[x].oid for x in numbers], env, largest=LARGEST)
    texts = {n: blob for n, blob in zip(numbers, blobs, strict=True) if blob is not None}
    if len(texts) < len(numbers):
        return ConflictedFile(path, "large")
    if any(b"\0" in text[:8_000] for text in texts.values()):
        return ConflictedFile(path, "binary")
    changes = [x for side in (2, 3) for x in _changes(common_dir, versions, side, texts, env)]
    overlaps = list(_overlaps(changes, _lines(texts[2]), _lines(texts[3])))
    return ConflictedFile(path, kind, tuple(overlaps[:OVERLAPS]), max(0, len(overlaps) - OVERLAPS))


def _kind(versions: Mapping[int, Stage]) -> Kind:
    modes = {stage.mode for stage in versions.values()}
    if GITLINK in modes:
        return "submodule"
    if 2 in versions and 3 in versions:
        if _LINK in modes:
            return "link"
        return "lines" if 1 in versions else "added"
    if 1 in versions and len(versions) == 2:
        return "deleted there" if 2 in versions else "deleted here"
    return "moved"


def _changes(
    common_dir: Path,
    versions: Mapping[int, Stage],
    side: int,
    texts: Mapping[int, bytes],
    env: Mapping[str, str] | None,
) -> Iterator[_Change]:
    if 1 not in versions:
        yield _Change(range(0), range(len(_lines(texts[side]))), side == 2)
        return
    plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--unified=0", "--text"]
    args = ["diff", *plain, versions[1].oid, versions[side].oid]
    shown = git.check(args, cwd=common_dir, git_dir=common_dir, env=env).out
    for start, end, new_start, new_end in line_ranges.hunks(shown) or ():
        yield _Change(range(start, end), range(new_start, new_end), side == 2)


def _lines(text: bytes) -> list[str]:
    lines = text.decode("utf-8", "replace").split("\n")
    return lines if lines[-1] else lines[:-1]


def _overlaps(
    changes: Sequence[_Change], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[SidesOverlap]:
    """The places that both sides changed: there the changed lines overlap or touch, as in git."""
    moved = [0, 0]  # by how many lines each side is ahead of the base
    for group in _groups(sorted(changes, key=lambda x: (x.base.start, x.base.stop))):
        start, stop = group[0].base.start, max(change.base.stop for change in group)
        before = [*moved]
        for change in group:
            moved[0 if change.is_ours else 1] += len(change.lines) - len(change.base)
        if len({change.is_ours for change in group}) == 2:
            mine = range(start + before[0], stop + moved[0])
            other = range(start + before[1], stop + moved[1])
            yield from _differing(mine, ours, other, theirs)


def _groups(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    group: list[_Change] = []
    for change in changes:
        if group and change.base.start > max(x.base.stop for x in group):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _differing(
    mine: range, ours: Sequence[str], other: range, theirs: Sequence[str]
) -> Iterator[SidesOverlap]:
    """What differs there, without equal lines at both ends."""
    left, right = [*ours[mine.start : mine.stop]], [*theirs[other.start : other.stop]]
    if left == right:
        return
    same = next(
        (at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]),
        min(len(left), len(right)),
    )
    left, right = left[same:], right[same:]
    while left and right and left[-1] == right[-1]:
        del left[-1], right[-1]
    start, their_start = mine.start + same + 1, other.start + same + 1
    yield SidesOverlap(
        start, start + len(left) - 1, _bounded(left),
        their_start, their_start + len(right) - 1, _bounded(right),
    )  # fmt: skip


def _bounded(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    return text if len(text) <= TEXT else text[: TEXT - 1] + "…"
