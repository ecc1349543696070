"""Computes a merge, squash or rebase of two commits without touching a person's worktree."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.files import random_hex
from ghp_agents.git import process as git
from ghp_agents.git import worktree
from ghp_agents.git.index_copy import borrowed

MERGE_TREE = (2, 38)  # the first git with `merge-tree --write-tree`
HEAD_TRAILER = "Merged-head"  # of a commit that merges a branch into the default branch
LOOKED_AT = 1_000  # commits of the default branch
TIMEOUT_S = 600.0  # seconds; merging large histories takes time

# Disable the person's own settings for rebases and merges.
_PLAIN = (
    *("-c", "rebase.autoStash=false", "-c", "rebase.autoSquash=false"),
    *("-c", "rebase.updateRefs=false", "-c", "merge.autoStash=false", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false", "-c", "advice.mergeConflict=false"),
    *("-c", "rerere.enabled=false"),
)
_NO_EDITOR = {"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true", "GIT_MERGE_AUTOEDIT": "no"}


class Stage(NamedTuple):
    """A version of a conflicting file: number 1 is the base's, 2 ours, 3 theirs."""

    mode: str
    oid: str
    number: int
    path: str


class MergeResult(NamedTuple):
    """The tree or the commit of a merge, and the versions of the files that conflict."""

    oid: str  # of a commit only without conflicts
    stages: tuple[Stage, ...] = ()

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The conflicting paths."""
        return tuple(dict.fromkeys(stage.path for stage in self.stages))


def merge_commits(
    folder: Path, scratch: Path, onto: str, head: str, method: str, message: str,
    env: Mapping[str, str] | None = None,
) -> MergeResult:  # fmt: skip
    """Create the commit that brings `head` onto the commit `onto`.

    `scratch` is a folder for a temporary worktree; `env` names the committer.
    """
    if method == "rebase":
        if worktree.contains(folder, head, onto):
            return MergeResult(head)
        return _replayed(folder, scratch, onto, head, env)
    merged = merge(folder, scratch, onto, head)
    if merged.stages:
        return MergeResult("", merged.stages)
    parents = (onto,) if method == "squash" else (onto, head)
    return MergeResult(commit(folder, merged.oid, parents, message, env))


def merge(
    folder: Path, scratch: Path, ours: str, theirs: str, version: tuple[int, ...] | None = None
) -> MergeResult:
    """The tree of a merge; works with old versions of git, too."""
    if (version or git.version()) < MERGE_TREE:
        return _merged_in_a_worktree(folder, scratch, ours, theirs)
    return merge_aside(folder, ours, theirs)


def merge_aside(
    folder: Path, ours: str, theirs: str, env: Mapping[str, str] | None = None
) -> MergeResult:
    """The tree of a merge, with `env` in a temporary object folder. Raises GitError, also for a git
    older than `MERGE_TREE`."""
    done = _merge_tree(folder, ours, theirs, env)
    if not _is_merged(done):
        refuse_unrelated(done)
        raise git.failure(["merge-tree"], done)
    return _merged_tree(done)


def refuse_unrelated(done: git.Result) -> None:
    """Raise RefusedError if git failed because two commits have no common one."""
    if "unrelated histories" in done.err or "no merge base" in done.err:
        raise RefusedError(
            "The branch has no common commit with the main branch, so git cannot merge it.",
            hint="It is the history of another repository, or was rewritten. Begin a branch from "
            "the main branch, and bring the work there.",
        )


def conflicts(folder: Path, common_dir: Path, ours: str, theirs: str) -> tuple[str, ...] | None:
    """The paths that conflict if two commits are merged; None if this git cannot tell.

    No object is left in the repository.
    """
    if git.version() < MERGE_TREE:
        return None
    with tempfile.TemporaryDirectory(prefix="ghp-merge-") as scratch:
        env = borrowed(f"{common_dir}/objects", scratch)
        done = _merge_tree(folder, ours, theirs, env)
    return _merged_tree(done).conflicts if _is_merged(done) else None


def _merge_tree(
    folder: Path, ours: str, theirs: str, env: Mapping[str, str] | None = None
) -> git.Result:
    args = ["merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs]
    return git.run(args, cwd=folder, timeout=TIMEOUT_S, env=env)


def _is_merged(done: git.Result) -> bool:
    return done.code in (0, 1) and bool(done.out)  # 1 also without a tree: a commit is missing


def _merged_tree(done: git.Result) -> MergeResult:
    tree, *entries = done.names
    if done.code == 0:
        return MergeResult(tree)
    # Git names no file if it cannot tell where a renamed folder went.
    return MergeResult(tree, read_stages(entries) or (Stage("", "", 0, "(a renamed folder)"),))


def read_stages(entries: Iterable[str]) -> tuple[Stage, ...]:
    """The versions that git lists as `<mode> <object> <number><tab><path>`."""
    pairs = (entry.partition("\t") for entry in entries)
    fields = ((head.split(" "), path) for head, _, path in pairs)
    return tuple([Stage(mode, oid, int(number), path) for (mode, oid, number), path in fields])


def commit(
    folder: Path, tree: str, parents: Sequence[str], message: str,
    env: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """Create a commit of a tree, on no branch."""
    words = [word for parent in parents for word in ("-p", parent)]
    args = ["commit-tree", tree, *words, "-F", "-"]
    return git.check(args, cwd=folder, stdin=message.encode("utf-8", "replace"), env=env).text


def landed(folder: Path, trunk: str, head: str) -> str | None:
    """The commit by which `head` was merged into the default branch: a commit with its trailer, or
    itself. None if it was not merged."""
    return merged_heads(folder, trunk).get(head) or landed_unmarked(folder, trunk, head)


def merged_heads(folder: Path, trunk: str) -> dict[str, str]:
    """The heads that trailers of the default branch name, each with the newest commit that does."""
    form = f"--format=%H%x00%(trailers:key={HEAD_TRAILER},valueonly,separator=%x1f)"
    args = ["log", "--no-show-signature", f"--max-count={LOOKED_AT}", form, trunk]
    newest: dict[str, str] = {}
    for line in git.run(args, cwd=folder, timeout=TIMEOUT_S).text.splitlines():
        commit, _, heads = line.partition("\0")
        for head in filter(None, heads.split("\x1f")):
            newest.setdefault(head, commit)
    return newest


def landed_unmarked(folder: Path, trunk: str, head: str) -> str | None:
    """`landed` for a head that no trailer names."""
    shown = git.run(["cherry", trunk, head], cwd=folder, timeout=TIMEOUT_S)
    lines = shown.text.splitlines() if shown.code == 0 else []
    if lines:
        return trunk if all(line.startswith("-") for line in lines) else None
    return head if worktree.contains(folder, trunk, head) else None


def containing(folder: Path, commit: str, refs: Sequence[str]) -> set[str]:
    """The commits of those of some full refs whose history contains a commit."""
    args = ["for-each-ref", f"--contains={commit}", "--format=%(objectname)", *refs]
    return set(git.run(args, cwd=folder, timeout=TIMEOUT_S).text.split()) if refs else set()


def _merged_in_a_worktree(folder: Path, scratch: Path, ours: str, theirs: str) -> MergeResult:
    with detached(folder, scratch, ours) as place:
        args = [*_PLAIN, "merge", "--no-commit", "--no-ff", "--no-verify", "-q", theirs]
        done = git.run(args, cwd=place, env=_NO_EDITOR, timeout=TIMEOUT_S)
        conflicts = stages(place)
        if conflicts:
            return MergeResult("", conflicts)
        done.checked(args)
        return MergeResult(git.check(["write-tree"], cwd=place).text)


def _replayed(
    folder: Path, scratch: Path, onto: str, head: str, env: Mapping[str, str] | None
) -> MergeResult:
    with detached(folder, scratch, head) as place:
        conflicts = rebase(place, onto, env)
        return MergeResult(
            "" if conflicts else git.check(["rev-parse", "HEAD"], cwd=place).text, conflicts
        )


def rebase(folder: Path, onto: str, env: Mapping[str, str] | None = None) -> tuple[Stage, ...]:
    """Rebase what is checked out in `folder`. On conflicts, abort and return them; "ours" is the
    commit that it is rebased onto."""
    args = [*_PLAIN, "rebase", "--no-verify", "-q", onto]
    done = git.run(args, cwd=folder, env={**_NO_EDITOR, **(env or {})}, timeout=TIMEOUT_S)
    if done.code == 0:
        return ()
    conflicts = stages(folder)
    git.run(["rebase", "--abort"], cwd=folder, env=_NO_EDITOR, timeout=TIMEOUT_S)
    if not conflicts:
        raise git.failure(args, done)
    return conflicts


def stages(folder: Path) -> tuple[Stage, ...]:
    """The versions of the conflicting files in a worktree."""
    return read_stages(git.check(["ls-files", "--unmerged", "-z"], cwd=folder).names)


@contextlib.contextmanager
def detached(folder: Path, scratch: Path, commit: str) -> Iterator[Path]:
    """A temporary worktree of a commit, on no branch."""
    place = scratch / f"landing-{random_hex(4)}"
    place.parent.mkdir(parents=True, exist_ok=True)
    add = ["worktree", "add", "-q", "--detach", str(place), commit]
    try:
        git.check(add, cwd=folder, timeout=TIMEOUT_S)
        yield place
    finally:
        discard(folder, place)


def switch(place: Path, commit: str) -> None:
    """Check out another commit in one of our worktrees. Untracked files go, ignored ones stay."""
    for args in (["checkout", "-q", "--force", "--detach", commit], ["clean", "-ffdq"]):
        git.check(args, cwd=place, timeout=TIMEOUT_S)


def discard(folder: Path, place: Path) -> None:
    """Remove one of our worktrees with all its content."""
    # Not `git worktree prune`: it forgets all whose folder is missing, with their submodules.
    args = ["worktree", "remove", "--force", "--force", str(place)]
    if git.run(args, cwd=folder, timeout=TIMEOUT_S).code != 0:
        shutil.rmtree(place, ignore_errors=True)
        git.run(args, cwd=folder, timeout=TIMEOUT_S)
