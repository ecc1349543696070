"""What may go from a worktree, and its removal: one rule for merge, sweep and uninstall.

What git has, what `agent-start` put there, and what programs make again may go. Other files are
moved to a folder beside the worktrees. What cannot be moved keeps the worktree.

A removal first renames the worktree, so nothing written by path is lost in between. It then moves
what is left over, deletes the rest, and last of all git's record. A killed one is finished later.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files, running
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.file_names import plain
from ghp_agents.core.ids import listed
from ghp_agents.git import changed_paths, own_work, worktree, worktree_admin
from ghp_agents.git.own_work import MODULES, InnerRepository
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.hotpath.quoting import file, path_word
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import kept, leftovers, provisioned_files
from ghp_agents.worktrees.checkout import missing
from ghp_agents.worktrees.leftovers import Tree

LOCK = "start.lock"  # `agent-start` holds it, too
TIMEOUT_S = 600.0  # seconds; another removal or start may take long
BACKGROUND = ("agent-sync", "--background")
SHOWN = 5
_ASIDE = ".{}.removing"


class OwnWork(NamedTuple):
    """What only a worktree has and no removal can move: it keeps the worktree."""

    files: tuple[str, ...] = ()  # that are not committed, all of them
    commit: str = ""  # the newest that no branch has
    other: str = ""  # what a submodule has, and how to keep that

    @property
    def words(self) -> str:
        """What keeps the worktree, and how to keep that; empty if nothing does."""
        if self.files:
            return uncommitted_words(self.files)
        if self.commit:
            short = self.commit[:12]
            return f"no branch has its commit {short}: `git branch NAME {short}` keeps that"
        return self.other


class Removed(NamedTuple):
    """What became of a worktree."""

    why_kept: str = ""  # it stays
    notes: tuple[str, ...] = ()

    @property
    def is_gone(self) -> bool:
        """Whether it was removed."""
        return not self.why_kept


def why_kept(ws: Workspace, checkout: Checkout, cwd: Path, *, is_saved: bool = False) -> str:
    """Why a worktree must stay; empty if it may be removed. `cwd` is where the command runs; with
    `is_saved`, what is not committed was saved."""
    path = checkout.path
    place = walk_up(str(path))
    if checkout.is_main:
        return "it is the main worktree"
    if checkout.half_made or place is None or path.is_symlink():
        return "a git operation is in progress there"
    git_dir = Path(place.git_dir)
    if (lock := worktree_admin.lock_reason(git_dir)) is not None:
        return f"it is locked{lock}: `git worktree unlock {path_word(str(path))}`"
    if operation := worktree.operation(git_dir):
        return f"{operation} is in progress there"
    if cwd.resolve().is_relative_to(path.resolve()):
        return "this command runs in it"
    inner = [x.path for x in worktree_admin.listed(ws.folder)
             if x.path != path and x.path.is_relative_to(path) and x.path.is_dir()]  # fmt: skip
    if inner:
        command = f"`git worktree remove {path_word(str(inner[0]))}`"
        return f"another worktree is inside of it: {command}"
    if running.is_used(path, BACKGROUND):
        return "a program runs in it"
    try:
        work = work_in(ws, path, git_dir)
        return (work._replace(files=()) if is_saved else work).words
    except GhpError as error:
        return f"git cannot read it ({error})"


def forget_missing(ws: Workspace, checkout: Checkout) -> tuple[str, ...]:
    """Forget a worktree whose folder was deleted, so that its branch can be checked out again;
    returns notes. The caller holds LOCK. Raises RefusedError if it is locked, or if git still has
    something that nothing else has."""
    if _aside(checkout.path).is_dir():  # its removal was killed
        return _take_apart(ws, checkout, changes=True).notes
    what, hint = missing(ws.common_dir, checkout)
    if hint:
        raise RefusedError(what, hint=hint)
    git_dir = worktree_admin.git_dir_of(ws.common_dir, checkout.path)
    lost = OwnWork(
        commit=own_work.on_no_branch(git_dir),
        other=_of_submodules(ws, git_dir, own_work.in_git_folder(git_dir)),
    ).words
    if lost:
        raise RefusedError(
            f"{what[:-1]}, but its git folder {git_dir} still has this: {lost}.",
            hint="Bring the folder back, or do what is said; then try again.",
        )
    worktree_admin.clear(ws.folder, checkout.path)
    return ()


def work_in(ws: Workspace, path: Path, git_dir: Path) -> OwnWork:
    """What only the worktree at `path` has: the one list of what must be saved before it goes.
    Raises GitError."""
    rules = provisioned_files.rules(ws, git_dir)
    names: list[str] = []
    for difference in worktree.differences(path):
        name = difference.path
        if difference.code != "??" or not rules.knows(name.rstrip("/")):
            names += (name.endswith("/") and changed_paths.below(path, name)) or [name]
    return OwnWork(
        tuple(names),
        own_work.on_no_branch(git_dir),
        _of_submodules(ws, git_dir, own_work.submodules(path, git_dir)),
    )


def moved(ws: Workspace, path: Path) -> tuple[str, ...]:
    """The files and folders that a removal of the worktree at `path` would move, and nothing else
    has; empty if nobody can tell."""
    place = walk_up(str(path))
    with suppress(GhpError, OSError):
        if place and place.git_dir != place.common_dir:
            git_dir = Path(place.git_dir)
            rules = provisioned_files.rules(ws, git_dir)
            return tuple(leftovers.find(Tree(path, git_dir), rules))
    return ()


def uncommitted_words(names: Sequence[str]) -> str:
    """That files are not committed in a worktree."""
    if len(names) == 1:
        return f"{plain(names[0])} is not committed there"
    shown = listed([*map(plain, names)], SHOWN)
    return f"{len(names)} files are not committed there: {shown}"


def _of_submodules(ws: Workspace, git_dir: Path, submodules: Sequence[InnerRepository]) -> str:
    for submodule in submodules:
        inside = git_dir / MODULES
        twin = None
        if submodule.git_dir.is_relative_to(inside):
            twin = ws.common_dir / MODULES / submodule.git_dir.relative_to(inside)
        if why := own_work.only_here(submodule, twin):
            return f"{why}; push it there"
    return ""


def remove(ws: Workspace, checkout: Checkout, cwd: Path, *, is_saved: bool = False) -> Removed:
    """Remove a worktree unless something keeps it, see `why_kept`. Its branch stays. Raises
    GhpError."""
    with files.locked_if_possible(ws.ghp_dir / LOCK, patience=TIMEOUT_S):
        why = why_kept(ws, checkout, cwd, is_saved=is_saved)
        if why:
            return Removed(why)
        try:
            checkout.path.rename(_aside(checkout.path))
        except OSError as error:
            return Removed(f"it cannot be moved: {error.strerror}")
        return _take_apart(ws, checkout, changes=False)


def tidy(ws: Workspace) -> list[str]:
    """Finish the removals that were killed, and delete what was kept for 30 days; returns notes.
    What fails, or is at work in another process, is left for the next time."""
    notes: list[str] = []
    with (
        suppress(GhpError, OSError),
        files.locked_if_possible(ws.ghp_dir / LOCK, patience=0),
    ):
        for checkout in worktree_admin.listed(ws.folder):
            if not checkout.path.exists() and _aside(checkout.path).is_dir():
                notes += _take_apart(ws, checkout, changes=True).notes
        kept.sweep(ws)
    return notes


def _aside(path: Path) -> Path:
    return path.with_name(_ASIDE.format(path.name))


def _take_apart(ws: Workspace, checkout: Checkout, *, changes: bool) -> Removed:
    """Keep what is left over in a worktree that was renamed, and delete the rest."""
    aside = _aside(checkout.path)
    git_dir = worktree_admin.git_dir_of(ws.common_dir, checkout.path)
    with _back_if_failed(aside, checkout.path):
        rules = provisioned_files.rules(ws, git_dir)
        names = leftovers.find(Tree(aside, git_dir), rules, changes=changes)
        folder = kept.new_folder(ws, checkout.path.name)
        if names:
            kept.move(aside, names, folder)
    notes: list[str] = []
    if names:
        shown = listed([file(name) for name in names], SHOWN)
        notes.append(
            f"Only the worktree {checkout.path} had {shown}: kept for {kept.DAYS} days in {folder}."
        )
    if checkout.branch and own_work.stashes(ws.common_dir, checkout.branch):
        notes.append(f"A stash of {file(checkout.branch)} stays in this clone: `git stash list`.")
    try:
        kept.delete(aside)
    except OSError as error:
        notes.append(f"{aside} cannot be deleted: {error.strerror}. Delete it by hand.")
    worktree_admin.clear(ws.folder, checkout.path)
    return Removed(notes=tuple(notes))


@contextmanager
def _back_if_failed(aside: Path, path: Path) -> Iterator[None]:
    """Rename a worktree back if what it has cannot be kept. Raises GhpError."""
    try:
        yield
    except (OSError, GhpError) as error:
        aside.rename(path)
        why = f"{error.strerror}." if isinstance(error, OSError) else str(error)
        raise GhpError(
            f"The worktree {path} stays, because its files cannot be kept: {why}",
            hint="Free some space, or move what you need, then try again.",
        ) from None
