"""The commits that a branch adds, and what they change: git is asked once for each of these.

Commits never change. So what is known of two full commit ids holds for the whole process.
"""

import functools
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.fields import is_oid
from ghp_agents.git import clone_files, loose
from ghp_agents.git import process as git
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.git.worktree import Commit

# A rename counts as a deletion and an addition.
RAW = ("--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none", "--no-ext-diff")
SHOWN = 100  # commits that are listed; others are only counted
_FIELDS = ("%H", "%an", "%aI", "%s", "%h", "%B")
_LOG = ("log", "-z", "--no-show-signature", "--no-color", f"--format={'%x00'.join(_FIELDS)}")


class ChangedPath(NamedTuple):
    """A path that differs between two commits."""

    path: str
    kind: str  # a letter: A added, D deleted, M modified, T of another type
    before: str  # its mode
    mode: str
    oid: str


class Lines(NamedTuple):
    """A file's line counts between two commits; None for binary content."""

    path: str
    added: int | None
    removed: int | None


class History(NamedTuple):
    """The commits on top of others."""

    base: str = ""  # the last common commit; empty if there is none
    commits: tuple[Commit, ...] = ()  # newest first, at most SHOWN
    total: int = 0
    files: tuple[Lines, ...] = ()


class BranchRange:
    """The commits in `head` that none of `bases` has. Make it with `between`."""

    def __init__(self, folder: Path, bases: tuple[str, ...], head: str) -> None:
        self._folder, self._bases, self._head = folder, bases, head
        self._forks: tuple[str, ...] = ()
        self._changes: tuple[ChangedPath, ...] | None = None
        self._lines: tuple[Lines, ...] | None = None
        self._newest: git.Result | None = None

    @property
    def forks(self) -> tuple[str, ...]:
        """The last common commits: several, if two branches merged each other; empty without one,
        or if a commit is missing here."""
        if not self._forks and self._is_ahead():
            self._forks = self._bases
        if not self._forks and self._bases:
            shown = git.run(["merge-base", "--all", self._head, *self._bases], cwd=self._folder)
            self._forks = tuple(shown.text.split()) if shown.code == 0 else ()
        return self._forks

    def _is_ahead(self) -> bool:
        """Whether the head is a few commits after the only base, as most branches are."""
        if len(self._bases) != 1:
            return False
        try:
            folder = f"{clone_files.find(self._folder).common_dir}/objects"
        except UnreadableRefsError:
            return False
        return loose.commits_between(folder, self._head, self._bases[0]) is not None

    @property
    def changes(self) -> tuple[ChangedPath, ...]:
        """What the branch changed since it left its only base. Raises GitError."""
        if self._changes is None:
            self._read_diff()
        return self._changes or ()

    @property
    def paths(self) -> list[str]:
        """The paths that it changed. Raises GitError."""
        return [change.path for change in self.changes]

    def count_lines(self) -> tuple[Lines, ...]:
        """How many lines of each file it changed; this reads the files. Raises GitError."""
        if self._lines is None:
            self._read_diff("--numstat")
        return self._lines or ()

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The messages of its commits, with their short ids, newest first. Raises GitError."""
        entries = _entries(self._log.checked(["log"]))
        if len(entries) == SHOWN:
            args = [*_LOG, self._head, "--not", *self._bases, "--"]
            entries = _entries(git.check(args, cwd=self._folder))
        return [(entry[4], entry[5]) for entry in entries]

    @property
    def history(self) -> History:
        """Its commits, for display; what git cannot tell is missing. Without bases there is
        nothing to compare with."""
        entries = _entries(self._log) if self._log.code == 0 else []
        total = len(entries)
        if total == SHOWN:
            args = ["rev-list", "--count", self._head, "--not", *self._bases, "--"]
            total = int(git.run(args, cwd=self._folder).text or 0)
        base, files = next(iter(self.forks), ""), tuple[Lines, ...]()
        with suppress(git.GitError):
            files = self.count_lines() if base else ()
        return History(base, tuple(Commit(*entry[:4]) for entry in entries), total, files)

    @property
    def _log(self) -> git.Result:
        if self._newest is None:
            args = [*_LOG, f"--max-count={SHOWN}", self._head, "--not", *self._bases, "--"]
            self._newest = git.run(args, cwd=self._folder)
        return self._newest

    def _read_diff(self, *more: str) -> None:
        forks = self.forks[:1]
        commits = [*forks, self._head] if forks else [f"{self._bases[0]}...{self._head}"]
        done = git.run(["diff", *RAW, *more, *commits, "--"], cwd=self._folder)
        if done.code != 0:
            from ghp_agents.git import merge  # makes files; few branches fail here

            merge.refuse_unrelated(done)
        words = done.checked(["diff"]).names
        self._changes = tuple(read_changes(words))
        if more:
            self._lines = tuple(map(_lines, words[2 * len(self._changes) :]))


def between(folder: Path, base: str | Sequence[str], head: str) -> BranchRange:
    """The commits that `head` adds to a commit, or to several full refs. Whoever asks for the same
    full commit ids gets the same object."""
    bases = [base] if isinstance(base, str) else [_commit(folder, ref) for ref in base]
    unique = tuple(dict.fromkeys(bases))
    find = _known if all(map(is_oid, (*unique, head))) else BranchRange
    return find(folder, unique, head)


@functools.lru_cache(maxsize=50)
def _known(folder: Path, bases: tuple[str, ...], head: str) -> BranchRange:
    return BranchRange(folder, bases, head)


def _commit(folder: Path, ref: str) -> str:
    with suppress(UnreadableRefsError):
        return clone_files.ref(folder, ref) or ref
    return ref


def read_changes(words: Sequence[str]) -> Iterator[ChangedPath]:
    """What `git diff` with the flags in RAW lists, before anything else that it lists."""
    for entry, path in zip(words[::2], words[1::2], strict=False):
        if not entry.startswith(":"):
            return
        before, mode, _, oid, kind = entry[1:].split(" ")
        yield ChangedPath(path, kind, before, mode, oid)


def _entries(shown: git.Result) -> list[list[str]]:
    fields = os.fsdecode(shown.out).split("\0")
    size = len(_FIELDS)
    return [fields[start : start + size] for start in range(0, len(fields) - 1, size)]


def _lines(record: str) -> Lines:
    added, removed, path = record.split("\t", 2)
    return Lines(path, _count(added), _count(removed))


def _count(text: str) -> int | None:
    return None if text == "-" else int(text)
