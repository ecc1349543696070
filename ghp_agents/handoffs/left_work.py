"""The work that agents of this clone left in their worktrees when they ended, or lost their claims.

It is only there, so the clone saves it by itself: each in a handoff, for whoever continues in any
clone. Elsewhere only the former claims are known, and whether such a handoff has arrived.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.effects import myself
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import NUMBERS_END, Actor, AgentName, CloneId, issue_of_branch, listed
from ghp_agents.core.json_file import object_file
from ghp_agents.git import worktree_admin
from ghp_agents.handoffs import for_dead_agent, latest
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.hotpath import alive
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.hotpath.quoting import file, named
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context
from ghp_agents.presence import client_process
from ghp_agents.state import changes
from ghp_agents.state.cause import RELEASE
from ghp_agents.state.coordination import coordination_remote
from ghp_agents.state.events import HOLDER, RECEIVER
from ghp_agents.state.presence import Presence, issue_of, number
from ghp_agents.workspace import MYSELF, Workspace, agent_named_in, open_workspace

NOTES = "left-work.json"  # in the folder of caches: what was looked at, by worktree
NEVER = "9999"  # after every timestamp
SHOWN = 3  # files that are named


class LeftWork(NamedTuple):
    """A handoff of what an agent left in its worktree."""

    agent: str
    issue: int
    handoff: Handoff


class AgentPlace(NamedTuple):
    """A worktree of an agent for an issue, and the last value of the claim."""

    agent: AgentName
    issue: int
    folder: Path
    branch: str  # of the issue; a detached HEAD has left it
    lock: Lock

    def is_held(self) -> bool:
        """Whether the agent has the claim still."""
        return self.lock.holder == self.agent


def save(ctx: Context) -> tuple[LeftWork, ...]:
    """Save what agents that have ended left here, or that have lost their claims; each state of a
    worktree once. Nothing in a clone without a remote: who continues there has the worktree."""
    if coordination_remote(ctx.ws) is None:
        return ()
    places = list(agent_places(ctx))
    if not places:
        return ()
    notes = object_file(ctx.ws.cache_dir / NOTES)
    before = notes.read()
    after = {str(place.folder): _state(ctx.ws, place) for place in places}
    new = [place for place in places if before.get(str(place.folder)) != after[str(place.folder)]]
    over = _ended(ctx.ws, {place.agent for place in new if place.is_held()})
    saved: list[LeftWork] = []
    for place in new:
        try:
            if not place.is_held() or place.agent in over:
                saved += _save(ctx, place)
            else:
                after.pop(str(place.folder))
        except (GhpError, OSError):  # the next sync tries again
            after.pop(str(place.folder))
    if after != before:
        notes.write(after)
    return tuple(saved)


def save_of(ctx: Context, agent: str, but: Collection[int] = ()) -> tuple[LeftWork, ...]:
    """Save what `agent` has in its worktrees here, on issues that are not in `but`. Raises
    GhpError."""
    places = [x for x in agent_places(ctx) if x.agent == agent and x.issue not in but]
    return tuple(left for place in places for left in _save(ctx, place))


def save_in(ctx: Context, agent: str, issue: int, theirs: Workspace) -> Handoff | None:
    """Save what `agent` has in the worktree `theirs` on an issue; returns the handoff, if there is
    anything to save. Raises GhpError."""
    chain = _chain(ctx, issue)
    last = next((lock for lock in reversed(chain) if lock.holder == agent), None)
    if last is None:
        return None
    return for_dead_agent.write_work(
        myself(ctx), ctx.tracker.get(issue), last, theirs, is_held=last == chain[-1]
    )


def agent_places(ctx: Context) -> Iterator[AgentPlace]:
    """The worktrees of agents in this clone whose branch, or last branch, is that of an issue that
    somebody claimed. Raises GitError."""
    ws, current = ctx.ws, ctx.world.claim_locks
    for checkout in ctx.world.checkouts if current else ():
        place = walk_up(str(checkout.path)) if checkout.path.is_dir() else None
        agent = agent_named_in(place.git_dir) if place else ""
        if place is None or not agent or Path(place.common_dir) != ws.common_dir:
            continue
        branch = checkout.branch or worktree_admin.left_branch(Path(place.git_dir))
        issue = issue_of_branch(branch)
        lock = current.get(issue or 0)
        if issue is not None and lock is not None:
            yield AgentPlace(AgentName(agent), issue, checkout.path, branch, lock)


def _state(ws: Workspace, place: AgentPlace) -> list[object]:
    """What changes when there may be something new to save."""
    presence = ws.presence(place.agent) or {}
    return [place.agent, number(presence, "epoch"), number(presence, "seq"), place.lock.nonce]


def _ended(ws: Workspace, agents: Collection[AgentName]) -> set[str]:
    """The agents that are at work no more, as far as their files here show it."""
    if not agents:
        return set()
    now, limits = ws.clock.now(), (ws.settings.dead_after, ws.settings.gone_after)
    dead = {agent for agent in agents if alive.lives(ws.folders, agent, now, *limits) is False}
    return dead | {*client_process.ended(ws, sorted({*agents} - dead))}


def _save(ctx: Context, place: AgentPlace) -> list[LeftWork]:
    theirs = open_workspace(place.folder, ctx.ws.environ, ctx.ws.clock, MYSELF)
    handoff = save_in(ctx, place.agent, place.issue, theirs)
    return [LeftWork(place.agent, place.issue, handoff)] if handoff else []


def _chain(ctx: Context, issue: int) -> Sequence[Lock]:
    """Every value of a claim that this clone knows, the oldest first."""
    name = claim_name(issue)
    return ctx.locks.known_histories([name]).get(name, ())


# ------------------------------------------------------------------------ seen from elsewhere


def awaited(ctx: Context, issue: int) -> list[str]:
    """What is known of the work that former holders of an issue left in other clones, and that may
    not have arrived: sentences for whoever continues. A clone that wrote something after it knew of
    the end of the claim has sent it, if there was any."""
    chain = _chain(ctx, issue)
    former = {
        lock.holder: (lock, then.generation)
        for lock, then in pairwise(chain)
        if lock.clone not in ("", ctx.locks.clone) and not lock.is_person
        if lock.holder and (then.cause.kind, then.cause.by) != (RELEASE, lock.holder)
    }
    for lock in chain[-1:]:
        former.pop(lock.holder or "", None)
    if not former:
        return []
    snapshot = ctx.store.snapshot()
    handoffs = handoff_record.read_handoffs(snapshot.files(handoff_record.folder_of(issue)))[0]
    clocks = {tip.clone: tip.clock for tip in snapshot.tips()}
    ledger = ctx.store.ledger()
    written = {entry.object: entry.clone for entry in ledger if RECEIVER in entry.kind.concerns}
    ends = {
        entry.generation: entry.clock
        for entry in ledger
        if entry.issue == issue
        if HOLDER in entry.kind.concerns or entry.event == "restore"
    }
    sentences: list[str] = []
    for lock, end in former.values():
        presence = snapshot.agents().get(lock.holder or "", {})
        theirs = [x for x in handoffs if latest.is_about(x, lock)
                  and written.get(x.name) == lock.clone]  # fmt: skip
        has_sent = clocks.get(CloneId(lock.clone), 0) > ends.get(end, NUMBERS_END)
        if not has_sent and not any(_is_all(x, lock, presence) for x in theirs):
            sentences.append(_sentence(lock, issue, presence, theirs[-1] if theirs else None))
    return sentences


def _is_all(handoff: Handoff, lock: Lock, presence: Presence) -> bool:
    """Whether a handoff of the holder's clone has all that is known of its work. Both times are by
    the clock of that clone."""
    is_checkpoint_of_all = str(handoff.at) >= str(presence.get("timestamp") or NEVER)
    is_own = handoff.by == Actor(lock.holder or "")
    return not is_own or is_checkpoint_of_all or for_dead_agent.is_left_work(handoff, lock)


def _sentence(lock: Lock, issue: int, presence: Presence, last: Handoff | None) -> str:
    agent = lock.holder or ""
    if last:
        return (
            f"What {named(agent)} changed after {last.name}, if anything, is in clone "
            f"{lock.clone} and not yet sent. There, `ghp agent-stop {agent} --now` sends it."
        )
    files = [x.path for x in changes.decode(presence)] if issue_of(presence) == issue else []
    what = f" ({listed([*map(file, files)], SHOWN)})" if files else ", if there is any,"
    return (
        f"Uncommitted work of {named(agent)}{what} is in clone {lock.clone} and not yet sent. It "
        "arrives as a handoff after the next sync there, and the holder of the issue is told. "
        f"There, `ghp agent-stop {agent} --now` sends it at once."
    )
