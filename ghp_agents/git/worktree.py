"""Reads a person's worktree: what is checked out, what differs, what was committed.

Nothing is changed, not even the timestamps in git's index.
"""

import os
from collections.abc import Collection, Container, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.fields import is_oid
from ghp_agents.git import clone_files
from ghp_agents.git import process as git
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.hotpath.locate import is_git_dir

_FORM = "--format=%H%x1f%an%x1f%aI%x1f%s"
TIMEOUT_S = 600.0  # seconds; reading long histories takes time
REFLOG = 1_000  # earlier states of a branch that are read

_OPERATIONS = (
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply/applying", "applying mail"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisect"),
)


class Difference(NamedTuple):
    """A path that differs from the last commit, as in `git status`."""

    code: str  # two letters, staged and not: "M.", ".D", "UU", "??"
    path: str
    inside: bool = False  # a submodule with changes inside

    @property
    def is_unmerged(self) -> bool:
        """Whether it conflicts."""
        return "U" in self.code or self.code in ("AA", "DD")


class Commit(NamedTuple):
    """A commit, for display."""

    oid: str
    author: str
    at: str
    subject: str


def folders(folder: Path) -> list[Path]:
    """The existing worktrees of the clone, the main one first. It is missing if nothing tells where
    it is; then its git folder stands in the list of checkouts."""
    from ghp_agents.git.worktree_admin import listed

    places = [checkout.path for checkout in listed(folder)]
    return [path for path in places if path.is_dir() and not is_git_dir(str(path))]


def head(folder: Path) -> str:
    """The commit that is checked out; empty before the first commit."""
    with suppress(UnreadableRefsError):
        return clone_files.head(folder)
    shown = git.run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], cwd=folder)
    return shown.text if shown.code == 0 else ""


def tree(folder: Path, commit: str) -> str:
    """The tree of a commit. Raises GitError."""
    return git.check(["rev-parse", "--verify", f"{commit}^{{tree}}"], cwd=folder).text


def has_commit(folder: Path, commit: str) -> bool:
    """Whether a commit is in this clone."""
    return git.run(["cat-file", "-e", f"{commit}^{{commit}}"], cwd=folder).code == 0


def operation(git_dir: Path) -> str | None:
    """The operation in progress in a worktree: a merge, a rebase, … or None."""
    return next((name for sign, name in _OPERATIONS if (git_dir / sign).exists()), None)


def unmerged(folder: Path) -> tuple[str, ...]:
    """The conflicting paths in a worktree."""
    return tuple(git.check(["diff", "--name-only", "--diff-filter=U", "-z"], cwd=folder).names)


def differences(folder: Path) -> list[Difference]:
    """All differences from the last commit, and new files; a new folder is one entry."""
    args = ["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--no-renames"]
    return read_status(git.check([*args, "--ignore-submodules=none"], cwd=folder))


def read_status(shown: git.Result) -> list[Difference]:
    """What `git status --porcelain=v2 -z --no-renames` lists, by path."""
    entries: list[Difference] = []
    for word in shown.names:
        kind, _, rest = word.partition(" ")
        if kind == "1":  # XY sub mH mI mW hH hI path
            code, inner, *_, path = rest.split(" ", 7)
            entries.append(Difference(code, path, inner[0] == "S" and set(inner[2:]) != {"."}))
        elif kind == "u":  # XY sub m1 m2 m3 mW h1 h2 h3 path
            code, *_, path = rest.split(" ", 9)
            entries.append(Difference(code, path))
        elif kind == "?":
            entries.append(Difference("??", rest))
    return sorted(entries, key=lambda difference: difference.path)


def branches(folder: Path, *names: str) -> dict[str, str]:
    """The local and remote branches called one of `names`, and each remote's default branch: full
    ref name → the ref that it stands for, or empty."""
    with suppress(UnreadableRefsError):
        return clone_files.branches(folder, *names)
    patterns = [f"{place}/{name}" for place in ("refs/heads", "refs/remotes/*") for name in names]
    shown = git.check(
        ["for-each-ref", "--format=%(refname)%00%(symref)", "refs/remotes/*/HEAD", *patterns],
        cwd=folder,
    )
    pairs = [line.split("\0") for line in shown.text.splitlines()]
    return {pair[0]: pair[1] for pair in pairs}


