"""Start on an issue: claim it, make a branch and a worktree, and write the agent's name there.

Each step is skipped if it is already done, so a killed start continues where it ended.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims import service as claim
from ghp_agents.claims.service import ClaimResult
from ghp_agents.consent import service as trust
from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import AgentName
from ghp_agents.handoffs import awaited
from ghp_agents.hotpath import alive
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues.issue import short
from ghp_agents.ports import Context, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.pulls import start_worktree
from ghp_agents.pulls.run_checks import CHECKS
from ghp_agents.pulls.start_worktree import StartedWorktree
from ghp_agents.workspace import NAME_FILE, Workspace, agent_named_in, open_workspace
from ghp_agents.worktrees import provisioned_files, removal
from ghp_agents.worktrees.provision import Provisioned, provision

# Settings that change how a worktree is set up.
PLACING = (
    "worktree_path", "worktree_copy_files", "worktree_symlink_files", "worktree_setup_command",
)  # fmt: skip


class Started(NamedTuple):
    """The place where an agent works on an issue now."""

    claimed: ClaimResult
    path: Path
    branch: str
    how: str  # new; continued: the branch was there; there: the worktree, too
    furnished: Provisioned | None = None  # None: it was done before
    notes: tuple[str, ...] = ()
    former: tuple[str, str] = ("", "")  # whose worktree it was, and what to do if that one lives


def start(ctx: Context, reference: str | None, skips: Collection[int] = ()) -> Started:
    """Start on an issue, or on the best ready one that is not in `skips`. The current worktree
    stays unchanged. Raises RefusedError, UnknownError, NotFoundError, NotSetUpError."""
    agent = ctx.ws.agent()
    start_worktree.refuse_without_a_beginning(ctx.ws)
    claimed = claim.claim(ctx, reference) if reference else claim.claim_next(ctx, skips)
    with _releasing_if_failed(ctx, claimed):
        return _place(ctx, agent, claimed)


@contextmanager
def _releasing_if_failed(ctx: Context, claimed: ClaimResult) -> Iterator[None]:
    """A start that fails releases the claim that it has just taken; others can begin then."""
    try:
        yield
    except (GhpError, OSError):
        if claimed.how != claim.MINE:
            with suppress(GhpError, OSError):
                claim.release(ctx, str(claimed.issue.number), reason="the start failed")
        raise


def _place(ctx: Context, agent: AgentName, claimed: ClaimResult) -> Started:
    lacking = awaited.fetch(ctx, claimed.lock)
    tidied = removal.tidy(ctx.ws)
    place = start_worktree.place_worktree(ctx, agent, claimed.issue)
    mark = start_worktree.pending(ctx.ws, place.path)
    furnished = _furnish(ctx.ws, place) if mark.exists() else None
    inner = open_workspace(place.path, ctx.ws.environ, ctx.ws.clock, agent)
    former = _assign_worktree(inner, ctx.store, agent)
    fields = {"issue": claimed.issue.number, "lastAction": f"Started {short(claimed.issue)}"}
    if (inner.presence(agent) or {}).get("status") == "idle":  # the worktree had another agent
        fields["status"] = "planning"
    presence.heartbeat(inner, ctx.store, agent, fields)
    if furnished and not (furnished.setup and furnished.setup.code):
        mark.unlink(missing_ok=True)
    missed = trust.pending(ctx.ws, CHECKS, *(PLACING if furnished else ()))
    late = awaited.LATE.format(lacking, claimed.issue.number) if lacking else ""
    notes = (
        *filter(None, [late]),
        *tidied,
        *place.notes,
        *(_notes(furnished) if furnished else ()),
        *missed,
    )
    return Started(claimed, place.path, place.branch, place.how, furnished, notes, former)


def _notes(done: Provisioned) -> tuple[str, ...]:
    return (*(missing.why for missing in done.missing), *done.notes)


def _furnish(ws: Workspace, place: StartedWorktree) -> Provisioned:
    with provisioned_files.recorded(ws, place.path, is_new=place.how != "there") as names:
        done = provision(ws, place.path)
        names += [*done.copied, *done.linked]
    return done


def _assign_worktree(inner: Workspace, store: StateStore, agent: AgentName) -> tuple[str, str]:
    """Make it the agent's worktree; its former agent is renamed to this one. Returns whose it
    was, and what a person should do if that agent lives; empty if nobody's."""
    before = agent_named_in(inner.git_dir)
    if before == agent:
        return "", ""
    if not before:
        files.write_durably(inner.git_dir / NAME_FILE, f"{agent}\n".encode())
        return "", ""
    limits = inner.settings.thresholds
    lives = alive.lives(inner.folders, before, inner.clock.now(), limits.dead, limits.gone)
    presence.rename(inner, store, agent)
    runs = f"If its client still runs there, end it: `ghp agent-stop {before} --now`."
    text = f"This was the worktree of {named(before)}. What it left uncommitted is there."
    return text, runs if lives else ""
