"""Find, save and remove orphans: worktrees and branches of this clone without an owner.

Only agents' own: a worktree with an agent's name, a branch below `agent/`. Removed is only what
was merged, or is in the state as a handoff with its patch; everything else stays.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.ids import AGENT_BRANCHES, issue_of_branch
from ghp_agents.git import own_work, worktree, worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.handoffs import evidence, uncommitted
from ghp_agents.handoffs.evidence import EvidenceTopic
from ghp_agents.handoffs.facts import HandoffFacts
from ghp_agents.handoffs.service import record_of
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, Forge
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.pulls.merging import left_behind
from ghp_agents.pulls.merging.left_behind import LeftBehind
from ghp_agents.pulls.merging.merged_branches import is_at_work
from ghp_agents.state.default_branch import trunk, trunk_places
from ghp_agents.sweep.plan import Orphan
from ghp_agents.workspace import MYSELF, Workspace, agent_named_in, open_workspace
from ghp_agents.worktrees import removal
from ghp_agents.worktrees.provisioned_files import unchanged_files
from ghp_agents.worktrees.removal import Removed

_ENDED = (Liveness.GONE, Liveness.DEAD, Liveness.STOPPED)


class _Owners(NamedTuple):
    """The possible owners of a worktree or branch."""

    agents: Mapping[str, Liveness]
    claims: Mapping[int, Lock]
    issues: Mapping[int, Issue]
    places: Mapping[str, object]  # the worktrees' names of agents that are active in this clone

    def why_unowned(self, agent: str, branch: str | None) -> str:
        """Return why nobody owns it; empty if somebody may."""
        if not agent or any(agent == lock.holder for lock in self.claims.values()):
            return ""
        liveness = self.agents.get(agent)
        if liveness is not None and liveness not in _ENDED:
            return ""
        state = f"{agent} is {liveness.value if liveness else 'not known'}"
        number = issue_of_branch(branch) if branch else None
        if number is None:
            return state if liveness is Liveness.GONE else ""
        issue = self.issues.get(number)
        if issue and issue.state == "closed":
            return f"{state}, #{number} is closed"
        return f"{state}, nobody holds #{number}" if number not in self.claims else ""

    def closed_issue(self, agent: str, branch: str | None) -> int | None:
        """Return the issue of a branch that is closed and that nobody holds, while its agent
        lives."""
        number = issue_of_branch(branch) if branch else None
        issue = self.issues.get(number) if number else None
        is_over = issue and issue.state == "closed" and number not in self.claims
        return number if is_over and agent in self.agents else None


class _Branches(NamedTuple):
    """The branches of the clone, and what decides whether one is merged."""

    ws: Workspace
    forge: Forge
    tips: Mapping[str, str]
    trunks: Sequence[str]

    def is_merged(self, name: str) -> bool:
        """Return whether the default branch has all of it: directly, or squashed by its merge."""
        tip = self.tips[name]
        return any(worktree.contains(self.ws.folder, ref, tip) for ref in self.trunks) or (
            self._was_squash_merged(name, tip)
        )

    def _was_squash_merged(self, name: str, tip: str) -> bool:
        try:
            pull = self.forge.find(name)
        except GhpError:  # unknown counts as not merged
            return False
        return pull is not None and (pull.state, pull.head, pull.base) == (
            "merged", tip, trunk(self.ws),
        )  # fmt: skip


def find_orphans(
    ctx: Context, views: Sequence[AgentView], issues: Mapping[int, Issue]
) -> list[Orphan]:
    """Find the orphans: the agent has ended, and the issue is closed or held by nobody."""
    if ctx.ws.place.toplevel is None:
        return []
    agents = {view.name: view.liveness for view in views}
    places = {view.name: view.presence.get("worktree") for view in views if is_at_work(view)}
    owners = _Owners(agents, ctx.world.claims, issues, places)
    branches = _Branches(
        ctx.ws, ctx.forge, worktree_admin.branches(ctx.ws.folder), trunk_places(ctx.ws)
    )
    orphans, here = list[Orphan](), Path(ctx.ws.place.toplevel).resolve()
    left = {x.folder: x for x in left_behind.find(ctx, ctx.store.snapshot())}
    checked_out: set[str] = set()
    for tree in worktree_admin.listed(ctx.ws.folder):
        checked_out |= {tree.branch} if tree.branch else set()
        is_usable = not tree.is_main and not tree.half_made and tree.path.is_dir()
        if not is_usable or tree.path.resolve() == here:
            continue
        orphans += _check_worktree(ctx.ws, owners, branches, tree, left.get(tree.path))
    for name in sorted(branches.tips.keys() - checked_out):
        why = _why_unowned_branch(owners, name)
        if why:
            orphans.append(_branch_orphan(name, why, branches))
    return orphans


def _check_worktree(
    ws: Workspace,
    owners: _Owners,
    branches: _Branches,
    tree: Checkout,
    left: LeftBehind | None,
) -> list[Orphan]:
    """Return an orphaned worktree; with its branch, if that is merged and can go, too."""
    other = _open(ws, tree.path)
    agent = agent_named_in(other.git_dir) if other else ""
    if other is None:
        return []
    why = owners.why_unowned(agent, tree.branch or worktree_admin.left_branch(other.git_dir))
    if not why and left:  # of an agent that lives: what it left keeps the worktree
        why = f"{agent} has finished there"
        return [Orphan("worktree", str(tree.path), agent, why, kept=left.words)]
    if not why:
        return _left_over(owners, branches, other, agent)
    orphan = _worktree_orphan(other, agent, why)
    name = orphan.branch
    goes = orphan.removable and name in branches.tips and _why_unowned_branch(owners, name)
    with_branch = goes and branches.is_merged(name)
    return [orphan._replace(tip=branches.tips[name]) if with_branch else orphan]


def _left_over(owners: _Owners, branches: _Branches, other: Workspace, agent: str) -> list[Orphan]:
    """Return a worktree that has merged work only, of an agent that lives."""
    folder, name = other.place.toplevel or "", other.branch or ""
    number = owners.closed_issue(agent, name)
    if number is None or name not in branches.tips or not branches.is_merged(name):
        return []
    if worktree.operation(other.git_dir):
        return []
    why = f"#{number} is closed, its work is merged"
    state = "its uncommitted work will be saved" if _differs(other, Path(folder)) else "clean"
    if owners.places.get(agent) == Path(folder).name:
        kept = f"{agent} is active there: `ghp agent-sweep --prune` removes it once it has left"
        return [Orphan("worktree", folder, agent, why, kept=kept, branch=name)]
    return [Orphan("worktree", folder, agent, why, state, branch=name, tip=branches.tips[name])]


def _why_unowned_branch(owners: _Owners, name: str) -> str:
    return owners.why_unowned(_agent_of(name), name) if name.startswith(AGENT_BRANCHES) else ""


def _agent_of(branch: str) -> str:
    return branch.partition("/")[2].partition("/")[0]


def _open(ws: Workspace, path: Path) -> Workspace | None:
    try:
        other = open_workspace(path, ws.environ, ws.clock, MYSELF)
    except GhpError:
        return None
    return other if other.common_dir == ws.common_dir else None


def _worktree_orphan(other: Workspace, agent: str, why: str) -> Orphan:
    folder = Path(other.place.toplevel or "")
    operation = worktree.operation(other.git_dir)
    kept = f"{operation} is in progress"
    if operation is None:
        work = uncommitted.take_uncommitted(other)
        lost = work.lost_if_removed
        kept = f"{len(lost)} of its paths cannot be saved" if lost else ""
    state = (
        "" if kept else "its uncommitted work will be saved" if _differs(other, folder) else "clean"
    )
    if not kept and other.branch is None and own_work.on_no_branch(other.git_dir):
        kept, state = "it has commits that no branch contains", ""
    return Orphan("worktree", str(folder), agent, why, state, kept, other.branch or "")


def _branch_orphan(name: str, why: str, branches: _Branches) -> Orphan:
    state, kept = ("merged", "") if branches.is_merged(name) else ("", "it is not merged")
    return Orphan("branch", name, _agent_of(name), why, state, kept, name, branches.tips[name])


def remove(me: ClaimContext, orphan: Orphan) -> str:
    """Remove an orphan that has not changed since it was found. Raises RefusedError."""
    ws = me.ctx.ws
    if orphan.kind == "branch":
        if not worktree_admin.delete_branch(ws.folder, orphan.name, orphan.tip):
            raise RefusedError(f"{orphan.name} has moved.", hint="Check it again.")
        return f"removed branch {orphan.name}: {orphan.removable}"
    other = _open(ws, Path(orphan.name))
    if other is None:
        return f"{orphan.name} is already gone"
    checkout = next(x for x in worktree_admin.listed(ws.folder) if x.path == other.folder)
    why = removal.why_kept(ws, checkout, ws.folder, is_saved=True)  # before anything is saved
    saved = "" if why else _save(me, other, orphan)
    done = Removed(why) if why else removal.remove(ws, checkout, ws.folder, is_saved=bool(saved))
    if done.why_kept:
        raise RefusedError(f"{orphan.name} stays: {done.why_kept}.", hint="Check its content.")
    also = orphan.tip and worktree_admin.delete_branch(ws.folder, orphan.branch, orphan.tip)
    branch = f" and its merged branch {orphan.branch}" if also else ""
    notes = "".join(f". {note.rstrip('.')}" for note in done.notes)
    return f"removed worktree {orphan.name}{branch}{saved}{notes}"


def _differs(other: Workspace, folder: Path) -> bool:
    return len(worktree.differences(folder)) > len(_provisioned_files(other, folder))


def _provisioned_files(other: Workspace, folder: Path) -> list[str]:
    """List the untracked files that are still as `agent-start` copied them."""
    ours = unchanged_files(other)
    differences = worktree.differences(folder)
    return [item.path for item in differences if item.code == "??" and item.path in ours]


def _save(me: ClaimContext, other: Workspace, orphan: Orphan) -> str:
    """Save uncommitted work as a handoff with its patch. Return "" if there is nothing to save.
    Raises RefusedError if not all of it can be saved."""
    folder = Path(orphan.name)
    if not _differs(other, folder):
        return ""
    work = uncommitted.take_uncommitted(other)
    if work.lost_if_removed or not work.patch.content:
        raise RefusedError(
            f"Some files of {orphan.name} cannot be saved.", hint="Check it by hand."
        )
    about = EvidenceTopic(me.actor, issue_of_branch(orphan.branch))
    note = f"The worktree of {orphan.agent} was removed: {orphan.why}."
    topic_facts = evidence.topic_facts(me.ctx, about)
    facts = HandoffFacts(about, evidence.branch(other), topic_facts, work, (), ())
    handed = record_of(other, me.ctx.store, facts, note=note)
    if uncommitted.take_uncommitted(other).patch.content != work.patch.content:
        raise RefusedError(f"Somebody is working in {orphan.name}.", hint="It was left unchanged.")
    return f"; its uncommitted work is in {handed.handoff.name}"
