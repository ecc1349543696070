"""Creates, updates and removes the clone's worktrees and their branches."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ghp_agents.git import clone_files, main_worktree, own_work
from ghp_agents.git import process as git
from ghp_agents.git.clone_files import HALF_MADE
from ghp_agents.git.clone_files import Checkout as Checkout
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.hotpath import locate
from ghp_agents.hotpath.quoting import path_word, phrase

TIMEOUT_S = 600.0  # seconds; checking out a large tree takes time
HEADS = "refs/heads/"
REBASE, BISECT = "a rebase", "a bisect"
_DETACHING = (  # files in a git folder that name the branch
    ("rebase-merge/head-name", REBASE),
    ("rebase-apply/head-name", REBASE),
    ("BISECT_START", BISECT),
)
_OID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_MOVE = re.compile("checkout: moving from (.+) to .+")


def listed(folder: Path) -> list[Checkout]:
    """The worktrees of the clone, the main one first, including those without a folder. One whose
    branch is rebased or bisected counts as on that branch, as for git."""
    return [x if x.branch else _in_operation(folder, x) for x in _listed(folder)]


def _listed(folder: Path) -> list[Checkout]:
    with suppress(UnreadableRefsError):
        return clone_files.worktrees(folder)
    shown = git.check(["worktree", "list", "--porcelain"], cwd=folder).out
    checkouts: list[Checkout] = []
    for number, entry in enumerate(shown.split(b"\n\n")):
        words = dict(line.partition(" ")[::2] for line in os.fsdecode(entry).splitlines())
        if "worktree" in words and "bare" not in words:
            path, branch = Path(words["worktree"]), words.get("branch", "")
            if number == 0:  # git names the git folder, if that is outside of the main worktree
                place = locate.walk_up(str(folder))
                path = (place and main_worktree.find(place)) or path
            branch, is_half = branch.removeprefix("refs/heads/"), words.get("locked") == HALF_MADE
            checkouts.append(
                Checkout(path, branch or None, words.get("HEAD", ""), is_half, number == 0)
            )
    return checkouts


def of_branch(folder: Path, branch: str) -> Checkout | None:
    """The worktree that has a branch checked out, or rebases or bisects it."""
    return next((checkout for checkout in listed(folder) if checkout.branch == branch), None)


def add(
    folder: Path, path: Path, branch: str, start: str | None = None, *,
    keep_open: Sequence[int] = (),
) -> None:  # fmt: skip
    """Create a worktree on a branch; a new branch begins at `start`. Configures nothing, because
    concurrent calls would conflict. Raises GitError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = ["--no-track", "-b", branch, str(path), start] if start else [str(path), branch]
    args = ["worktree", "add", "-q", *new]
    git.check(args, cwd=folder, timeout=TIMEOUT_S, keep_open=keep_open)


def clear(folder: Path, path: Path, *, locked: bool = False) -> None:
    """Remove the rest of an abandoned worktree; a locked one only with `locked`."""
    force = ["--force", "--force"] if locked else ["--force"]
    git.run(["worktree", "remove", *force, str(path)], cwd=folder, timeout=TIMEOUT_S)


def git_dir_of(common_dir: Path, path: Path) -> Path:
    """The git folder of a worktree, which need not exist any more. Raises GitError."""
    for admin in (common_dir / "worktrees").glob("*/gitdir"):
        with suppress(OSError):
            place = admin.parent / os.fsdecode(admin.read_bytes()).rstrip("\n")
            if Path(os.path.normpath(place)).parent == path:
                return admin.parent
    raise git.GitError(f"{path} is no worktree.", hint="`git worktree list` lists them.")


def _in_operation(folder: Path, checkout: Checkout) -> Checkout:
    git_dir = git_dir_in(folder, checkout)
    branch, operation = in_progress(git_dir) if git_dir else ("", "")
    return checkout._replace(branch=branch, operation=operation) if branch else checkout


def git_dir_in(folder: Path, checkout: Checkout) -> Path | None:
    """The git folder of a worktree of this clone; None if that cannot be told."""
    place = locate.walk_up(str(folder))
    if place is None:
        return None
    common_dir = Path(os.path.realpath(place.common_dir))
    with suppress(git.GitError):
        return common_dir if checkout.is_main else git_dir_of(common_dir, checkout.path)
    return None


def in_progress(git_dir: Path) -> tuple[str, str]:
    """The branch that is rebased or bisected in a worktree, which is then on no branch, and the
    operation; empty without one."""
    for sign, operation in _DETACHING:
        with suppress(OSError):
            name = (git_dir / sign).read_text("utf-8", "replace").strip()
            # A bisect notes a commit, and a rebase the words "detached HEAD", if it was on none.
            if operation == BISECT and not _OID.fullmatch(name):
                return name.removeprefix(HEADS), operation
            if name.startswith(HEADS):
                return name.removeprefix(HEADS), operation
    return "", ""


def left_detached(folder: Path, branch: str) -> Checkout | None:
    """A worktree that has left a branch for a detached HEAD, and has commits on no branch. Raises
    GitError."""
    for checkout in listed(folder):
        git_dir = git_dir_in(folder, checkout)
        if checkout.branch or git_dir is None or not checkout.path.is_dir():
            continue
        if left_branch(git_dir) == branch and own_work.on_no_branch(git_dir):
            return checkout
    return None


