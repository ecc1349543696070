"""Starting on an issue: the claim, a branch and a worktree, and the agent's name in it.

Each step is done if it is not done yet, so a start that was killed goes on where it ended.
"""

from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims import service as claim
from ghp_agents.claims.service import ClaimResult
from ghp_agents.consent import service as trust
from ghp_agents.core import files
from ghp_agents.core.ids import AgentName
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.issues.issue import short
from ghp_agents.ports import IssueTracker, LockService, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.pulls import start_worktree as start_place
from ghp_agents.workspace import NAME_FILE, Workspace, open_workspace
from ghp_agents.worktrees.provision import Provisioned, provision

# What would have made another worktree of it.
PLACING = (
    "worktree_path", "worktree_copy_files", "worktree_symlink_files", "worktree_setup_command",
)  # fmt: skip


class Started(NamedTuple):
    """Where an agent works on an issue now."""

    claimed: ClaimResult
    path: Path
    branch: str
    how: str  # new; continued: the branch was there; there: the worktree, too
    furnished: Provisioned | None = None  # None: it was before
    notes: tuple[str, ...] = ()


def start(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    reference: str | None,
) -> Started:
    """Start on an issue, or on the best that is ready. The worktree that this command is called
    in stays as it is. Raises RefusedError, UnknownError, NotFoundError, NotSetUpError."""
    agent = ws.agent()
    start_place.refuse_without_a_beginning(ws)
    parts = (ws, store, leaser, tracker)
    claimed = claim.claim(*parts, reference) if reference else claim.claim_next(*parts)
    place = start_place.place_worktree(ws, store, agent, claimed.issue)
    mark = start_place.pending(ws, place.path)
    furnished = provision(ws, place.path) if mark.exists() else None
    inner = open_workspace(place.path, ws.environ, ws.clock, agent)
    _name(inner, store, agent)
    said = {"issue": claimed.issue.number, "lastAction": f"Started {short(claimed.issue)}"}
    presence.heartbeat(inner, store, agent, said)
    if furnished and not (furnished.setup and furnished.setup.code):
        mark.unlink(missing_ok=True)
    missed = trust.pending(ws, *PLACING) if furnished else ()
    notes = (*place.notes, *(furnished.notes if furnished else ()), *missed)
    return Started(claimed, place.path, place.branch, place.how, furnished, notes)


def _name(inner: Workspace, store: StateStore, agent: AgentName) -> None:
    """Make it the agent's worktree; who had it before goes on under the new name."""
    path = inner.git_dir / NAME_FILE
    before = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    if before == agent:
        return
    if before and pulse.is_name(before):
        presence.rename(inner, store, agent)
    else:
        files.write_durably(path, f"{agent}\n".encode())
