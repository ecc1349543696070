"""The work of agents: what is in their worktrees now, and the branches that others pushed.

Each becomes a commit. Uncommitted changes and new files are in a commit of a temporary folder.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Annotated, NamedTuple

from ghp_agents.core.declared import Name
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import CloneId, count, issue_of_branch
from ghp_agents.git import loose, worktree, worktree_admin, worktree_tree
from ghp_agents.git.at_once import each
from ghp_agents.git.trial_merge import TrialPlace
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.git.worktree_tree import WorktreeTree
from ghp_agents.hotpath.locate import Location, walk_up
from ghp_agents.hotpath.quoting import file, one_line
from ghp_agents.hotpath.quoting import named as quoted
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.state.presence import issue_of
from ghp_agents.workspace import Workspace, agent_named_in

MOST_PUSHED = 200  # branches of other clones
_WHO = "ghp <ghp@localhost> 0 +0000"
_MESSAGE = "Uncommitted work"
_NOT_FETCHED = "is not here; `git fetch` brings it once it is pushed"
SHOWN = 3  # paths in a note
NO_HOLDERS: Mapping[int, str] = {}


class AgentWork(NamedTuple):
    """The work of an agent, or of several in one worktree, as a commit."""

    agents: tuple[str, ...]
    issue: int | None
    branch: str  # empty: on no branch
    folder: str  # the worktree; empty: only the branch is known here
    head: str
    commit: str = ""  # other than `head`: with uncommitted changes
    is_pushed: bool = False  # of another clone, as it was pushed; not fetched if `head` is empty
    notes: tuple[str, ...] = ()  # what is not in the commit, in words
    is_finished: bool = False  # all of it is in a pull request that can be merged

    @property
    def name(self) -> str:
        """The agents and the issue, for people."""
        issue = f" (#{self.issue})" if self.issue else ""
        return ", ".join(map(quoted, self.agents)) + issue


class UnreadWork(NamedTuple):
    """Work that could not be compared."""

    name: str
    reason: Annotated[str, Name("why")]


def find(
    ws: Workspace, views: Sequence[AgentView], remote: str, trunk: str,
    holders: Mapping[int, str] = NO_HOLDERS,
) -> list[AgentWork]:  # fmt: skip
    """The worktrees of agents in this clone, and the branches of the other agents; their files are
    not read yet. A branch that another agent took over counts for that agent alone: for the holder
    of its issue (`holders`), else for the living agents."""
    checkouts = [checkout for checkout in worktree_admin.listed(ws.folder)
                 if not checkout.half_made and checkout.path.is_dir()]  # fmt: skip
    works = [work for checkout in checkouts if (work := _in_worktree(ws, checkout, views))]
    shown = {work.branch for work in works}
    moving = {agent for work in works if not work.branch for agent in work.agents}  # detached
    tips = worktree_admin.branches(ws.folder), worktree_admin.remote_branches(ws.folder, remote)
    groups: dict[tuple[CloneId | None, str], list[AgentView]] = {}
    for view in views:
        branch = str(view.presence.get("branch") or "")
        is_shown = view.is_here and (branch in shown or view.name in moving)
        if branch and branch != trunk and not is_shown:
            groups.setdefault((None if view.is_here else view.clone, branch), []).append(view)
    on_branches = (_of_branch(branch, group, *tips) for (_, branch), group in groups.items())
    works += [work for work in on_branches if work]
    living = {view.name for view in views if view.liveness in LIVING}
    kept = _of_present_owners(_owned(works, living, holders), living, holders)
    return [*kept][: MOST_PUSHED + len(checkouts)]


def _of_branch(
    branch: str, group: Sequence[AgentView], here: Mapping[str, str], pushed: Mapping[str, str]
) -> AgentWork | None:
    """The branch that agents of one clone report; of another clone also one that is not here,
    while they live."""
    is_here = group[0].is_here
    living = [view for view in group if view.liveness in LIVING]
    tip = (here if is_here else pushed).get(branch, "")
    if not tip and (is_here or not living):
        return None
    named = sorted(living or group, key=lambda view: view.name)
    issue = next(filter(None, (issue_of(view.presence) for view in named)), None)
    return AgentWork(
        tuple(view.name for view in named), issue or issue_of_branch(branch), branch, "", tip, tip,
        is_pushed=not is_here,
    )  # fmt: skip


def _owned(
    works: Iterable[AgentWork], living: Set[str], holders: Mapping[int, str]
) -> list[AgentWork]:
    """The works without those of a branch that another agent took over."""
    branches: dict[str, list[AgentWork]] = {}
    for work in works:
        branches.setdefault(work.branch, []).append(work)
    kept: list[AgentWork] = []
    for branch, same in branches.items():
        holder = next((holders[x.issue] for x in same if x.issue and x.issue in holders), "")
        owners = {holder} if any(holder in x.agents for x in same) else living
        theirs = [work for work in same if not owners.isdisjoint(work.agents)]
        kept += (branch and theirs) or same
    return kept


def _of_present_owners(
    works: Sequence[AgentWork], living: Set[str], holders: Mapping[int, str]
) -> Iterator[AgentWork]:
    """The works; what an agent that ended left of an issue counts for its present holder. If that
    has work of its own on the issue, the rest is in nobody's way."""
    with_work = {(agent, work.issue) for work in works for agent in work.agents}
    for work in works:
        holder = holders.get(work.issue or 0, "")
        if not holder or holder in work.agents or not living.isdisjoint(work.agents):
            yield work
        elif (holder, work.issue) not in with_work:
            yield work._replace(agents=(holder,))


