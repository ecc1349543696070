"""Where an agent works on an issue: a branch and a worktree, those of before if there are any."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.git import merge as landing
from ghp_agents.git import worktree
from ghp_agents.git import worktree_admin as checkouts
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.hotpath.locate import locate
from ghp_agents.issues.issue import Issue
from ghp_agents.ports import StateStore
from ghp_agents.pulls import branch_names as names
from ghp_agents.settings.settings import Settings
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.default_branch import trunk
from ghp_agents.state.presence import issue_of
from ghp_agents.workspace import Workspace

LOCK = "start.lock"
PATIENCE = 600.0  # seconds; checking out a large tree takes its time
PENDING = "starting"  # a folder with a file for each worktree that is not furnished yet
FREE_NAMES = 20


class StartedWorktree(NamedTuple):
    """A branch, and the worktree that has it checked out."""

    path: Path
    branch: str
    how: str  # new; continued: the branch was there; there: the worktree, too
    notes: tuple[str, ...] = ()  # what a person should know


class _Known(NamedTuple):
    """The branches that there are."""

    here: dict[str, str]
    there: dict[str, str]  # on the remote
    base: str  # the commit that a new branch begins at
    notes: tuple[str, ...]


def place_worktree(ws: Workspace, store: StateStore, agent: str, issue: Issue) -> StartedWorktree:
    """The place for `agent` and an issue, made if it is not there. Raises RefusedError, GitError.

    Two that do this at once for one branch come to the same place.
    """
    files.usable(ws.ghp_dir)
    with files.locked_if_possible(ws.ghp_dir / LOCK, patience=PATIENCE) as held:
        _clear_half_made(ws)
        said = _said_branches(store, issue)
        known = _known(ws, issue, said)
        found = names.of_issue({**known.there, **known.here}, issue.number, agent, said)
        pattern, repo = ws.settings.branch_pattern, _repository_name(ws)
        branch = found or names.branch_name(agent, issue.number, issue.title, pattern, repo)
        here = checkouts.of_branch(ws.folder, branch)
        if here and here.path.is_dir():
            return StartedWorktree(here.path, branch, "there", known.notes)
        if here:  # somebody removed the folder; git would not give the branch to another
            checkouts.clear(ws.folder, here.path)
        return _made(ws, issue, branch, known, held)


def pending(ws: Workspace, path: Path) -> Path:
    """The file that says that a worktree was made and is not furnished yet."""
    return ws.ghp_dir / PENDING / path.name


def _made(
    ws: Workspace, issue: Issue, branch: str, known: _Known, held: Sequence[int]
) -> StartedWorktree:
    path, notes = _free_path(ws, issue), known.notes
    mark = pending(ws, path)
    files.write_atomically(mark, f"{path}\n".encode())
    here, there = known.here.get(branch), known.there.get(branch)
    if here is None:
        there = there and branches.tips(ws, branch).get(branch, there)
        checkouts.add(ws.folder, path, branch, there or known.base, keep_open=held)
        return StartedWorktree(path, branch, "continued" if there else "new", notes)
    if there and there != here:
        there = branches.tips(ws, branch).get(branch, there)
        if landing.is_ancestor(ws.folder, here, there):
            checkouts.forward(ws.folder, branch, here, there)
        elif not landing.is_ancestor(ws.folder, there, here):
            notes += (f"{branch} is not the same here and on the remote: both have commits.",)
    checkouts.add(ws.folder, path, branch, keep_open=held)
    return StartedWorktree(path, branch, "continued", notes)


def _clear_half_made(ws: Workspace) -> None:
    """What a killed git left of our worktrees; its child would still hold the lock."""
    for one in checkouts.listed(ws.folder):
        if one.half_made and pending(ws, one.path).exists():
            checkouts.clear(ws.folder, one.path, locked=True)


def _said_branches(store: StateStore, issue: Issue) -> set[str]:
    """The branches that agents said to have worked on the issue on."""
    snapshot = store.snapshot()
    found = {
        str(said.get("branch"))
        for said in snapshot.agents().values()
        if issue_of(said) in issue.numbers
    }
    for number in issue.numbers:
        folder = handoff_record.folder_of(number)
        found |= {
            each.branch or "" for each in handoff_record.read_handoffs(snapshot.files(folder))[0]
        }
    return {name for name in found if str(issue.number) in name}


def refuse_without_a_beginning(ws: Workspace) -> None:
    """Before anything is claimed: no branch can begin where there is no trunk, or no commit on it.
    Raises RefusedError."""
    base = _base(ws)
    if checkouts.tip(ws.folder, f"{branches.HEADS}{base}") or branches.known_tip(ws, base):
        return
    with suppress(UnknownError):
        if branches.tips(ws, base):
            return
    raise _no_commit(base)


def _base(ws: Workspace) -> str:
    base = trunk(ws)
    if base is not None:
        return base
    if not worktree.head(ws.folder) and not checkouts.branches(ws.folder):
        raise RefusedError(
            "This repository has no commit yet that work could begin at.",
            hint="Make the first commit on its trunk, or fetch it; then start again.",
        )
    raise RefusedError(
        "It cannot be told which branch is the trunk.",
        hint="Name it in .ghp/config.json: `agents.trunk`.",
    )


def _no_commit(base: str) -> RefusedError:
    return RefusedError(
        f"There is no commit on {base} to begin at.", hint="Make the first commit there."
    )


def _known(ws: Workspace, issue: Issue, said: set[str]) -> _Known:
    base = _base(ws)
    here = checkouts.branches(ws.folder)
    notes: tuple[str, ...] = ()
    try:
        tip = branches.tips(ws, base).get(base)
        there = branches.matching(ws, [f"agent/*/{issue.number}-*", *sorted(said)])
    except UnknownError as error:
        remote = branches.where(ws)
        there = checkouts.remote_branches(ws.folder, remote.name) if remote else {}
        tip = there.get(base)
        notes = (f"The trunk is as it was last seen, and may have moved: {error}",)
    tip = tip or here.get(base)
    if tip is None:
        raise _no_commit(base)
    there = {name: oid for name, oid in there.items() if name != base}
    return _Known({name: oid for name, oid in here.items() if name != base}, there, tip, notes)


# ------------------------------------------------------------------------------ the path


def _free_path(ws: Workspace, issue: Issue) -> Path:
    folder = worktrees_folder(ws) / names.folder_name(issue.number, issue.title)
    taken = {each.path for each in checkouts.listed(ws.folder)}
    for number in range(1, FREE_NAMES):
        path = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        if path not in taken and not (path.exists() and (not path.is_dir() or any(path.iterdir()))):
            return path
    raise RefusedError(
        f"{folder} and {FREE_NAMES - 2} names after it are taken.",
        hint="Remove what is not needed: `git worktree list` shows this clone's.",
    )


def worktrees_folder(ws: Workspace) -> Path:
    """Where the worktrees of this repository go, by upstream's rule; relative paths count from the
    main worktree. Raises RefusedError for a place that the repository's file may not name."""
    said, home = ws.settings.worktree_path, ws.environ.get("HOME") or "/"
    path = home + said[1:] if said == "~" or said.startswith("~/") else said
    main = ws.main_worktree or ws.common_dir
    folder = Path(os.path.normpath(main / path)) / _repository_name(ws)
    if said != Settings().worktree_path:
        _check_place(ws, folder, Path(home))
    return folder


