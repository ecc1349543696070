"""The files that a worktree has changed, uncommitted work included, and which lines of the base.

Nothing of the user's is written: git works on a copy of the index, and the patch is only counted.
Like `git status`, it lets git clean the files of a filter that the user configured.
"""

import os
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git.index_copy import ScratchIndex
from ghp_agents.hotpath import line_ranges
from ghp_agents.hotpath.locate import Location

MOST_NEW = 200  # untracked files; others may be a forgotten data folder
LARGEST = "20m"  # bytes; of a larger file the lines are not compared
_REFRESH = ("-c", "diff.autoRefreshIndex=true")  # no file counts because it was only touched
_NAMES = ("--ignore-submodules=all", "--no-ext-diff", "--no-textconv")
_ONLY_NAMES = ("diff", "--name-only", "-z", "--no-renames", *_NAMES)


class FileChange(NamedTuple):
    """A file that differs from the base."""

    path: str  # in the base; a new file's own
    base: str = ""  # the id of its content in the base; empty: it is new
    ranges: tuple[tuple[int, int], ...] | None = None  # None: all of it, or unknown
    is_deleted: bool = False


def in_worktree(place: Location, base: str, main: str) -> list[FileChange]:
    """The files of a worktree that differ from the commit `base`, without those that are as in the
    commit `main`: they were merged. A renamed file counts under its old name. Raises GitError."""
    import tempfile  # slow to import, and most that import this module only read records

    with tempfile.TemporaryDirectory(prefix="ghp-changes-") as scratch:
        copy = ScratchIndex(place, Path(scratch))
        _add_new(copy)
        changes = _changed(copy, base)
        if main != base and changes:
            unmerged = {*copy.names(*_REFRESH, *_ONLY_NAMES, main)}
            changes = [(file, path) for file, path in changes if unmerged & {file.path, path}]
    return sorted(file for file, _ in changes)


def _add_new(copy: ScratchIndex) -> None:
    """Untracked files count as if they were added."""
    names = copy.names("ls-files", "-z", "--others", "--exclude-standard")
    names = [name for name in names if not name.endswith("/")][:MOST_NEW]
    if names:
        listed = b"\0".join(map(os.fsencode, names))
        words = ["--intent-to-add", "--ignore-errors", "--pathspec-from-file=-"]
        copy.run("add", *words, "--pathspec-file-nul", stdin=listed)


def _changed(copy: ScratchIndex, base: str) -> list[tuple[FileChange, str]]:
    """The changed files, and their present paths."""
    raw = copy.names(*_REFRESH, "diff", "--raw", "-z", "--no-abbrev", "-M", *_NAMES, base, "--")
    files: list[tuple[FileChange, str]] = []
    patched: list[tuple[FileChange, str]] = []
    words = iter(raw)
    for word in words:
        _, _, oid, _, status = word.split(" ")
        path = next(words)
        now = next(words) if status[0] == "R" else path
        if status[0] in "MR":
            patched.append((FileChange(path, oid), now))
        elif status[0] == "D":
            files.append((FileChange(path, oid, is_deleted=True), path))
        elif status[0] in "AT":  # T: it became a link, or was one
            files.append((FileChange(path, oid if status[0] == "T" else ""), path))
    return files + _with_lines(copy, base, patched)


def _with_lines(
    copy: ScratchIndex, base: str, patched: list[tuple[FileChange, str]]
) -> list[tuple[FileChange, str]]:
    if not patched:
        return []
    large = ("-c", f"core.bigFileThreshold={LARGEST}")
    args = (*_REFRESH, "diff", *line_ranges.DIFF, "-M", "--diff-filter=MR", base, "--")
    shown = [*line_ranges.files(copy.git(*large, *args).out)]
    if len(shown) != len(patched):
        return []  # somebody wrote meanwhile: the next run sees it
    with_lines: list[tuple[FileChange, str]] = []
    for (file, path), (oid, hunks) in zip(patched, shown, strict=True):
        if hunks and oid == file.base:
            ranges = tuple((start, end) for start, end, _, _ in hunks)
            with_lines.append((file._replace(ranges=ranges), path))
        elif oid == file.base:  # binary
            with_lines.append((file, path))
    return with_lines
