"""Update: bring the branch that is checked out here up to the main branch, with uncommitted work.

Everything is merged beside the worktree first. A conflict changes nothing and shows both sides.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor, listed
from ghp_agents.git import both_sides, carried_work, changed_paths, merge, move_worktree, worktree
from ghp_agents.git import process as git
from ghp_agents.git.both_sides import ConflictedFile
from ghp_agents.git.carried_work import Trees
from ghp_agents.git.index_copy import ScratchIndex
from ghp_agents.git.move_worktree import AGAIN, Interrupted, Move, MovedMeanwhileError
from ghp_agents.pulls import update_branch
from ghp_agents.pulls.update_branch import Tips
from ghp_agents.workspace import Workspace, agent_named_in
from ghp_agents.worktrees import provisioned_files

ATTEMPTS = 3  # retries happen when somebody stages or commits meanwhile
LISTED = 10


class Updated(NamedTuple):
    """What an update did; `old` is `new` if the branch was up to date."""

    base: str
    branch: str
    old: str
    new: str
    method: str  # merge, rebase, or fast-forward
    carried: int = 0  # uncommitted paths
    replaces: bool = False  # the branch was pushed before, and is rewritten now
    submodules: tuple[str, ...] = ()  # their recorded commits changed
    interrupted: Interrupted | None = None  # an earlier update, which was completed first


class UpdateConflictError(RefusedError):
    """The branch or the uncommitted work conflicts with the main branch; nothing was changed."""

    def __init__(
        self, tips: Tips, what: str, *, hint: str, files: Sequence[ConflictedFile]
    ) -> None:
        paths = listed([file.path for file in files], LISTED)
        message = f"{what} with {tips.base} in {paths}. Nothing was changed."
        super().__init__(message, hint=hint)
        self.tips = tips
        self.files = tuple(files)


def update(ws: Workspace, approve: Callable[[Tips], None] = lambda _: None) -> Updated:
    """Bring this worktree's branch up to the main branch, if `approve` does not refuse these tips.
    Raises UpdateConflictError, RefusedError, UnknownError, NotSetUpError; then nothing was changed.
    """
    actor = ws.actor()
    _refuse_others(ws, actor)
    update_branch.refuse_operation(ws)
    base, branch = update_branch.branch_of_work(
        ws, on_main="Update it with `git pull`. `ghp agent-update` is for the branches of work."
    )
    lock = ws.ghp_dir / f"update-{ws.git_dir.name}.lock"
    try:
        with files.locked(lock) as held:
            interrupted = move_worktree.finish(ws.place, branch, held)
            done = _tried_again(ws, base, branch, actor.name, held, approve)
    except files.LockTimeoutError:
        raise RefusedError(
            "Another `ghp agent-update` runs in this worktree.", hint="Wait until it ends."
        ) from None
    return done._replace(interrupted=interrupted)


def _refuse_others(ws: Workspace, actor: Actor) -> None:
    owner = agent_named_in(ws.git_dir)
    if owner and not actor.is_person and actor.name != owner:
        raise RefusedError(
            f"This worktree is {owner}'s, and you are {actor.name}.",
            hint="Update your own: `ghp agent-start` prints where it is.",
        )


def _tried_again(
    ws: Workspace, base: str, branch: str, by: str, lock: int, approve: Callable[[Tips], None]
) -> Updated:
    for _ in range(ATTEMPTS - 1):
        try:
            return _update(ws, base, branch, by, lock, approve)
        except MovedMeanwhileError:
            continue
    return _update(ws, base, branch, by, lock, approve)


def _update(
    ws: Workspace, base: str, branch: str, by: str, lock: int, approve: Callable[[Tips], None]
) -> Updated:
    head = worktree.head(ws.folder)
    if not head:
        raise RefusedError(f"{branch} has no commit yet.", hint="Commit something first.")
    tips = update_branch.read_tips(ws, base, branch, head)
    approve(tips)
    ahead = update_branch.is_behind(ws, tips)
    start = tips._replace(head=tips.sent) if ahead and tips.sent else tips
    method, new = _new_head(ws, start, by)
    done = Updated(base, branch, head, new, method)
    if new == head:
        return done
    with move_worktree.scratch(ws.place, lock) as copy:
        entries = [*carried_work.changed(copy, head, new)]
        added = [entry.path for entry in entries if entry.status == "A"]
        work = carried_work.read_trees(copy, added)
        carried = _carry(ws, copy, tips, work, new)
        move = Move(branch, head, new, work, carried.trees)
        move_worktree.check(copy, move)
        own = len(provisioned_files.differences(ws, ws.folder))
        move_worktree.carry_out(copy, move)
    sent = tips.sent
    return done._replace(
        carried=own,
        replaces=bool(sent) and not worktree.contains(ws.folder, new, sent or ""),
        submodules=tuple(entry.path for entry in entries if entry.mode == both_sides.GITLINK),
    )


def _new_head(ws: Workspace, tips: Tips, by: str) -> tuple[str, str]:
    """How the branch is updated, and its new commit, which no branch has yet."""
    folder = ws.folder
    if worktree.contains(folder, tips.head, tips.trunk):
        return "fast-forward", tips.head
    if worktree.contains(folder, tips.trunk, tips.head):
        return "fast-forward", tips.trunk
    changed_paths.fork_point(folder, tips.trunk)  # raises UsageError without one
    method = ws.settings.update_method
    result = update_branch.combined(ws, tips, by, method)
    if result.stages:
        sides = both_sides.both_sides(ws.common_dir, result.stages)
        if method == "rebase":  # there "ours" is the main branch
            sides = tuple(file.turned() for file in sides)
        first = "Commit your work. Then run" if worktree.differences(folder) else "Run"
        raise UpdateConflictError(
            tips, f"{tips.branch} conflicts", hint=f"{first} {_by_hand(ws, tips)}", files=sides
        )
    return method, result.oid


def _by_hand(ws: Workspace, tips: Tips) -> str:
    """How to do it with git, which does not start over uncommitted work."""
    return f"`{update_branch.by_hand(ws, tips.base)}`, resolve the conflicts and commit."


def _carry(
    ws: Workspace, copy: ScratchIndex, tips: Tips, work: Trees, new: str
) -> carried_work.CarriedWork:
    own = carried_work.tree_of(copy, tips.head)
    if {work.staged, work.files} != {own} and git.version() < merge.MERGE_TREE:
        raise RefusedError(
            "There are uncommitted changes, and this git cannot carry them over.",
            hint=f"Commit them, or install git 2.38 or newer. {AGAIN}",
        )
    carried = carried_work.carry(copy, work, tips.head, new)
    if carried.stages:
        sides = both_sides.both_sides(ws.common_dir, carried.stages, copy.env)
        hint = f"Commit your work. Then run {_by_hand(ws, tips)}"
        raise UpdateConflictError(tips, "Your uncommitted changes conflict", hint=hint, files=sides)
    return carried
