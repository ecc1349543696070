"""Whether the holders of claims live, as far as this clone can tell.

An agent elsewhere is judged by its presence. But a claim reaches the remote at once, and presence
only with the next sync, so a claim that this clone has just heard of is a sign of life, too.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.clock import to_seconds
from ghp_agents.locks.lock import KINDS, Lock
from ghp_agents.locks.names import claimed_issue
from ghp_agents.ports import LockService, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.presence import issue_of, number
from ghp_agents.workspace import Workspace

NOTED = "claims.json"
LIVING = (Liveness.ACTIVE, Liveness.STALE)

Noted = Mapping[str, tuple[str, float]]  # by right: the revision, and when it was first seen here


class HolderView(NamedTuple):
    """The holder of a right, as it is seen from here."""

    view: AgentView | None = None  # None: nobody here has heard of it, or it is a person
    lives: bool = True
    rests: bool = False  # it stopped, but not as long ago as a dead one would have beaten last

    @property
    def state(self) -> str:
        """The holder's state, in a word."""
        return self.view.liveness.value if self.view else "unknown"


def holders_of(ws: Workspace, store: StateStore, leases: Iterable[Lock]) -> dict[str, HolderView]:
    """The holders of these rights, by the rights' names."""
    held = [lease for lease in leases if lease.holder is not None]
    if all(lease.is_person for lease in held):
        return {lease.name: HolderView() for lease in held}
    views = {view.name: view for view in presence.list_agents(ws, store, store.snapshot())}
    seen = {lease.name: (lease, views.get(lease.holder or "")) for lease in held}
    silent = _silent_since(ws, store, seen.values())
    return {name: _sight(ws, *one, silent.get(name)) for name, one in seen.items()}


def _sight(ws: Workspace, lease: Lock, view: AgentView | None, since: float | None) -> HolderView:
    if lease.is_person or view is None:
        return HolderView()
    silent = view.silent if since is None else min(view.silent, since)
    long = silent >= ws.settings.dead_after
    lives = view.liveness in LIVING or (since is not None and not long)
    return HolderView(view, lives, rests=view.liveness is Liveness.STOPPED and not long)


def _silent_since(
    ws: Workspace, store: StateStore, seen: Collection[tuple[Lock, AgentView | None]]
) -> dict[str, float]:
    """For how long nothing was heard since these claims, for each of which the holder's presence
    does not tell: it was said before."""
    noted = note_first_seen(ws, [lease for lease, _ in seen])
    doubtful = [x.name for x, view in seen if view and not _is_said_since(view, x)]
    news_at = (presence.news_at(ws, store) or 0.0) if doubtful else 0.0
    return {name: max(0.0, news_at - noted[name][1]) for name in doubtful}


def _is_said_since(view: AgentView, lease: Lock) -> bool:
    """Whether what is known of the holder was said after it took the right."""
    if lease.clone and view.clone not in (None, lease.clone):
        return False  # anybody can tell of a later life elsewhere
    epoch = number(view.presence, "epoch")
    if epoch != lease.epoch:
        return epoch > lease.epoch
    shown = issue_of(view.presence), number(view.presence, "generation")
    return view.is_here or shown == (claimed_issue(lease.name), lease.generation)


def is_over(ws: Workspace, right: Lock, clone: str) -> bool:
    """Whether the time of a right is up. In the clone that has it, its own clock decides; elsewhere
    the time counts from when the right was first seen there, for no clock is compared with
    another's."""
    if right.until is None:
        return False
    now, until = ws.clock.now(), to_seconds(right.until)
    if right.clone and right.clone == clone:
        return until <= now
    lasts = max(0.0, until - to_seconds(right.acquired_at))
    return note_first_seen(ws, [right])[right.name][1] + lasts <= now


def life_of(ws: Workspace, store: StateStore, agent: str) -> tuple[int, str]:
    """The epoch and the clone of an agent that is given a right, as `presence.look` believes them:
    a presence that another clone forged counts for nothing. 1 and "" if nobody heard of it."""
    views = presence.list_agents(ws, store, store.snapshot())
    view = next((view for view in views if view.name == agent), None)
    return (max(1, number(view.presence, "epoch")), view.clone or "") if view else (1, "")


def observe(ws: Workspace, leaser: LockService) -> None:
    """Note the rights that are new here; for a sync, which brings them."""
    known = [lease for kind in KINDS for lease in leaser.known(f"{kind}/")]
    note_first_seen(ws, [lease for lease in known if lease.holder is not None])


def note_first_seen(ws: Workspace, leases: Iterable[Lock]) -> Noted:
    """When each of these rights was first seen here as it is."""
    now, had = ws.steady(), _read(ws)
    noted = dict(had)
    for lease in leases:
        revision, seen = had.get(lease.name, ("", now))
        # When the machine was started anew, what was seen before is seen anew.
        same = revision == lease.revision and seen <= now
        noted[lease.name] = (lease.revision, seen if same else now)
    if noted != had:
        _write(ws, noted)
    return noted


def _read(ws: Workspace) -> dict[str, tuple[str, float]]:
    try:
        known = json.loads((ws.cache_dir / NOTED).read_bytes())
        return {str(name): (str(one), float(seen)) for name, (one, seen) in known.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _write(ws: Workspace, noted: Noted) -> None:
    try:
        files.write_atomically(ws.cache_dir / NOTED, json.dumps(noted).encode())
    except OSError:
        return  # where nothing can be written, each look is the first
