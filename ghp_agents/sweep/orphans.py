"""Worktrees and branches of this clone that nobody owns any more: found, saved, removed.

Only what agents made: a worktree that is named after an agent, a branch below `agent/`. What is
removed was merged, or is in the state as a handoff with its patch; everything else stays.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.claims.service import claims
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.ids import issue_of_branch
from ghp_agents.git import worktree
from ghp_agents.git import worktree_admin as checkouts
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.handoffs import evidence, uncommitted
from ghp_agents.handoffs.evidence import Topic
from ghp_agents.handoffs.for_dead_agent import named
from ghp_agents.handoffs.service import HandoffFacts, record_of
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Forge, LockService
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.default_branch import trunk, trunk_places
from ghp_agents.sweep.plan import Orphan
from ghp_agents.workspace import MYSELF, Workspace, open_workspace
from ghp_agents.worktrees.provision import unchanged_files

PREFIX = "agent/"
_ENDED = (Liveness.GONE, Liveness.DEAD, Liveness.STOPPED)


class _Owners(NamedTuple):
    """Who may own a worktree or a branch."""

    ended: Mapping[str, str]  # agents that ended, and how they are
    known: frozenset[str]  # all agents
    claims: Mapping[int, Lock]
    issues: Mapping[int, Issue]

    def why_none(self, agent: str, branch: str | None) -> str:
        """Why nobody owns it; empty if somebody may."""
        if not agent or any(agent == lease.holder for lease in self.claims.values()):
            return ""
        if agent in self.known and agent not in self.ended:
            return ""
        state = f"{agent} is {self.ended.get(agent, 'not known')}"
        number = issue_of_branch(branch) if branch else None
        if number is None:
            return state if self.ended.get(agent) == Liveness.GONE.value else ""
        issue = self.issues.get(number)
        if issue and issue.state == "closed":
            return f"{state}, #{number} is closed"
        return f"{state}, nobody has #{number}" if number not in self.claims else ""


class _Branches(NamedTuple):
    """The branches of the clone, and how it is told whether one is merged."""

    ws: Workspace
    forge: Forge | None
    tips: Mapping[str, str]
    trunks: Sequence[str]

    def is_merged(self, name: str) -> bool:
        """Whether all of it is on the trunk: as it is, or squashed, as its pull request says."""
        tip = self.tips[name]
        return any(worktree.contains(self.ws.folder, ref, tip) for ref in self.trunks) or (
            self._is_said_to_be(name, tip)
        )

    def _is_said_to_be(self, name: str, tip: str) -> bool:
        try:
            pull = self.forge.find(name) if self.forge else None
        except GhpError:  # who cannot be asked says nothing
            return False
        return pull is not None and (pull.state, pull.head, pull.base) == (
            "merged", tip, trunk(self.ws),
        )  # fmt: skip


def find_orphans(
    ws: Workspace,
    leaser: LockService,
    views: Sequence[AgentView],
    issues: Mapping[int, Issue],
    forge: Forge | None = None,
) -> list[Orphan]:
    """What nobody owns: its agent has ended, and its issue is closed or held by nobody."""
    if ws.place.toplevel is None:
        return []
    ended = {view.name: view.liveness.value for view in views if view.liveness in _ENDED}
    known = frozenset(view.name for view in views)
    owners = _Owners(ended, known, claims(leaser), issues)
    there = _Branches(ws, forge, checkouts.branches(ws.folder), trunk_places(ws))
    found: list[Orphan] = []
    checked_out: set[str] = set()
    for each in checkouts.listed(ws.folder):
        checked_out |= {each.branch} if each.branch else set()
        if each.is_main or each.half_made or not each.path.is_dir() or _is_here(ws, each.path):
            continue
        found += _of_worktree(ws, owners, there, each)
    for name in sorted(there.tips.keys() - checked_out):
        why = _why_no_branch(owners, name)
        if why:
            found.append(_branch(name, why, there))
    return found


def _of_worktree(ws: Workspace, owners: _Owners, there: _Branches, each: Checkout) -> list[Orphan]:
    """A worktree that nobody owns; with its branch, if that is merged and can go with it."""
    place = _open(ws, each.path)
    agent = named(place) if place else ""
    why = owners.why_none(agent, each.branch)
    if place is None or not why:
        return []
    orphan = _worktree(place, agent, why)
    name = orphan.branch
    goes = orphan.removable and name in there.tips and _why_no_branch(owners, name)
    return [orphan._replace(tip=there.tips[name]) if goes and there.is_merged(name) else orphan]


def _why_no_branch(owners: _Owners, name: str) -> str:
    return owners.why_none(_agent_of(name), name) if name.startswith(PREFIX) else ""


def _agent_of(branch: str) -> str:
    return branch.removeprefix(PREFIX).partition("/")[0]


def _is_here(ws: Workspace, path: Path) -> bool:
    return path.resolve() == Path(ws.place.toplevel or "").resolve()


def _open(ws: Workspace, path: Path) -> Workspace | None:
    try:
        there = open_workspace(path, ws.environ, ws.clock, MYSELF)
    except GhpError:
        return None
    return there if there.common_dir == ws.common_dir else None


def _worktree(there: Workspace, agent: str, why: str) -> Orphan:
    folder = Path(there.place.toplevel or "")
    kept = f"{worktree.operation(there.git_dir)} is in progress"
    if worktree.operation(there.git_dir) is None:
        work = uncommitted.take_uncommitted(there)
        kept = f"{len(work.missing)} paths of it cannot be saved" if work.missing else ""
    state = "" if kept else "its work can be saved" if _differs(there, folder) else "clean"
    if not kept and there.branch is None and _unsent(there, folder):
        kept, state = "it has commits that are on no branch", ""
    return Orphan("worktree", str(folder), agent, why, state, kept, there.branch or "")


def _unsent(there: Workspace, folder: Path) -> bool:
    head = worktree.head(folder)
    return bool(head) and not any(worktree.contains(folder, x, head) for x in trunk_places(there))


def _branch(name: str, why: str, there: _Branches) -> Orphan:
    state, kept = ("merged", "") if there.is_merged(name) else ("", "it is not merged")
    return Orphan("branch", name, _agent_of(name), why, state, kept, name, there.tips[name])


# ------------------------------------------------------------------------------- removing


def remove(me: ClaimContext, orphan: Orphan) -> str:
    """Remove it, if it still is as it was looked at. Raises RefusedError."""
    ws = me.ws
    if orphan.kind == "branch":
        if not checkouts.delete_branch(ws.folder, orphan.name, orphan.tip):
            raise RefusedError(f"{orphan.name} has moved.", hint="Look at it again.")
        return f"removed branch {orphan.name}: {orphan.removable}"
    there = _open(ws, Path(orphan.name))
    if there is None:
        return f"{orphan.name} is gone already"
    saved = _save(me, there, orphan)
    for name in () if saved else _furniture(there, Path(orphan.name)):
        Path(orphan.name, name).unlink()  # git would keep the worktree for it
    if not saved and not checkouts.remove(ws.folder, Path(orphan.name)):
        raise RefusedError(f"git keeps {orphan.name}.", hint="Look at what is in it.")
    also = orphan.tip and checkouts.delete_branch(ws.folder, orphan.branch, orphan.tip)
    branch = f" and its branch {orphan.branch}: merged" if also else ""
    return f"removed worktree {orphan.name}{branch}{saved}"


def _differs(there: Workspace, folder: Path) -> bool:
    return len(worktree.differences(folder)) > len(_furniture(there, folder))


def _furniture(there: Workspace, folder: Path) -> list[str]:
    """What git does not know, and is as furnishing put it there."""
    ours = unchanged_files(there)
    found = worktree.differences(folder)
    return [each.path for each in found if each.code == "??" and each.path in ours]


def _save(me: ClaimContext, there: Workspace, orphan: Orphan) -> str:
    """Keep what is not committed as a handoff with its patch, and take the worktree away; empty
    where there is nothing to keep. Raises RefusedError where not all of it can be kept."""
    folder = Path(orphan.name)
    if not _differs(there, folder):
        return ""
    work = uncommitted.take_uncommitted(there)
    if work.missing or not work.patch.content:
        raise RefusedError(f"Not all of {orphan.name} can be saved.", hint="Look at it yourself.")
    about = Topic(me.actor, issue_of_branch(orphan.branch))
    note = f"The worktree of {orphan.agent} was removed: {orphan.why}."
    said = evidence.topic_facts(me.store, about, me.ws.settings.orchestrators)
    facts = HandoffFacts(about, evidence.branch(there), said, work, (), ())
    handed = record_of(there, me.store, facts, note=note)
    if uncommitted.take_uncommitted(there).patch.content != work.patch.content:
        raise RefusedError(f"Somebody works in {orphan.name}.", hint="It stays as it is.")
    checkouts.clear(me.ws.folder, folder)
    return f"; its work is in {handed.handoff.name}"
