"""Moves a worktree with its uncommitted work to another commit; a kill loses nothing.

First a ref names a commit that has the old state and the new one. Then git changes the files, the
index is replaced, and the branch moves. At the end the ref goes away. If it is still there,
`finish` completes what it names.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.ids import listed
from ghp_agents.git import carried_work, worktree, worktree_admin
from ghp_agents.git import process as git
from ghp_agents.git.carried_work import Trees
from ghp_agents.git.index_copy import ScratchIndex
from ghp_agents.hotpath import own_file
from ghp_agents.hotpath.locate import Location

REF = "refs/worktree/ghp-agents/update"  # each worktree has its own
KEPT = "refs/worktree/ghp-agents/kept"  # an interrupted move that can no longer be finished
MARK = b"ghp agent-update\n"  # the content of git's lock file of the index, if it is ours
AGAIN = "Run `ghp agent-update` again."
LISTED = 5
_REFUSALS = re.compile(r"error: (Entry|Updating|Untracked|Working tree file|Submodule)\b")


class Move(NamedTuple):
    """The states of a worktree before and after."""

    branch: str
    old: str  # the commit that is checked out
    new: str
    before: Trees
    after: Trees


class Interrupted(NamedTuple):
    """A move that was killed. It was finished now, or its old state is kept in a commit."""

    move: Move
    kept: str = ""


class MovedMeanwhileError(GhpError):
    """Somebody else changed the worktree; nothing was changed by us."""


@contextmanager
def scratch(place: Location, lock: int) -> Iterator[ScratchIndex]:
    """A copy of the worktree's index, with a temporary object folder. `lock` is the descriptor of
    the lock that keeps others from moving the worktree: git holds it, too, if we are killed."""
    with tempfile.TemporaryDirectory(prefix="ghp-update-") as folder:
        yield ScratchIndex(place, Path(folder), keep_open=(lock,))


def check(copy: ScratchIndex, move: Move) -> None:
    """Raise RefusedError if git would not change the files; `copy` has the tree of the files."""
    blocking = carried_work.in_the_way(copy, move.before.files, move.after.files)
    if blocking:
        raise RefusedError(
            f"Ignored files are in the way: {listed(blocking, LISTED)}. The new commit has files "
            "there. Nothing was changed.",
            hint=f"Move or delete them. {AGAIN}",
        )
    tried = _read_tree(copy, move, "-n")
    if tried.code != 0:
        raise _refused(tried)


def carry_out(copy: ScratchIndex, move: Move) -> None:
    """Move the worktree; `copy` has the tree of its files. Raises RefusedError and
    MovedMeanwhileError if nothing was changed; GitError if the next run must finish it, e.g.
    because the disk is full."""
    previous = tip(copy.worktree)
    saved = _save(copy, move, previous)
    _add_objects(copy, move, saved)
    with _locked_index(copy):
        _set(copy, REF, saved, previous)
        done = _read_tree(copy, move)
        if done.code != 0:
            if not _REFUSALS.search(done.err):
                raise git.failure(["read-tree"], done)
            _forget(copy.worktree, saved)
            raise _refused(done)
        _build_index(copy, move.after)
        _replace_index(copy)
        message = f"agent-update: from {move.old[:12]}"
        _set(copy, f"refs/heads/{move.branch}", move.new, move.old, "-m", message)
    _forget(copy.worktree, saved)


def tip(folder: Path) -> str:
    """The commit that describes a move in progress; empty if there is none."""
    return worktree_admin.tip(folder, REF)


def finish(place: Location, branch: str, lock: int) -> Interrupted | None:
    """Complete a move that was killed. Raises RefusedError if files were changed since; GitError.

    If the branch has moved since, the old state is kept in the commit that it returns.
    """
    assert place.toplevel is not None
    folder = Path(place.toplevel)
    _unlock(place)
    saved = tip(folder)
    if not saved:
        return None
    move = _read(folder, saved)
    head = worktree_admin.tip(folder, f"refs/heads/{move.branch}")
    if branch != move.branch or head not in (move.old, move.new):
        git.check(["update-ref", KEPT, saved], cwd=folder)
        _forget(folder, saved)
        return Interrupted(move, saved)
    if head == move.new:
        _forget(folder, saved)
    else:
        with scratch(place, lock) as copy:
            _go_on(copy, move)
    return Interrupted(move)


def _go_on(copy: ScratchIndex, move: Move) -> None:
    """Move what is still in the old state; everything else stays as it is now."""
    planned = [*carried_work.changed(copy, move.before.files, move.after.files)]
    now = carried_work.read_trees(copy, [line.path for line in planned if line.status == "A"])
    not_old = {line.path for line in carried_work.changed(copy, now.files, move.before.files)}
    not_new = {line.path for line in carried_work.changed(copy, now.files, move.after.files)}
    other = [line.path for line in planned if line.path in not_old & not_new]
    if other:
        raise RefusedError(
            "An update was interrupted, and these files were changed since: "
            f"{listed(other, LISTED)}.",
            hint=f"`git show {REF}:PATH` prints a file as it was before. Copy your version "
            f"elsewhere and put that one back. {AGAIN}",
        )
    index = [*carried_work.changed(copy, move.before.staged, move.after.staged)]
    after = Trees(
        carried_work.with_entries(copy, now.staged, index),
        carried_work.with_entries(copy, now.files, planned),
        now.intended,
    )
    carry_out(copy, move._replace(before=now, after=after))


def _read_tree(copy: ScratchIndex, move: Move, *options: str) -> git.Result:
    return copy.run("read-tree", *options, "-m", "-u", move.before.files, move.after.files)


def _refused(done: git.Result) -> RefusedError:
    lines = [line.strip() for line in done.err.splitlines() if line.strip()]
    why = "; ".join(line.removeprefix("error: ").rstrip(".") for line in lines[:LISTED])
    return RefusedError(
        f"git cannot update the files here: {why}. Nothing was changed.",
        hint=f"Commit, move or delete what it names. {AGAIN}",
    )


def _save(copy: ScratchIndex, move: Move, previous: str) -> str:
    """The commit that has both states. Its tree is that of the files before."""
    values = {
        "branch": move.branch, "old": move.old, "new": move.new, "old-index": move.before.staged,
        "new-index": move.after.staged, "new-files": move.after.files,
    }  # fmt: skip
    message = "ghp agent-update\n\n" + "".join(f"{key}: {x}\n" for key, x in values.items())
    parents = [
        move.old,
        carried_work.commit(copy, move.before.staged, move.old),
        carried_work.commit(copy, move.after.staged, move.new),
        carried_work.commit(copy, move.after.files, move.new),
        *([previous] if previous else []),
    ]
    return carried_work.commit(copy, move.before.files, *dict.fromkeys(parents), message=message)


def _read(folder: Path, saved: str) -> Move:
    text = git.check(["cat-file", "commit", saved], cwd=folder).text
    values = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return Move(
        values["branch"], values["old"], values["new"],
        Trees(values["old-index"], worktree.tree(folder, saved)),
        Trees(values["new-index"], values["new-files"]),
    )  # fmt: skip


def _add_objects(copy: ScratchIndex, move: Move, saved: str) -> None:
    """Copy the new objects from the temporary folder to the repository's own."""
    old = git.check(["rev-parse", f"{move.old}^{{commit}}"], cwd=copy.worktree).text
    listed = copy.git("rev-list", "--objects", saved, "--not", old, f"{move.new}^@", "--").out
    names = b"".join(line.partition(b" ")[0] + b"\n" for line in listed.splitlines())
    packed = copy.git("pack-objects", "-q", "--local", "--stdout", stdin=names).out
    git.check(["index-pack", "--stdin"], cwd=copy.worktree, stdin=packed)


