"""The paths of a change: of staged files, a worktree, or a branch's commits."""

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.fields import is_oid
from ghp_agents.git import process as git

# A rename counts as a deletion and an addition.
_NAMES = ("--name-only", "-z", "--no-renames", "--ignore-submodules=none", "--no-ext-diff")


class CommittedFile(NamedTuple):
    """What a commit has at a path."""

    mode: str
    oid: str
    path: str


class Signed(NamedTuple):
    """A commit, and its author."""

    oid: str
    author: str
    agents: tuple[str, ...]  # from its `Agent:` trailers
    subject: str


def staged(folder: Path, index: str | None = None) -> list[str]:
    """The paths that would be committed, from the worktree's index, or from `index`. Git names that
    file to its hooks for a partial commit.

    For a merge only paths that differ from both sides; the others were committed before.
    """
    env = {"GIT_INDEX_FILE": index} if index else None
    paths = git.check(["diff", "--cached", *_NAMES], cwd=folder, env=env).names
    merged = git.run(["rev-parse", "--verify", "--quiet", "MERGE_HEAD"], cwd=folder).text
    if not merged:
        return paths
    theirs = git.check(["diff", "--cached", *_NAMES, merged], cwd=folder, env=env).names
    return sorted({*paths} & {*theirs})


def in_worktree(folder: Path) -> list[str]:
    """The paths that differ from the last commit, staged or not, and new files."""
    args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"]
    lines = git.check([*args, "--ignore-submodules=none"], cwd=folder).names
    return [line[3:] for line in lines]


def same_in(folder: Path, commit: str, paths: Sequence[str]) -> frozenset[str]:
    """Those of the paths in a worktree that are as a commit has them; of more than 500, or of links
    and odd names, none. Raises GitError."""
    plain = [x for x in paths if "\n" not in x and not (folder / x).is_symlink()]
    if not plain or len(paths) > 500:
        return frozenset()
    env = {"GIT_LITERAL_PATHSPECS": "1"}
    args = ["ls-tree", "-r", "-z", "--full-tree", commit, "--", *plain]
    rows = [line.partition("\t") for line in git.check(args, cwd=folder, env=env).names]
    oids = {path: meta.split(" ") for meta, _, path in rows}
    here = [x for x in plain if x in oids and (folder / x).is_file()]
    stdin = "".join(f"{x}\n" for x in here).encode("utf-8", "surrogateescape")
    hashed = git.check(["hash-object", "--stdin-paths"], cwd=folder, stdin=stdin).text.split()
    gone = {x for x in plain if x not in oids and not os.path.lexists(folder / x)}
    same = {path for path, oid in zip(here, hashed, strict=True) if oids[path][2] == oid}
    return frozenset(gone | same)


def below(folder: Path, path: str) -> list[str]:
    """The tracked and untracked files below a folder, without ignored ones."""
    args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", path]
    env = {"GIT_LITERAL_PATHSPECS": "1"}
    return sorted({*git.check(args, cwd=folder, env=env).names})


def fork_point(folder: Path, ref: str) -> str:
    """The last common commit of HEAD and `ref`. Raises UsageError."""
    spec = f"{ref}^{{commit}}"
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", spec]
    commit = git.run(args, cwd=folder).text if ref and "\0" not in ref else ""
    if not commit:
        raise UsageError(
            f"There is no commit {ref[:80]!r} here.",
            hint="Name a branch, tag or commit that exists here: `--base origin/main`.",
        )
    base = git.run(["merge-base", commit, "HEAD"], cwd=folder)
    if base.code != 0:
        raise UsageError(
            f"The checked-out commit and {ref[:80]!r} have no common commit here.",
            hint="In a shallow clone, first fetch the history: `git fetch --unshallow`, or "
            "`fetch-depth: 0` in a workflow.",
        )
    return base.text


def all_in(folder: Path, commit: str) -> list[CommittedFile]:
    """All files, links and submodules in a commit. Raises GitError."""
    return _all_in(folder, commit) if is_oid(commit) else _all_in.__wrapped__(folder, commit)


@functools.lru_cache(maxsize=2)  # a commit never changes
def _all_in(folder: Path, commit: str) -> list[CommittedFile]:
    args = ["ls-tree", "-r", "-z", "--full-tree", commit]
    entries = (line.split("\t", 1) for line in git.check(args, cwd=folder).names)
    return [CommittedFile(facts[:6], facts.rpartition(" ")[2], path) for facts, path in entries]


def differing(folder: Path, left: str, right: str) -> list[str]:
    """The paths that differ between two commits."""
    return git.check(["diff", *_NAMES, left, right, "--"], cwd=folder).names


def differing_each(folder: Path, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The paths that differ in each pair of commits, by one process."""
    lines = "".join(f"{right} {left}\n" for left, right in pairs).encode()
    args = ["diff-tree", "--stdin", "--always", "-r", "--root", *_NAMES]
    by_pair: list[list[str]] = []
    for name in git.check(args, cwd=folder, stdin=lines).names:
        if len(by_pair) < len(pairs) and name == pairs[len(by_pair)][1]:
            by_pair.append([])
        else:
            by_pair[-1].append(name)
    return by_pair


def commits_since(folder: Path, base: str) -> list[Signed]:
    """The commits of HEAD that `base` lacks, oldest first, without merges."""
    trailers = "%(trailers:key=Agent,valueonly,unfold,separator=%x1f)"
    form = f"--format=%H%x1e%an%x1e{trailers}%x1e%s%x00"
    args = ["log", "--no-merges", "--reverse", "--no-show-signature", "--no-color", form]
    shown = git.check([*args, f"{base}..HEAD", "--"], cwd=folder).out
    return [_signed(entry) for entry in os.fsdecode(shown).split("\0") if entry.strip()]


def _signed(entry: str) -> Signed:
    oid, author, trailers, subject = entry.lstrip("\n").split("\x1e", 3)
    agents = tuple(name.strip() for name in trailers.split("\x1f") if name.strip())
    return Signed(oid, author, agents, subject)


def from_root(toplevel: str, cwd: Path, words: Sequence[str]) -> list[str]:
    """Paths typed in `cwd`, relative to the top of the worktree. Links in folders are followed, but
    not in the last name. Raises UsageError."""
    top = Path(os.path.realpath(toplevel))
    paths: list[str] = []
    for word in words:
        whole = Path(os.path.normpath(cwd / word)) if word and "\0" not in word else None
        real = Path(os.path.realpath(whole.parent), whole.name) if whole else None
        if real is None or not real.is_relative_to(top):
            raise UsageError(
                f"{word[:80]!r} is outside this repository.",
                hint=f"Name files below {toplevel}.",
            )
        paths.append(str(real.relative_to(top)))
    return paths