def left_branch(git_dir: Path) -> str:
    """The last branch of a worktree whose HEAD is detached; empty if it had none."""
    return next(iter(earlier_branches(git_dir)), "")


def earlier_branches(git_dir: Path) -> list[str]:
    """The branches that a worktree has left, the last first; some may not exist any more."""
    steps = [step for _, _, step in own_work.reflog(git_dir / "logs/HEAD")]
    moves = filter(None, map(_MOVE.fullmatch, reversed(steps)))
    return [*dict.fromkeys(move[1] for move in moves if not _OID.fullmatch(move[1]))]


def lock_reason(git_dir: Path) -> str | None:
    """Why a worktree is locked, in brackets; empty without a reason, None if it is not locked."""
    try:
        words = (git_dir / "locked").read_text("utf-8", "replace").strip()
    except OSError:
        return None
    return f" ({phrase(words)})" if words else ""


def branches(folder: Path) -> dict[str, str]:
    """The branches of the clone, with their commits."""
    return _refs(folder, "refs/heads/")


def remote_branches(folder: Path, remote: str) -> dict[str, str]:
    """The branches of a remote, as last fetched."""
    refs = _refs(folder, f"refs/remotes/{remote}/")
    return {name: commit for name, commit in refs.items() if name != "HEAD"}


def _refs(folder: Path, prefix: str) -> dict[str, str]:
    with suppress(UnreadableRefsError):
        refs = clone_files.below(folder, prefix)
        return {name.removeprefix(prefix): oid for name, oid in refs.items()}
    args = ["for-each-ref", "--format=%(refname)%00%(objectname)", prefix]
    lines = git.check(args, cwd=folder).text.splitlines()
    return {name.removeprefix(prefix): oid for name, _, oid in (x.partition("\0") for x in lines)}


def tip(folder: Path, ref: str) -> str:
    """The commit of a full ref; empty if there is none."""
    with suppress(UnreadableRefsError):
        return clone_files.ref(folder, ref)
    shown = git.run(["rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"], cwd=folder)
    return shown.text if shown.code == 0 else ""


def delete_branch(folder: Path, branch: str, expected: str) -> bool:
    """Delete a branch that is still at `expected`; returns whether it did."""
    args = ["update-ref", "-d", f"refs/heads/{branch}", expected]
    return of_branch(folder, branch) is None and git.run(args, cwd=folder).code == 0


def delete_branches(folder: Path, expected: Mapping[str, str]) -> None:
    """Delete branches that are still at these commits and checked out nowhere."""
    used = {checkout.branch for checkout in listed(folder)} if expected else set()
    over = {branch: oid for branch, oid in expected.items() if branch not in used}
    lines = "".join(f"delete refs/heads/{branch} {oid}\n" for branch, oid in over.items())
    done = git.run(["update-ref", "--stdin"], cwd=folder, stdin=lines.encode()) if over else None
    if done and done.code != 0:  # one of them has moved
        for branch, oid in over.items():
            delete_branch(folder, branch, oid)


def set_branch(folder: Path, branch: str, commit: str, expected: str) -> bool:
    """Point a branch that is still at `expected` (zeros: absent) to a commit; whether it did."""
    args = ["update-ref", f"refs/heads/{branch}", commit, expected]
    return git.run(args, cwd=folder).code == 0


def forward(folder: Path, branch: str, expected: str, commit: str) -> str:
    """Fast-forward a branch from `expected` to `commit`, and the worktree that has it checked out,
    like `git merge --ff-only`. Returns why that is impossible, or nothing."""
    if tip(folder, f"refs/heads/{branch}") == commit:
        return ""
    checkout = of_branch(folder, branch)
    if checkout is None or not checkout.path.is_dir():
        args = ["update-ref", "-m", "merge: forward", f"refs/heads/{branch}", commit, expected]
        done = git.run(args, cwd=folder)
        return "" if done.code == 0 else f"{branch} has moved"
    if checkout.operation:
        return f"{checkout.operation} of {branch} is in progress in {checkout.path}"
    if checkout.head != expected:
        return f"{branch} has moved"
    args = ["-c", "merge.autoStash=false", "merge", "--ff-only", "--no-verify", "-q", commit]
    done = git.run(args, cwd=checkout.path, timeout=TIMEOUT_S)
    return "" if done.code == 0 else _why(done.err, checkout.path, branch)


def _why(words: str, path: Path, branch: str) -> str:
    lines = [line.strip() for line in words.splitlines()]
    named = [line for line in words.splitlines() if line.startswith("\t")]
    if named:
        files = ", ".join(line.strip() for line in named[:5])
        return f"{branch} is checked out in {path}, where these differ: {files}"
    reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), "git refused")
    if lock := git.lock_file(words):
        free = f"If no git command runs there: `rm -f {path_word(lock)}`"
        return f"{branch} is checked out in {path}, and locked. {free}"
    return f"{branch} is checked out in {path} and was not updated there ({reason})"