def _set(copy: ScratchIndex, ref: str, new: str, old: str, *options: str) -> None:
    args = ["update-ref", *options, ref, new, old or "0" * len(new)]
    git.check(args, cwd=copy.worktree, keep_open=copy.keep_open)


def _forget(folder: Path, saved: str) -> None:
    git.check(["update-ref", "-d", REF, saved], cwd=folder)


@contextmanager
def _locked_index(copy: ScratchIndex) -> Iterator[None]:
    """Hold git's own lock of the index, so that nobody stages or commits meanwhile."""
    lock = _lock_file(copy.place)
    marked = own_file.make_beside(lock, MARK)
    try:
        os.link(marked, lock)
    except FileExistsError:
        raise MovedMeanwhileError(
            "Another git command is at work in this worktree. Nothing was changed.",
            hint=f"Wait for it; if there is none, delete {lock}. {AGAIN}",
        ) from None
    finally:
        own_file.discard(marked)
    try:
        if not copy.is_current():
            raise MovedMeanwhileError(
                "Something was staged or committed meanwhile. Nothing was changed.", hint=AGAIN
            )
        yield
    finally:
        own_file.discard(lock)


def _lock_file(place: Location) -> str:
    return f"{place.git_dir}/index.lock"


def _unlock(place: Location) -> None:
    """Remove the lock of a killed move. The caller knows that no other one runs."""
    lock = Path(_lock_file(place))
    with suppress(OSError):
        if lock.read_bytes() == MARK:
            lock.unlink()


def _build_index(copy: ScratchIndex, trees: Trees) -> None:
    copy.git("read-tree", "-m", trees.staged)
    if trees.intended:
        copy.git("add", "--intent-to-add", "--", *trees.intended)
    copy.run("update-index", "-q", "--refresh")  # exits with 1 where files differ from the index


def _replace_index(copy: ScratchIndex) -> None:
    index = Path(copy.place.git_dir, "index")
    new = index.with_name("ghp-index")
    shutil.copyfile(copy.file, new)
    with suppress(FileNotFoundError):
        shutil.copymode(index, new)
    status = copy.file.stat()
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))  # see `index_copy`
    own_file.sync(str(new))
    new.replace(index)
    own_file.sync(copy.place.git_dir)
