"""The doctor's check for agents whose worktree was deleted: what they still hold."""

from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core.finding import Finding, info, warning
from ghp_agents.core.ids import Actor, one_line
from ghp_agents.git import worktree
from ghp_agents.hotpath import alive
from ghp_agents.leases.world import read_all
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.presence import Presence, issue_of, position
from ghp_agents.workspace import NAME_FILE, Workspace, agent_named_in

CODE = "worktree"


def check(ctx: Context) -> Iterator[Finding]:
    """Report agents of this clone whose worktree no longer exists."""
    trees = _worktrees(ctx.ws)
    snapshot = ctx.store.snapshot()
    here = _agents_here(ctx.ws, snapshot)
    lost = {name: fields for name, fields in here.items() if _where(fields) not in ("", *trees)}
    named = _named(ctx.ws) if lost else set[str]()
    for name, presence in lost.items():
        if name not in named:
            yield from _findings_for(ctx, snapshot, name, presence)


def _agents_here(ws: Workspace, snapshot: Snapshot) -> dict[str, Presence]:
    """Return the agents whose last heartbeat was in this clone."""
    joined = snapshot.agents()
    own = {name: ws.presence(name) for name in sorted(snapshot.beaten())}
    return {
        name: presence
        for name, presence in own.items()
        if presence and position(presence) >= position(joined.get(name, {}))
    }


def _findings_for(
    ctx: Context, snapshot: Snapshot, name: str, presence: Presence
) -> Iterator[Finding]:
    limits = ctx.ws.settings.dead_after, ctx.ws.settings.gone_after
    lives = alive.lives(ctx.ws.folders, name, ctx.ws.clock.now(), *limits)
    claims = [*map(str, ctx.world.held_by(Actor(name)))]
    has = [*claims, *(_leases(ctx.ws, snapshot, name) if lives else [])]
    gone = f"The worktree {one_line(_where(presence), 80)} of {name} is gone"
    go_on = f"If it continues in another worktree, run there: ghp agent-whoami --set {name}"
    if has:
        what = ", ".join([*(f"#{number}" for number in claims), *has[len(claims) :]])
        give_back = f"If it is finished: ghp agent-release {' '.join(has)} --as @me"
        yield warning(CODE, f"{gone}; it still has {what}.", f"{give_back}. {go_on}")
    elif lives:
        issue = issue_of(presence)
        about = f"; it worked on #{issue}" if issue else ""
        yield info(CODE, f"{gone}{about}; it holds nothing.", go_on)


def _leases(ws: Workspace, snapshot: Snapshot, name: str) -> list[str]:
    """Return the leases of a live agent; those of others have expired."""
    now = ws.clock.now()
    return [
        log.hold().short
        for log in read_all(snapshot)[0]
        if log.is_open
        and log.granted is not None
        and not log.is_over(snapshot.clone, now)
        and (log.holder.name, log.holder.is_person) == (name, False)
    ]


def _where(presence: Presence) -> str:
    return str(presence.get("worktree") or "")


def _worktrees(ws: Workspace) -> list[str]:
    """Return the names of the existing worktrees."""
    here = [Path(ws.place.toplevel)] if ws.place.toplevel else []
    return [folder.name for folder in (*worktree.folders(ws.folder), *here)]


def _named(ws: Workspace) -> set[str]:
    """Return the agents with an existing worktree of their name; it may have been moved."""
    own = [ws.common_dir / NAME_FILE]
    linked = [path for path in ws.common_dir.glob(f"worktrees/*/{NAME_FILE}") if _exists(path)]
    return {agent_named_in(path.parent) for path in (*own, *linked)}


def _exists(name_file: Path) -> bool:
    """Return whether the worktree of a git folder exists."""
    try:
        return Path(name_file.with_name("gitdir").read_text(encoding="utf-8").strip()).exists()
    except (OSError, ValueError):
        return False
