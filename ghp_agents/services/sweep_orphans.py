"""Worktrees and branches of this clone that nobody owns any more: found, saved, removed.

Only what agents made: a worktree that is named after an agent, a branch below `agent/`. What is
removed was merged, or is in the state as a handoff with its patch; everything else stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ghp_agents import checkouts, worktree
from ghp_agents.errors import GhpError, RefusedError
from ghp_agents.model.issue import Issue
from ghp_agents.model.liveness import Liveness
from ghp_agents.model.names import issue_of_branch
from ghp_agents.model.sweep import Orphan
from ghp_agents.ports import Leaser
from ghp_agents.services import evidence, uncommitted
from ghp_agents.services.claim import claims
from ghp_agents.services.claim_showing import Me
from ghp_agents.services.evidence import Topic
from ghp_agents.services.furnishing import untouched
from ghp_agents.services.handoff import Facts, record_of
from ghp_agents.services.presence import AgentView
from ghp_agents.services.sweep_handoff import named
from ghp_agents.services.trunk import trunk_places
from ghp_agents.workspace import MYSELF, Workspace, open_workspace

PREFIX = "agent/"
_ENDED = (Liveness.GONE, Liveness.DEAD, Liveness.STOPPED)


def look(
    ws: Workspace, leaser: Leaser, views: Sequence[AgentView], issues: Mapping[int, Issue]
) -> list[Orphan]:
    """What nobody owns: its agent has ended, and its issue is closed or held by nobody."""
    if ws.place.toplevel is None:
        return []
    ended = {view.name: view.liveness.value for view in views if view.liveness in _ENDED}
    known = {view.name for view in views}
    held = {lease.holder for lease in claims(leaser).values()}
    taken = set(claims(leaser))
    found: list[Orphan] = []
    checked_out: set[str] = set()
    for each in checkouts.listed(ws.folder):
        checked_out |= {each.branch} if each.branch else set()
        if each.is_main or each.half_made or not each.path.is_dir() or _is_here(ws, each.path):
            continue
        there = _open(ws, each.path)
        agent = named(there) if there else ""
        why = _why(agent, each.branch, ended, known, held, taken, issues)
        if there and agent and why:
            found.append(_worktree(there, agent, why))
    refs = trunk_places(ws)
    for name, tip in sorted(checkouts.branches(ws.folder).items()):
        if not name.startswith(PREFIX) or name in checked_out:
            continue
        agent = name.removeprefix(PREFIX).partition("/")[0]
        why = _why(agent, name, ended, known, held, taken, issues)
        if why:
            merged = any(worktree.contains(ws.folder, ref, tip) for ref in refs)
            found.append(_branch(name, agent, why, tip, merged=merged))
    return found


def _is_here(ws: Workspace, path: Path) -> bool:
    return path.resolve() == Path(ws.place.toplevel or "").resolve()


def _open(ws: Workspace, path: Path) -> Workspace | None:
    try:
        there = open_workspace(path, ws.environ, ws.clock, MYSELF)
    except GhpError:
        return None
    return there if there.common_dir == ws.common_dir else None


def _why(
    agent: str,
    branch: str | None,
    ended: Mapping[str, str],
    known: Iterable[str],
    held: Iterable[str | None],
    taken: Iterable[int],
    issues: Mapping[int, Issue],
) -> str:
    """Why nobody owns it; empty if somebody may."""
    if not agent or agent in held:
        return ""
    if agent in known and agent not in ended:
        return ""
    state = f"{agent} is {ended.get(agent, 'not known')}"
    number = issue_of_branch(branch) if branch else None
    if number is None:
        return state if ended.get(agent) == Liveness.GONE.value else ""
    issue = issues.get(number)
    if issue and issue.state == "closed":
        return f"{state}, #{number} is closed"
    return f"{state}, nobody has #{number}" if number not in taken else ""


def _worktree(there: Workspace, agent: str, why: str) -> Orphan:
    folder = Path(there.place.toplevel or "")
    kept = f"{worktree.operation(there.git_dir)} is in progress"
    if worktree.operation(there.git_dir) is None:
        work = uncommitted.take(there)
        kept = f"{len(work.missing)} paths of it cannot be saved" if work.missing else ""
    state = "" if kept else "its work can be saved" if _differs(there, folder) else "clean"
    if not kept and there.branch is None and _unsent(there, folder):
        kept, state = "it has commits that are on no branch", ""
    return Orphan("worktree", str(folder), agent, why, state, kept, there.branch or "")


def _unsent(there: Workspace, folder: Path) -> bool:
    head = worktree.head(folder)
    return bool(head) and not any(worktree.contains(folder, x, head) for x in trunk_places(there))


def _branch(name: str, agent: str, why: str, tip: str, *, merged: bool) -> Orphan:
    kept = "" if merged else "it is not merged"
    return Orphan("branch", name, agent, why, "merged" if merged else "", kept, name, tip)


# ------------------------------------------------------------------------------- removing


def remove(me: Me, orphan: Orphan) -> str:
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
    return f"removed worktree {orphan.name}{saved}"


def _differs(there: Workspace, folder: Path) -> bool:
    return len(worktree.differences(folder)) > len(_furniture(there, folder))


def _furniture(there: Workspace, folder: Path) -> list[str]:
    """What git does not know, and is as furnishing put it there."""
    ours = untouched(there)
    found = worktree.differences(folder)
    return [each.path for each in found if each.code == "??" and each.path in ours]


def _save(me: Me, there: Workspace, orphan: Orphan) -> str:
    """Keep what is not committed as a handoff with its patch, and take the worktree away; empty
    where there is nothing to keep. Raises RefusedError where not all of it can be kept."""
    folder = Path(orphan.name)
    if not _differs(there, folder):
        return ""
    work = uncommitted.take(there)
    if work.missing or not work.patch.content:
        raise RefusedError(f"Not all of {orphan.name} can be saved.", hint="Look at it yourself.")
    about = Topic(me.actor, issue_of_branch(orphan.branch))
    note = f"The worktree of {orphan.agent} was removed: {orphan.why}."
    said = evidence.said(me.store, about)
    facts = Facts(about, evidence.branch(there), said, work, (), ())
    handed = record_of(there, me.store, facts, note=note)
    if uncommitted.take(there).patch.content != work.patch.content:
        raise RefusedError(f"Somebody works in {orphan.name}.", hint="It stays as it is.")
    checkouts.clear(me.ws.folder, folder)
    return f"; its work is in {handed.handoff.name}"
