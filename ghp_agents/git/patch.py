"""Uncommitted work as a patch: taken without changing the user's files, applied as a whole.

A patch has the content of the working tree: changed, new, deleted and renamed files, binary files,
links, the executable bit. Ignored files and empty folders are left out. Staged and unstaged changes
are not distinguished. Content passes git's conversion of line endings and filters, as in a commit.
"""

import hashlib
import mmap
import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git import merge, patch_check, patch_text, worktree
from ghp_agents.git import process as git
from ghp_agents.git.index_copy import TIMEOUT_S, LeftOut, ScratchIndex, stage
from ghp_agents.git.patch_text import parents
from ghp_agents.hotpath.locate import Location

_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none")
_GITLINK = "160000"
_LINK = patch_text.LINK


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
) -> Patch:
    """The uncommitted work of a worktree, in at most `limit` bytes; the largest files are left out
    first.

    `screen` gets each change with its added lines, and returns why it must not be stored, or None.
    New files in `passed_over` are skipped. The user's index, objects, refs and files stay as they
    are. Raises GitError.
    """
    assert place.toplevel is not None
    base = worktree.head(Path(place.toplevel))
    with tempfile.TemporaryDirectory(prefix="ghp-patch-") as folder:
        copy = ScratchIndex(place, Path(folder))
        left_out = stage(copy, limit, passed_over)
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
        while (found := view.find(b"\ndiff --git ", starts[-1])) >= 0:
            starts.append(found + 1)
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
    found: list[_Described] = []
    for kind, path, source, modes, oid in raw:
        added, removed, named = word.split("\t", 2)
        if not named:  # a rename: its two names follow
            next(words), next(words)
        found.append((PatchedFile(kind, path, _count(added), _count(removed), source), modes, oid))
        word = next(words)
    return found


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
        elif part.modes[1] == _LINK and patch_check.leads_out(folder, path, {}):
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
    digest = hashlib.sha256() if len(part.oid) == 64 else hashlib.sha1(usedforsecurity=False)
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest() != part.oid


class PatchFailedError(git.GitError):
    """The patch cannot be applied here; nothing was changed."""


def is_applied(folder: Path, content: bytes) -> bool:
    """Whether all changes of the patch are already there. Raises UnsafePatchError."""
    patch_text.read_patch(content)
    result = _apply(folder, content, "--reverse", "--check")
    # Git only warns of a different mode.
    return result.code == 0 and " has type " not in result.err


def apply(folder: Path, content: bytes, *, three_way: bool) -> list[str]:
    """Apply the whole patch or nothing; returns the paths with conflicts.

    On the patch's own base commit only files change. With `three_way`, on another commit, git
    merges: the result is staged. Conflicts get markers and stay unmerged in the index. Raises
    PatchFailedError, or UnsafePatchError for a patch that `take_patch` could not have made. Then
    nothing was changed.
    """
    pieces = patch_text.read_patch(content)
    patch_check.check(folder, pieces)
    links = patch_check.links_in_the_way(folder, pieces)
    if links:
        raise PatchFailedError(
            f"it would write through {', '.join(links)}: a link that is not in git",
            hint="Nothing was changed.",
        )
    if three_way:
        git.run(["update-index", "-q", "--refresh"], cwd=folder, timeout=TIMEOUT_S)
    result = _apply(folder, content, *(["--3way"] if three_way else []))
    conflicts = list(merge.unmerged(folder)) if three_way else []
    if result.code != 0 and not conflicts:
        words = [line for line in result.err.splitlines() if line.startswith(("error:", "fatal:"))]
        raise PatchFailedError(
            "; ".join(line.partition(": ")[2] for line in words[:5]) or "git refused the patch",
            hint="Nothing was changed.",
            stderr=result.err,
        )
    return conflicts


def _apply(folder: Path, content: bytes, *options: str) -> git.Result:
    flags = ("-c", "apply.ignoreWhitespace=no", "-c", "core.safecrlf=false")
    return git.run(
        [*flags, "apply", "--whitespace=nowarn", *options, "-"],
        cwd=folder,
        stdin=content,
        timeout=TIMEOUT_S,
    )
