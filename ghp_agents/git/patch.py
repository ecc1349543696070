"""Uncommitted work as a patch, taken without changing the user's files. `apply_patch` applies it.

A patch has the content of the working tree: changed, new, deleted and renamed files, binary files,
links, the executable bit. Ignored files and empty folders are left out. Staged and unstaged changes
are not distinguished. Content passes git's conversion of line endings and filters, as in a commit.
"""

import mmap
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.file_names import parents
from ghp_agents.core.light_hashes import sha1, sha256
from ghp_agents.git import process as git
from ghp_agents.git import worktree
from ghp_agents.git.index_copy import LeftOut, ScratchIndex, stage
from ghp_agents.hotpath import own_file
from ghp_agents.hotpath.locate import Location

_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none")
_GITLINK = "160000"
_LINK = "120000"


class PatchedFile(NamedTuple):
    """A file that the patch changes; counts are None for binary content."""

    kind: str  # A added, M modified, D deleted, T type changed, R renamed
    path: str
    added: int | None
    removed: int | None
    source: str = ""  # the old path of a renamed file


Screen = Callable[[PatchedFile, bytes], str | None]
_Described = tuple[PatchedFile, tuple[str, str], str]  # with its modes and its new object


class Patch(NamedTuple):
    """Uncommitted work on top of the commit `base`, which is empty before the first commit."""

    base: str
    content: bytes
    changes: tuple[PatchedFile, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    converted: tuple[str, ...] = ()  # stored as git would commit them, not byte for byte


def take_patch(
    place: Location,
    limit: int,
    screen: Screen = lambda _change, _added: None,
    passed_over: Collection[str] = (),
    *,
    has_new: bool = True,
) -> Patch:
    """The uncommitted work of a worktree, in at most `limit` bytes; the largest files are left out
    first.

    `screen` gets each change with its added lines, and returns why it must not be stored, or None.
    New files in `passed_over` are skipped; without `has_new`, all are. The user's index, objects,
    refs and files stay as they are. Raises GitError.
    """
    assert place.toplevel is not None
    base = worktree.head(Path(place.toplevel))
    folder = own_file.make_folder(own_file.places_on_disk(os.environ))
    try:
        copy = ScratchIndex(place, Path(folder))
        left_out = stage(copy, limit, passed_over, has_new=has_new)
        whole = Path(folder) / "patch"
        against = base or copy.git("hash-object", "-t", "tree", os.devnull).text
        parts = _parts(copy, against, whole)
        reasons = _reasons(copy.worktree, parts, whole, limit, screen)
        kept = [part for part in parts if part.change.path not in reasons]
        dropped = [part for part in parts if part.change.path in reasons]
        left_out += [_left_out(copy, part, reasons) for part in dropped]
        return Patch(
            base,
            b"".join(part.read(whole) for part in kept),
            tuple(part.change for part in kept),
            tuple(sorted(left_out, key=lambda file: file.path)),
            tuple(part.change.path for part in kept if _is_converted(copy.worktree, part)),
        )
    finally:
        own_file.remove_folder(folder)


class _Part(NamedTuple):
    """The part of the patch for one file: its start and size in the whole patch."""

    change: PatchedFile
    modes: tuple[str, str]
    oid: str
    start: int
    size: int

    def read(self, whole: Path) -> bytes:
        """The content of this part."""
        with whole.open("rb") as file:
            file.seek(self.start)
            return file.read(self.size)

    @property
    def emptied(self) -> str:
        """The path that no longer exists afterwards; empty if there is none."""
        return {"D": self.change.path, "R": self.change.source}.get(self.change.kind, "")


def _parts(copy: ScratchIndex, against: str, whole: Path) -> list[_Part]:
    """Let git write the whole patch, and find the files in it."""
    # Only unchanged renames; others would make a part depend on its source's content.
    renames = "--find-renames=100%"
    described = _described(_compare(copy, against, renames, "-z", "--raw", "--numstat").out)
    if _is_moved_link_in_the_way(described):
        renames = "--no-renames"
        described = _described(_compare(copy, against, renames, "-z", "--raw", "--numstat").out)
    _compare(
        copy, against, renames,
        "--patch", "--binary", "--full-index", "--src-prefix=a/", "--dst-prefix=b/",
        f"--output={whole}",
    )  # fmt: skip
    starts = _starts(whole)
    parts: list[_Part] = []
    position = 0
    for change, modes, oid in described:
        # A type change (file to link or back) is two pieces: a deletion and an addition.
        after = position + (2 if change.kind == "T" else 1)
        start = starts[position]
        parts.append(_Part(change, modes, oid, start, starts[after] - start))
        position = after
    return parts


def _compare(copy: ScratchIndex, against: str, *options: str) -> git.Result:
    return copy.git("diff-index", "--cached", *_PLAIN, *options, against)


def _is_moved_link_in_the_way(described: Sequence[_Described]) -> bool:
    """Whether a renamed link is in the way of other paths. A rename names no mode, so `git apply`
    does not see that the link goes away, and refuses to write below it."""
    paths = {path for change, *_ in described for path in (change.path, change.source)}
    passed = {parent for path in paths for parent in parents(path)}
    moved = [change for change, modes, _ in described if change.kind == "R" and modes[1] == _LINK]
    return any(not passed.isdisjoint((change.path, change.source)) for change in moved)


def _starts(whole: Path) -> list[int]:
    """The offsets of the files in a patch, and its end. No content line starts like a header."""
    if not whole.stat().st_size:
        return [0]
    with whole.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        starts = [0]
        while (header_at := view.find(b"\ndiff --git ", starts[-1])) >= 0:
            starts.append(header_at + 1)
        return [*starts, len(view)]


def _described(data: bytes) -> list[_Described]:
    """Changes with their modes and new object, from `--raw --numstat -z`, which prints all raw
    lines before all counts."""
    words = iter([os.fsdecode(part) for part in data.split(b"\0")])
    raw: list[tuple[str, str, str, tuple[str, str], str]] = []
    word = next(words)
    while word.startswith(":"):
        old_mode, new_mode, _, oid, kind = word[1:].split(" ")
        first = next(words)
        source, path = (first, next(words)) if kind[0] == "R" else ("", first)
        raw.append((kind[0], path, source, (old_mode, new_mode), oid))
        word = next(words)
    described: list[_Described] = []
    for kind, path, source, modes, oid in raw:
        added, removed, named = word.split("\t", 2)
        if not named:  # a rename: its two names follow
            next(words), next(words)
        described.append(
            (PatchedFile(kind, path, _count(added), _count(removed), source), modes, oid)
        )
        word = next(words)
    return described


def _count(text: str) -> int | None:
    return None if text == "-" else int(text)


def _reasons(
    folder: Path, parts: Sequence[_Part], whole: Path, limit: int, screen: Screen
) -> dict[str, str]:
    """Why parts are left out, by path."""
    reasons: dict[str, str] = {}
    total = 0
    for part in sorted(parts, key=lambda part: part.size):
        path = part.change.path
        if _GITLINK in part.modes:
            reasons[path] = "a submodule"
        elif part.modes[1] == _LINK and _leads_out(folder, path):
            reasons[path] = "a link that leads out of the worktree"
        elif total + part.size > limit:
            reasons[path] = "too large"
        elif reason := screen(part.change, _added(part.read(whole))):
            reasons[path] = reason
        else:
            total += part.size
    stay = {part.emptied for part in parts if part.emptied and part.change.path in reasons}
    above = {parent for path in stay for parent in parents(path)}
    for part in parts:
        # If a deletion is left out, the file stays, so nothing else can take its path.
        if part.change.path in above or not stay.isdisjoint(parents(part.change.path)):
            reasons.setdefault(part.change.path, "takes the place of a file that was left out")
    return reasons


def _leads_out(folder: Path, path: str) -> bool:
    from ghp_agents.git import patch_check

    return patch_check.leads_out(folder, path, {})


def _added(piece: bytes) -> bytes:
    """The lines of text that a piece of the patch adds."""
    hunks = piece.partition(b"\n@@ ")[2]
    return b"\n".join(line[1:] for line in hunks.split(b"\n") if line.startswith(b"+"))


def _left_out(copy: ScratchIndex, part: _Part, reasons: dict[str, str]) -> LeftOut:
    change, reason = part.change, reasons[part.change.path]
    if change.kind == "D":
        return LeftOut(change.path, part.size, f"{reason} (deleted here)")
    return LeftOut(change.path, None if _GITLINK in part.modes else copy.size(change.path), reason)


def _is_converted(folder: Path, part: _Part) -> bool:
    """Whether line endings or a filter make the stored content differ from the file's bytes."""
    if part.change.kind == "D" or not part.modes[1].startswith("100"):
        return False
    try:
        content = (folder / part.change.path).read_bytes()
    except OSError:
        return False
    blob = b"blob %d\0" % len(content) + content
    return (sha256 if len(part.oid) == 64 else sha1)(blob).hexdigest() != part.oid
