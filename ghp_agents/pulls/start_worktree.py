"""The branch and worktree in which an agent works on an issue; existing ones are reused."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.ids import AGENT_BRANCHES, listed
from ghp_agents.git import worktree, worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.handoffs import commits, missing_commits
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.hotpath.quoting import file, named, path_word
from ghp_agents.issues.issue import Issue
from ghp_agents.ports import Context
from ghp_agents.pulls.branches import branch_names, branch_records
from ghp_agents.pulls.update_branch import no_main_branch
from ghp_agents.state import known_branches
from ghp_agents.state import remote_branches as branches
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import removal
from ghp_agents.worktrees.folder import repository_name, worktrees_folder
from ghp_agents.worktrees.removal import LOCK, TIMEOUT_S

PENDING = "starting"  # a folder with a file for each worktree that is not provisioned yet
FREE_NAMES = 20
LISTED = 5  # branches that are named


class StartedWorktree(NamedTuple):
    """A branch and the worktree that has it checked out."""

    path: Path
    branch: str
    how: str  # new; continued: the branch was there; there: the worktree, too
    notes: tuple[str, ...] = ()  # what a person should know


class _KnownBranches(NamedTuple):
    """The existing branches with their tips."""

    local: dict[str, str]
    on_remote: dict[str, str]
    base: str  # the commit at which a new branch begins
    notes: tuple[str, ...]
    main: str
    main_tip: str
    taken: frozenset[str] = frozenset()  # other names that git would not create


def place_worktree(ctx: Context, agent: str, issue: Issue) -> StartedWorktree:
    """Return the worktree of `agent` for an issue; create it if needed. Raises RefusedError,
    GitError. Two processes at once for one branch get the same worktree."""
    files.usable(ctx.ws.ghp_dir)
    with files.locked_if_possible(ctx.ws.ghp_dir / LOCK, patience=TIMEOUT_S) as held:
        _clear_partial_worktrees(ctx.ws)
        work = branch_records.KnownWork.read(ctx, issue)
        wanted = [*_wanted_names(ctx.ws, agent, issue)]
        refs = _find_branches(ctx.ws, issue, wanted, work.branches)
        present = {**refs.on_remote, **refs.local}
        existing = branch_names.best(filter(work.is_of_issue, present), agent)
        last = missing_commits.to_begin_with(ctx.store, issue.number)
        if last and work.is_older(last.at):
            last = None
        if existing is not None:
            refs = _bring_forward(ctx, agent, last, existing, refs) if last else refs
        elif last is not None:
            refs = refs._replace(base=_beginning(ctx, issue, last, refs.base))
            existing = _handed_branch(ctx.ws, issue, last, refs)
            if existing:
                refs = refs._replace(local={**refs.local, existing: refs.base})
        branch = existing or _new_name(wanted, refs)
        if not existing:
            left = sorted(name for name in present if branch_names.of_agents(name, issue.number))
            refs = refs._replace(notes=(*refs.notes, *_on_name(branch, wanted[0], left, refs)))
        branch_records.note(ctx, branch, issue, refs.main, refs.main_tip)
        checkout = worktree_admin.of_branch(ctx.ws.folder, branch)
        if checkout and checkout.path.is_dir():
            notes = (*refs.notes, *_on_operation(checkout))
            return StartedWorktree(checkout.path, branch, "there", notes)
        if checkout:  # its folder was deleted; git would still block the branch
            notes = removal.forget_missing(ctx.ws, checkout)
            refs = refs._replace(notes=(*refs.notes, *notes))
        elif aside := worktree_admin.left_detached(ctx.ws.folder, branch):
            notes = (*refs.notes, _on_detached(aside, branch))
            return StartedWorktree(aside.path, branch, "there", notes)
        return _add_worktree(ctx.ws, issue, branch, refs, held)


def _on_operation(checkout: Checkout) -> Iterator[str]:
    """What is in progress on the branch of a worktree, and how to end it."""
    if checkout.operation:
        what = f"{checkout.operation.capitalize()} of {file(checkout.branch or '')} is in progress"
        how = "`git rebase --continue` continues it, `git rebase --abort` ends it"
        if checkout.operation == worktree_admin.BISECT:
            how = "`git bisect reset` ends it"
        yield f"{what} there: {how}."


def _on_detached(checkout: Checkout, branch: str) -> str:
    """How to get back to the branch of a worktree whose HEAD is detached."""
    commit, back = checkout.head[:12], f"git switch {path_word(branch)}"
    return (
        f"HEAD is detached there, at {commit}, with commits that no branch has. Back to the branch "
        f"with them: `{back} && git merge {commit}`. To keep them aside: `git branch NAME`, then "
        f"`{back}`."
    )


def _wanted_names(ws: Workspace, agent: str, issue: Issue) -> Iterator[str]:
    pattern, repo = ws.settings.branch_pattern, repository_name(ws)
    return branch_names.names(agent, issue.number, issue.title, pattern, repo)


def _new_name(wanted: Sequence[str], refs: _KnownBranches) -> str:
    """The first name that no branch has or blocks. Raises RefusedError."""
    name = branch_names.free_name(wanted, {*refs.local, *refs.on_remote, *refs.taken})
    if name is None:
        raise RefusedError(
            f"Other branches are in the way of {file(wanted[0])}.",
            hint="Choose another name for branches: `branchPattern` in .ghp/config.json.",
        )
    return name


def _on_name(branch: str, wanted: str, left: Sequence[str], refs: _KnownBranches) -> Iterator[str]:
    """Why a new branch has not the usual name, and which ones of the number it leaves alone."""
    taken = {*refs.local, *refs.on_remote, *refs.taken}
    blocking = next((name for name in branch_names.above(wanted) if name in taken), "")
    if blocking:
        yield (
            f"There is a branch {file(blocking)}, so git allows none called {file(wanted)}. The "
            f"branch is {file(branch)}; `branchPattern` chooses other names."
        )
    if left:
        names, is_one = listed([*map(file, left)], LISTED), len(left) == 1
        yield (
            f"{names} {'is' if is_one else 'are'} not known to be for this issue, so "
            f"{'it stays as it is' if is_one else 'they stay as they are'}. The branch is "
            f"{file(branch)}."
        )
    elif not blocking and branch != wanted:
        yield f"{file(wanted)} is in the way of another branch. The branch is {file(branch)}."


def _beginning(ctx: Context, issue: Issue, last: Handoff, main: str) -> str:
    """The commit at which a new branch begins: the one that was handed over, else `main`. Raises
    UnknownError if this clone lacks what was handed over."""
    if not (last.commits or (last.branch and last.branch != _base(ctx.ws))):
        return main
    why = commits.unpack(ctx.ws, ctx.store, last)
    if not why:
        return main if worktree.contains(ctx.ws.folder, main, last.head) else last.head
    name, reason = file(last.branch or last.head), f": {why}" if last.commits else ""
    raise UnknownError(
        f"{named(*last.by)} handed #{issue.number} over on branch {name} ({last.name}), which "
        f"neither this clone nor the remote has{reason}.",
        hint=f"In the clone of {named(*last.by)}: `git push origin {name}`. To begin without that "
        f"work: `git branch {branch_names.ANEW.format(issue.number)} {_base(ctx.ws)}`, then start "
        "again.",
    )


def _handed_branch(ws: Workspace, issue: Issue, last: Handoff, refs: _KnownBranches) -> str | None:
    """Create the branch that was handed over, at its commit, if it is one of agents."""
    name = (last.branch or "") if last.head == refs.base else ""
    if not (branch_names.is_branch(name) and branch_names.of_agents(name, issue.number)):
        return None
    return name if _create(ws, name, refs.base) else None


def _create(ws: Workspace, branch: str, commit: str) -> bool:
    return worktree_admin.set_branch(ws.folder, branch, commit, "0" * len(commit))


def _bring_forward(
    ctx: Context, agent: str, last: Handoff, branch: str, refs: _KnownBranches
) -> _KnownBranches:
    """Bring a branch to the commit that was handed over to `agent` or to nobody, if that only adds
    commits."""
    folder, tip = ctx.ws.folder, refs.local.get(branch) or refs.on_remote[branch]
    if last.to not in (agent, None) or last.branch != branch or last.head == tip:
        return refs
    if branch in refs.on_remote and not worktree.has_commit(folder, last.head):
        with suppress(UnknownError):
            branches.tips(ctx.ws, branch)
    why = commits.unpack(ctx.ws, ctx.store, last)
    if not why and worktree.contains(folder, tip, last.head):
        return refs
    if not why and not worktree.contains(folder, last.head, tip):
        why = f"{file(branch)} has other commits here"
    then = ""
    if not why and branch in refs.local:
        why = worktree_admin.forward(folder, branch, tip, last.head)
        then = " Save the changes there (`ghp agent-handoff --checkpoint`), undo them, start again."
    elif not why and not _create(ctx.ws, branch, last.head):
        why = f"{file(branch)} cannot be created"
    if why:
        note = (
            f"{file(branch)} here lacks commits of {last.name}, by {named(*last.by)}: {why}.{then}"
        )
        return refs._replace(notes=(*refs.notes, note))
    return refs._replace(local={**refs.local, branch: last.head})


def pending(ws: Workspace, path: Path) -> Path:
    """Return the file that marks a worktree as created and not yet provisioned."""
    return ws.ghp_dir / PENDING / path.name


def _add_worktree(
    ws: Workspace, issue: Issue, branch: str, refs: _KnownBranches, held: Sequence[int]
) -> StartedWorktree:
    path, notes = _free_path(ws, issue), refs.notes
    mark = pending(ws, path)
    files.write_atomically(mark, f"{path}\n".encode())
    local_tip, remote_tip = refs.local.get(branch), refs.on_remote.get(branch)
    if local_tip is None:
        remote_tip = remote_tip and branches.tips(ws, branch).get(branch, remote_tip)
        worktree_admin.add(ws.folder, path, branch, remote_tip or refs.base, keep_open=held)
        return StartedWorktree(path, branch, "continued" if remote_tip else "new", notes)
    if remote_tip and remote_tip != local_tip:
        remote_tip = branches.tips(ws, branch).get(branch, remote_tip)
        if worktree.contains(ws.folder, remote_tip, local_tip):
            worktree_admin.forward(ws.folder, branch, local_tip, remote_tip)
        elif not worktree.contains(ws.folder, local_tip, remote_tip):
            notes += (f"{branch} has diverged: this clone and the remote both have new commits.",)
    worktree_admin.add(ws.folder, path, branch, keep_open=held)
    return StartedWorktree(path, branch, "continued", notes)


def _clear_partial_worktrees(ws: Workspace) -> None:
    """Clear worktrees that a killed git left half made; a live one would still hold the lock."""
    for checkout in worktree_admin.listed(ws.folder):
        if checkout.half_made and pending(ws, checkout.path).exists():
            worktree_admin.clear(ws.folder, checkout.path, locked=True)


def refuse_without_a_beginning(ws: Workspace) -> None:
    """Raise RefusedError, before any claim, if there is no default branch or no commit on it."""
    base = _base(ws)
    if worktree_admin.tip(ws.folder, f"{branches.HEADS}{base}") or branches.known_tip(ws, base):
        return
    with suppress(UnknownError):
        if branches.tips(ws, base):
            return
    raise _no_commit(base)


def _base(ws: Workspace) -> str:
    base = branches.main_branch(ws)
    if base is not None:
        return base
    if not worktree.head(ws.folder) and not worktree_admin.branches(ws.folder):
        raise RefusedError(
            "This repository has no commits yet.",
            hint="Make the first commit on the main branch or fetch it, then start again.",
        )
    raise no_main_branch(ws)


def _no_commit(base: str) -> RefusedError:
    return RefusedError(f"{base} has no commits yet.", hint="Make the first commit there.")


def _find_branches(
    ws: Workspace, issue: Issue, wanted: Sequence[str], reported: Sequence[str]
) -> _KnownBranches:
    base = _base(ws)
    local = worktree_admin.branches(ws.folder)
    notes: tuple[str, ...] = ()
    try:
        now, tips = branches.main_and_tips(ws)
        base = now or base
        tip = tips.get(base)
        on_remote = branches.matching(ws, _patterns(issue, wanted, reported))
    except UnknownError as error:
        remote = branches.where(ws)
        on_remote = worktree_admin.remote_branches(ws.folder, remote.name) if remote else {}
        tip = on_remote.get(base)
        notes = (f"Using the last known state of the main branch, which may be outdated: {error}",)
    tip = tip or local.get(base)
    if tip is None:
        raise _no_commit(base)
    on_remote = {name: oid for name, oid in on_remote.items() if name != base}
    remote = branches.where(ws)
    above = {folder for name in wanted for folder in branch_names.above(name)}
    tracked = {name: known_branches.tracking(remote, name) for name in above} if remote else {}
    # Perhaps deleted there, but still in the way here.
    blocking = {name for name, ref in tracked.items() if worktree_admin.tip(ws.folder, ref)}
    return _KnownBranches(
        {name: oid for name, oid in local.items() if name != base}, on_remote, tip, notes,
        base, tip, frozenset({base, *blocking}),
    )  # fmt: skip


def _patterns(issue: Issue, wanted: Sequence[str], reported: Sequence[str]) -> list[str]:
    """What is asked of the remote: branches of the issue, and all that could be in the way."""
    of_issue = [f"{prefix}*/{issue.number}-*" for prefix in AGENT_BRANCHES]
    blocking = {folder for name in wanted for folder in branch_names.above(name)}
    taken = [form for name in wanted for form in (name, f"{name}-[0-9]", f"{name}/*")]
    return [*of_issue, *sorted(blocking), *taken, *reported]


def _free_path(ws: Workspace, issue: Issue) -> Path:
    folder = worktrees_folder(ws) / branch_names.folder_name(issue.number, issue.title)
    taken = {checkout.path for checkout in worktree_admin.listed(ws.folder)}
    for number in range(1, FREE_NAMES):
        path = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        if path not in taken and not (path.exists() and (not path.is_dir() or any(path.iterdir()))):
            return path
    raise RefusedError(
        f"{folder} and {FREE_NAMES - 2} similar names are already in use.",
        hint="Remove worktrees that you do not need; `git worktree list` shows them.",
    )
