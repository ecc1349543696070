"""The content of a worktree as a tree, uncommitted changes and new files included.

The user's index, objects and files stay as they are, and no filter of the configuration runs.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.git import process as git
from ghp_agents.git import worktree
from ghp_agents.git.index_copy import LeftOut, ScratchIndex, fitting, size_of, stage
from ghp_agents.git.trial_merge import Programs
from ghp_agents.hotpath.locate import Location

NEW_BYTES = 20_000_000  # of new files together; the largest are left out
LARGEST = 50_000_000  # bytes of a changed file
TIMEOUT_S = 60.0  # seconds for the status of a large worktree
_STATUS = (
    *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"),
    *("--ignore-submodules=dirty", "--no-ahead-behind"),
)
_HEAD = re.compile(rb"# branch\.oid ([0-9a-f]+)\0")  # before the first commit: `(initial)`


class WorktreeTree(NamedTuple):
    """A worktree now. Without uncommitted changes `tree` is empty: it is that of `head`."""

    head: str  # empty before the first commit
    tree: str = ""
    unmerged: tuple[str, ...] = ()  # then the uncommitted changes are not in a tree
    left_out: tuple[LeftOut, ...] = ()


def read(place: Location, scratch: Path, objects: Path, programs: Programs) -> WorktreeTree:
    """Read a worktree. `scratch` is an empty folder; new objects go to `objects`. Raises GitError,
    NotSetUpError (the worktree vanished), OSError."""
    assert place.toplevel is not None
    folder = Path(place.toplevel)
    args = [*programs.flags, *_STATUS]
    shown = git.check(args, cwd=folder, env=programs.env, timeout=TIMEOUT_S)
    named = _HEAD.match(shown.out)
    head, entries = named[1].decode() if named else "", worktree.read_status(shown)
    unmerged = tuple(entry.path for entry in entries if entry.is_unmerged)
    if unmerged or not head or not entries:
        return WorktreeTree(head, unmerged=unmerged)
    new = [entry.path for entry in entries if entry.code == "??"]
    changed = [entry.path for entry in entries if entry.code != "??"]
    sizes = {name: size_of(folder / name) or 0 for name in changed}
    huge = [LeftOut(name, size, "too large") for name, size in sizes.items() if size > LARGEST]
    chosen, left_out = fitting(folder, new, NEW_BYTES)
    left_out = huge + left_out
    names = [*(name for name, size in sizes.items() if size <= LARGEST), *chosen]
    names = _without_filters(folder, names, programs, left_out)
    copy = ScratchIndex(place, scratch, objects, programs.flags, programs.env)
    if names and not _update(copy, names):
        left_out += stage(copy, NEW_BYTES)
    return WorktreeTree(head, copy.git("write-tree").text, (), tuple(left_out))


def _without_filters(
    folder: Path, names: Sequence[str], programs: Programs, left_out: list[LeftOut]
) -> list[str]:
    """The files that no filter of the configuration converts; of the others, the last commit or
    what is staged counts."""
    if not programs.filters or not names:
        return [*names]
    listed = b"".join(os.fsencode(name) + b"\0" for name in names)
    args = ["check-attr", "-z", "--stdin", "filter"]
    fields = os.fsdecode(git.check(args, cwd=folder, stdin=listed).out).split("\0")
    filters = dict(zip(fields[::3], fields[2::3], strict=False))
    kept = [name for name in names if filters.get(name) not in programs.filters]
    passed = sorted({*names} - {*kept})
    left_out += [LeftOut(name, None, f"the filter {filters[name]} does not run") for name in passed]
    return kept


def _update(copy: ScratchIndex, names: Sequence[str]) -> bool:
    """Put these files into the copied index; False if git cannot read one of them."""
    listed = b"".join(os.fsencode(name) + b"\0" for name in names)
    args = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
    return copy.run(*args, stdin=listed).code == 0
