"""Uncommitted work on another commit: tried beside everything, staged and unstaged apart.

A worktree holds two trees: that of its index, and that of its files. Each is merged with the new
commit, as a change of the old one. New files count only where the new commit has a file, too.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import RefusedError
from ghp_agents.git import merge, worktree
from ghp_agents.git.index_copy import ScratchIndex
from ghp_agents.git.merge import Stage

NOBODY = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "ghp-agents"), ("EMAIL", "ghp-agents@invalid"))
}
SHOWN = 5


class Trees(NamedTuple):
    """The two trees of a worktree."""

    staged: str
    files: str
    intended: tuple[str, ...] = ()  # by `git add --intent-to-add`: in the index, not in its tree


class CarriedWork(NamedTuple):
    """Work on another commit, or what conflicts."""

    trees: Trees
    stages: tuple[Stage, ...] = ()  # "ours" is the work


class ChangedEntry(NamedTuple):
    """A path that differs between two trees, and what the second one has there."""

    status: str  # A, D, M, T
    mode: str
    oid: str
    path: str


def read_trees(copy: ScratchIndex, new_paths: Sequence[str]) -> Trees:
    """The trees of a worktree; its copied index then has that of the files. `new_paths` are those
    that another commit adds. Raises RefusedError for unresolved conflicts, GitError."""
    unmerged = worktree.unmerged(copy.worktree)
    if unmerged:
        raise RefusedError(
            f"There are unresolved conflicts: {', '.join(unmerged[:SHOWN])}.",
            hint="Resolve them and run `git add` for each file.",
        )
    index = copy.git("write-tree").text
    intended = copy.names("diff-files", "-z", "--name-only", "--diff-filter=A")
    sparse = ["--sparse"] if copy.is_sparse else []
    copy.git("add", *sparse, "-u")
    existing = [path for path in new_paths if os.path.lexists(copy.worktree / path)]
    untracked = existing and copy.names(
        "ls-files", "-z", "--others", "--exclude-standard", *existing
    )
    if untracked:
        listed = b"\0".join(os.fsencode(path) for path in untracked)
        copy.git("add", *sparse, "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listed)
    return Trees(index, copy.git("write-tree").text, tuple(intended))


def carry(copy: ScratchIndex, work: Trees, old: str, new: str) -> CarriedWork:
    """The work on the commit `old`, as it would be on `new`; made in the copy's object folder."""
    before, after = tree_of(copy, old), tree_of(copy, new)
    files = _merged(copy, work.files, before, after)
    if files.stages:
        return CarriedWork(work, files.stages)
    index = files if work.staged == work.files else _merged(copy, work.staged, before, after)
    if index.stages:  # it is nowhere but in the index
        return CarriedWork(work, index.stages)
    return CarriedWork(Trees(index.oid, files.oid, work.intended))


def tree_of(copy: ScratchIndex, commit: str) -> str:
    """The tree of a commit."""
    return copy.git("rev-parse", "--verify", f"{commit}^{{tree}}").text


def _merged(copy: ScratchIndex, tree: str, before: str, after: str) -> merge.MergeResult:
    if tree == before or before == after:
        return merge.MergeResult(after if tree == before else tree)
    base = commit(copy, before)
    mine, theirs = commit(copy, tree, base), commit(copy, after, base)
    return merge.merge_aside(copy.worktree, mine, theirs, copy.env)


def commit(copy: ScratchIndex, tree: str, *parents: str, message: str = "Work") -> str:
    """A commit of a tree in the copy's object folder, by nobody."""
    return merge.commit(copy.worktree, tree, parents, message, {**copy.env, **NOBODY})


def changed(copy: ScratchIndex, old: str, new: str) -> Iterator[ChangedEntry]:
    """The paths that differ between two trees or commits."""
    words = copy.names("diff-tree", "-r", "-z", "--no-renames", "--raw", old, new)
    for head, path in zip(words[::2], words[1::2], strict=True):
        _, mode, _, oid, status = head.split(" ")
        yield ChangedEntry(status, mode, oid, path)


def with_entries(copy: ScratchIndex, tree: str, entries: Sequence[ChangedEntry]) -> str:
    """The tree with these entries instead of its own."""
    index = copy.file.with_name("entries")
    copy.git("read-tree", tree, index=index)
    removed_first = sorted(entries, key=lambda entry: entry.status != "D")
    lines = b"".join(
        f"{entry.mode} {entry.oid}\t".encode() + os.fsencode(entry.path) + b"\0"
        for entry in removed_first
    )
    copy.git("update-index", "-z", "--index-info", stdin=lines, index=index)
    return copy.git("write-tree", index=index).text


def in_the_way(copy: ScratchIndex, old: str, new: str) -> list[str]:
    """Files that neither tree has, where `new` has files: git would overwrite ignored ones."""
    entries = list(changed(copy, old, new))
    removed = {entry.path for entry in entries if entry.status == "D"}
    paths: dict[str, None] = {}
    for entry in entries:
        if entry.status == "A":
            paths.update(dict.fromkeys(_in_the_way(copy.worktree, entry.path, removed)))
    return [*paths]


def _in_the_way(top: Path, path: str, removed: set[str]) -> Iterator[str]:
    folder = ""
    for name in path.split("/")[:-1]:
        folder = f"{folder}/{name}" if folder else name
        place = top / folder
        if not os.path.lexists(place):
            return
        if place.is_symlink() or not place.is_dir():
            if folder not in removed:
                yield folder
            return
    place = top / path
    if place.is_dir() and not place.is_symlink():
        inside = (Path(at, name) for at, _, names in os.walk(place) for name in names)
        yield from (name for file in inside if (name := str(file.relative_to(top))) not in removed)
    elif os.path.lexists(place):
        yield path