def _in_worktree(ws: Workspace, checkout: Checkout, views: Iterable[AgentView]) -> AgentWork | None:
    """The work in a worktree; None if it is no agent's."""
    place = walk_up(str(checkout.path))
    if place is None or place.toplevel is None or not _is_of(ws, place):
        return None
    branch = checkout.branch or ""
    names_of_branch = (branch, "") if checkout.operation else (branch,)  # "": HEAD is detached
    named = agent_named_in(Path(place.git_dir))
    here = {
        view.name: view
        for view in views
        if view.is_here
        and view.presence.get("worktree") == checkout.path.name
        and (view.presence.get("branch") or "") in names_of_branch
    }
    living = {name for name, view in here.items() if view.liveness in LIVING}
    names = {*living, *({named} - {""})} or {*here}  # the last ones, if nobody lives
    if not names:
        return None
    issues = (issue_of(here[name].presence) for name in sorted(names & here.keys()))
    issue = issue_of_branch(branch) or next(filter(None, issues), None)
    return AgentWork(tuple(sorted(names)), issue, branch, str(checkout.path), checkout.head)


def _is_of(ws: Workspace, place: Location) -> bool:
    """Whether a worktree is of this clone; a path may lead through a link."""
    try:
        return Path(place.common_dir).samefile(ws.common_dir)
    except OSError:
        return False


def read(
    works: Sequence[AgentWork], place: TrialPlace, scratch: Path
) -> tuple[list[AgentWork], list[UnreadWork]]:
    """Each work with its commit, and those that cannot be read."""
    trees = each(lambda work: _tree(work, place, scratch), works)
    with_commits: list[AgentWork] = []
    unread: list[UnreadWork] = []
    fresh: loose.NewObjects | None = None
    for work, tree in zip(works, trees, strict=True):
        if isinstance(tree, str):
            unread.append(UnreadWork(work.name, tree))
            continue
        commit = tree.head
        if tree.tree:
            fresh = fresh or loose.NewObjects(str(place.objects), len(tree.head))
            content = loose.commit(tree.tree, [tree.head], _WHO, _WHO, _MESSAGE)
            commit = fresh.add("commit", content)
        with_commits.append(work._replace(head=tree.head, commit=commit, notes=_notes(work, tree)))
    if fresh:
        fresh.flush(durable=False)
    return with_commits, unread


def _tree(work: AgentWork, place: TrialPlace, scratch: Path) -> WorktreeTree | str:
    """The present content of a worktree, or why it is unknown."""
    if not work.folder:
        return WorktreeTree(work.head) if work.head else f"{file(work.branch)} {_NOT_FETCHED}"
    location = walk_up(work.folder)
    if location is None or location.toplevel is None:
        return "its worktree is gone"
    with tempfile.TemporaryDirectory(prefix="index-", dir=scratch) as folder:
        try:
            tree = worktree_tree.read(location, Path(folder), place.objects, place.programs)
        except GhpError as error:
            is_there = Path(work.folder).is_dir()
            return one_line(str(error), 200).rstrip(".") if is_there else "its worktree is gone"
        except OSError as error:
            return f"{error.strerror}"
    return tree if tree.head else "it has no commit yet"


def _notes(work: AgentWork, tree: WorktreeTree) -> tuple[str, ...]:
    notes: list[str] = []
    location = walk_up(work.folder) if work.folder else None
    doing = location and worktree.operation(Path(location.git_dir))
    if doing and not tree.unmerged:
        notes.append(f"{work.name} is in the middle of {doing}: what is there now is compared")
    if tree.unmerged:
        notes.append(
            f"{work.name} is resolving {doing or 'a conflict'} "
            f"({count(len(tree.unmerged), 'unmerged file')}): its last commit is compared"
        )
    for item in tree.left_out[:SHOWN]:
        notes.append(f"{file(item.path)} of {work.name} is compared as committed: {item.reason}")
    if len(tree.left_out) > SHOWN:
        more = count(len(tree.left_out) - SHOWN, "more file")
        notes.append(f"{more} of {work.name} are compared as committed")
    return tuple(notes)