def unsent(folder: Path, commit: str) -> int | None:
    """How many commits up to this one are on no remote branch; None without remotes."""
    with suppress(UnreadableRefsError):
        sent = clone_files.below(folder, "refs/remotes/").values()
        if commit in sent or not sent:
            return 0 if sent else None
    if not git.check(["for-each-ref", "--count=1", "refs/remotes"], cwd=folder).text:
        return None
    counted = git.check(["rev-list", "--count", commit, "--not", "--remotes", "--"], cwd=folder)
    return int(counted.text)


def contains(folder: Path, commit: str, other: str) -> bool:
    """Whether `other` is `commit` or an ancestor of it."""
    return git.run(["merge-base", "--is-ancestor", other, commit], cwd=folder).code == 0


def lacking(folder: Path, head: str, commit: str, trunk: str, branch: str | None) -> int:
    """How many commits up to `commit` are neither in `head` nor in `trunk` (may be empty). Equal
    changes count as there, and so does what `branch` had once: it was rewritten."""
    earlier = ["rev-list", "--walk-reflogs", f"--max-count={REFLOG}", f"refs/heads/{branch}", "--"]
    once = git.run(earlier, cwd=folder).text.split() if branch else []
    places = [name for name in (head, trunk) if name]
    missing = _commits(folder, commit, *(f"^{name}" for name in dict.fromkeys([*places, *once])))
    for place in places:
        if missing:
            missing &= _commits(folder, "--cherry-pick", "--right-only", f"{place}...{commit}")
    return len(missing)


def _commits(folder: Path, *args: str) -> set[str]:
    return set(git.check(["rev-list", *args, "--"], cwd=folder).text.split())


def beside(folder: Path, tips: Sequence[str], trunk: str) -> frozenset[str]:
    """The commits of `tips` that `trunk` has not. Tips that are missing here do not count. Raises
    GitError."""
    args = ["rev-list", "--ignore-missing", "--stdin"]
    lines = "\n".join([*tips, f"^{trunk}", ""]).encode()
    return frozenset(git.check(args, cwd=folder, stdin=lines, timeout=TIMEOUT_S).text.split())


def among(folder: Path, head: str, trunk: str, some: Container[str]) -> list[Commit]:
    """Those of some commits that `head` has and `trunk` has not, the newest first. Raises
    GitError."""
    args = ["log", "--topo-order", "--no-show-signature", "--no-color", _FORM, head, f"^{trunk}"]
    shown = os.fsdecode(git.check([*args, "--"], cwd=folder, timeout=TIMEOUT_S).out).splitlines()
    commits = [Commit(*line.split("\x1f", 3)) for line in shown if "\x1f" in line]
    return [commit for commit in commits if commit.oid in some]


def has_any(folder: Path, head: str, commits: Collection[str]) -> bool:
    """Whether `head` has one of some commits; of texts that are no commit ids, none."""
    wanted = {commit for commit in commits if is_oid(commit)}
    args = ["rev-list", "--ignore-missing", "--no-walk=unsorted", "--stdin"]
    lines = "\n".join([*wanted, ""]).encode()
    here = {*git.check(args, cwd=folder, stdin=lines).text.split()} if wanted else set[str]()
    return bool(here - beside(folder, [*here], head)) if here else False


def added(folder: Path, base: str, commit: str, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that are added by a commit in `commit` and not in `base`."""
    args = ["log", "--no-show-signature", "--format=", "--name-only", "-z", "--diff-filter=A"]
    args += ["--no-renames", f"{base}..{commit}", "--", *paths]
    shown = git.check(["--literal-pathspecs", *args], cwd=folder)
    return sorted(set(shown.names))


def present(folder: Path, commit: str, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that are files or links in `commit`."""
    return git.check(["ls-tree", "-z", "--name-only", commit, *paths], cwd=folder).names
