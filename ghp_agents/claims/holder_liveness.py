"""Whether the holders of locks are alive, as far as this clone can tell.

An agent of another clone is judged by its presence. But a claim reaches the remote at once,
presence only with the next sync. So a claim that is new here is a sign of life, too.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.clock import to_seconds
from ghp_agents.locks.held import note_first_seen
from ghp_agents.locks.lock import KINDS, Lock
from ghp_agents.locks.names import INBOX, claimed_issue
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.state.presence import issue_of, number
from ghp_agents.workspace import Workspace

# A message is claimed by its holder itself. So a stop that was heard in a later sync than the claim
# is later. Of one sync, nobody can tell.
SAME_SYNC_S = 1.0


class HolderView(NamedTuple):
    """The holder of a lock, as seen from this clone."""

    view: AgentView | None = None  # None: unknown here, or a person
    lives: bool = True
    rests: bool = False  # it stopped less than `deadAfter` ago
    quiet: float = 0.0  # seconds without a sign of life, as far as known; 0 for a person

    @property
    def state(self) -> str:
        """The holder's liveness in one word."""
        return self.view.liveness.value if self.view else "unknown"

    @property
    def shown(self) -> str:
        """The same for people, as all other commands say it."""
        return self.view.state if self.view else "unknown"


def holders_of(
    ctx: Context, locks: Iterable[Lock], agents: Sequence[AgentView] | None = None
) -> dict[str, HolderView]:
    """The holders of these locks, by the locks' names; `agents` are all agents, if known."""
    held = [lock for lock in locks if lock.holder is not None]
    if all(lock.is_person for lock in held):
        return {lock.name: HolderView() for lock in held}
    if agents is None:
        agents = presence.list_agents(ctx, ctx.store.snapshot())
    views = {view.name: view for view in agents}
    pairs = {lock.name: (lock, views.get(lock.holder or "")) for lock in held}
    silent = _silent_since(ctx, pairs.values())
    return {name: _sight(ctx.ws, *pair, silent.get(name)) for name, pair in pairs.items()}


def _sight(ws: Workspace, lock: Lock, view: AgentView | None, since: float | None) -> HolderView:
    if lock.is_person:
        return HolderView()
    if view is None:
        return HolderView(quiet=since or 0.0)
    quiet = view.quiet if since is None else min(view.quiet, since)
    silent = view.silent if since is None else min(view.silent, since)
    long = silent >= ws.settings.dead_after
    stopped = view.liveness is Liveness.STOPPED
    ended = stopped and lock.name.startswith(INBOX) and view.silent + SAME_SYNC_S < (since or 0.0)
    lives = view.liveness in LIVING or (since is not None and not long and not ended)
    rests = stopped and not long
    return HolderView(view, lives, rests, quiet)


def _silent_since(
    ctx: Context, pairs: Collection[tuple[Lock, AgentView | None]]
) -> dict[str, float]:
    """Seconds without news since the claim, for claims that are newer than what is known of the
    holder's presence."""
    noted = note_first_seen(ctx.ws, [lock for lock, _ in pairs])
    doubtful = [x.name for x, view in pairs if view is None or not _is_newer(view, x)]
    news_at = (presence.news_at(ctx) or 0.0) if doubtful else 0.0
    return {name: max(0.0, news_at - noted[name][1]) for name in doubtful}


def _is_newer(view: AgentView, lock: Lock) -> bool:
    """Whether the holder's known presence is newer than its acquisition of the lock."""
    if lock.clone and view.clone not in (None, lock.clone):
        return False  # any clone can report a later epoch of the agent elsewhere
    epoch = number(view.presence, "epoch")
    if epoch != lock.epoch:  # of who was given it unheard of, the clone is unknown, too
        return epoch > lock.epoch and (view.is_here or bool(lock.clone))
    shown = issue_of(view.presence), number(view.presence, "generation")
    return view.is_here or shown == (claimed_issue(lock.name), lock.generation)


def is_over(ws: Workspace, lock: Lock, clone: str) -> bool:
    """Whether a lock has expired. In the holder's clone, its own clock decides. In other clones the
    TTL counts from when the lock was first seen there: clocks of two machines are not compared."""
    if lock.until is None:
        return False
    now, until = ws.clock.now(), to_seconds(lock.until)
    if lock.clone and lock.clone == clone:
        return until <= now
    lasts = max(0.0, until - to_seconds(lock.acquired_at))
    return note_first_seen(ws, [lock])[lock.name].since + lasts <= now


def life_of(ctx: Context, agent: str) -> tuple[int, str]:
    """The epoch and the clone of an agent that is given a lock, according to
    `presence.list_agents`, which ignores forged presences. 1 and "" if the agent is unknown."""
    views = presence.list_agents(ctx, ctx.store.snapshot())
    view = next((view for view in views if view.name == agent), None)
    return (max(1, number(view.presence, "epoch")), view.clone or "") if view else (1, "")


def observe(ctx: Context) -> None:
    """After a sync: note the locks that are new here."""
    locks = [lock for kind in KINDS for lock in ctx.locks.known(f"{kind}/")]
    note_first_seen(ctx.ws, [lock for lock in locks if lock.holder is not None])
