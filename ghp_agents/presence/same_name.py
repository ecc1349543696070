"""An agent in another clone that has the same name: nobody else begins under it, and both hear.

News of an agent takes seconds, so a name is also a lock: the clone in which an agent of that name
claims first has it, by compare-and-swap on the remote. Each life of the agent takes it once. It is
never released: a clone takes the name of an agent that is not at work any more.
"""

from ghp_agents.core import json_file
from ghp_agents.core.clock import ago, to_seconds
from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath import alive
from ghp_agents.hotpath.quoting import file, named
from ghp_agents.locks.lock import Lock, agent_lock
from ghp_agents.locks.swap import LockView, known_lock, known_view, swap
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state import observed
from ghp_agents.state.presence import number


class NamesakeError(RefusedError):
    """An agent of another clone has the name: no issue can be claimed under it here."""


def refuse(ctx: Context, name: str) -> None:
    """Raise NamesakeError if an agent of another clone is at work under the name, and none here."""
    if _lives_here(ctx, name):
        return
    other = find(ctx, ctx.store.snapshot(), name)
    if other is not None:
        raise _refused(ctx, name, _words(other))


def take(ctx: Context, name: str, *, force: bool = False) -> None:
    """Take a name for this clone. Raises NamesakeError if an agent of another clone has it and may
    be at work, unless `force`; UnknownError if the remote cannot be reached."""
    if ctx.store.remote() is None:
        return  # there is no other clone
    lives = _lives_here(ctx, name)
    was_here = ctx.ws.presence(name) is not None
    epoch = presence.epoch_of(ctx, name) + (was_here and not lives)  # above that of an earlier life

    def decide(seen: LockView) -> None:
        lock = seen.lock
        is_ours = lock is not None and lock.clone == ctx.locks.clone
        if is_ours and lives:
            return
        if lock and not is_ours and not force and _may_be_at_work(ctx, name, lock):
            what = f"{named(name)} has begun in another clone ({file(lock.clone)})"
            raise _refused(ctx, name, what)
        ctx.locks.acquire(seen.name, name, expected=lock, epoch=epoch)

    swap(known_view(ctx.locks, agent_lock(name)), decide, hint="Use another name.")


def _may_be_at_work(ctx: Context, name: str, lock: Lock) -> bool:
    """Whether the agent that took the name in another clone may be at work. Until its presence is
    known here, it counts as at work for as long as one that is silent."""
    views = presence.elsewhere(ctx, ctx.store.snapshot(), name)
    view = next((view for view in views if view.clone == lock.clone), None)
    if view is not None and number(view.presence, "epoch") >= lock.epoch:
        # No time stamp of the other machine counts here: its clock may be an hour off.
        return view.liveness is Liveness.ACTIVE and not view.has_no_client
    path, now = ctx.ws.cache_dir / observed.CLAIMS, ctx.ws.steady()
    seen = json_file.note_first_seen(path, {lock.name: lock.revision}, now)[lock.name]
    return now - seen.since < ctx.ws.settings.thresholds.stale


def _refused(ctx: Context, name: str, what: str) -> NamesakeError:
    return NamesakeError(
        f"{what}. Two agents cannot have one name.",
        hint=f"Use another name, such as `--as {_free(ctx, name)}`. If this agent moved here, "
        f"stop it there first: `ghp agent-status {name} --set stopped`.",
    )


def news(ctx: Context, snapshot: Snapshot, agent: str) -> list[tuple[str, str]]:
    """The notice to an agent while another clone has an agent of its name, with an id."""
    other = find(ctx, snapshot, agent) if _lives_here(ctx, agent) else None
    if other is None:
        return []
    lock = known_lock(ctx.locks, agent_lock(agent))
    first = lock.clone if lock else min(snapshot.clone, other.clone or "")
    then = (
        "the other one is asked to rename itself"
        if first == snapshot.clone
        else "rename this one with `ghp agent-whoami --set NAME`, in a worktree of its own"
    )
    text = (
        f"{_words(other)}. If you did not move here from there, two agents have one name: {then}."
    )
    return [(text, f"rival {other.clone}")]


def find(ctx: Context, snapshot: Snapshot, name: str) -> AgentView | None:
    """The agent of another clone that is at work under this name, as far as known here."""
    views = presence.elsewhere(ctx, snapshot, name)
    return next((view for view in views if _is_at_work(ctx, view)), None)


def _is_at_work(ctx: Context, view: AgentView) -> bool:
    """Whether it is active, and not only because this clone has just heard of it: then the other
    machine's time stamp says how old that is. No right depends on it."""
    if view.liveness is not Liveness.ACTIVE or view.has_no_client:
        return False
    if view.presence.get("processRunsFor"):
        return True
    try:
        age = ctx.ws.clock.now() - to_seconds(str(view.presence.get("timestamp")))
    except ValueError:
        return False
    return age < ctx.ws.settings.thresholds.stale


def _lives_here(ctx: Context, name: str) -> bool:
    """Whether the agent has begun in this clone, and neither stopped nor died."""
    limits = ctx.ws.settings.thresholds
    return alive.lives(ctx.ws.folders, name, ctx.ws.clock.now(), limits.dead, limits.gone) is True


def _free(ctx: Context, name: str) -> str:
    """A similar name that no agent has."""
    agents = ctx.store.snapshot().agents()
    return next(f"{name}-{n}" for n in range(2, len(agents) + 3) if f"{name}-{n}" not in agents)


def _words(other: AgentView) -> str:
    heard = f", seen {ago(other.heard)} ago" if other.heard is not None else ""
    return f"{named(other.name)} is at work in another clone ({other.clone}){heard}"