def _check_place(ws: Workspace, folder: Path, home: Path) -> None:
    """Files that are checked out must not become settings, or a part of another repository."""
    real = folder.resolve()
    why = ""
    if ".git" in {part.lower() for part in real.parts}:
        why = "is inside a git folder"
    elif _is_in_dotfolder(real, home.resolve()):
        why = "is inside a folder of settings in your home"
    elif _other_repository(ws, real):
        why = "is inside another repository"
    if why:
        raise RefusedError(
            f"`worktreePath` puts worktrees into {folder}, which {why}.",
            hint="Name another place in ~/.config/ghp-cli/config.json: `worktreePath`.",
        )


def _is_in_dotfolder(real: Path, home: Path) -> bool:
    if not real.is_relative_to(home):
        return False
    first = next(iter(real.relative_to(home).parts), "")
    return first.startswith(".") and first != ".ghp"


def _other_repository(ws: Workspace, real: Path) -> bool:
    there = next(place for place in (real, *real.parents) if place.is_dir())
    found = locate(str(there), {})
    return found is not None and Path(found.common_dir).resolve() != ws.common_dir.resolve()


def _repository_name(ws: Workspace) -> str:
    main = ws.main_worktree or ws.common_dir
    return names.repository_name(branches.address(ws), main.name.removesuffix(".git"))
