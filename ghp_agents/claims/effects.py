"""What shows that an issue is held: its assignee, the holder's presence, the ledger.

The right itself decides; this follows it. A process that is killed in between leaves it undone,
and the same command again does it: the ledger's entry comes last, with the assignment or after
it, so it is there if all is.
"""

from typing import NamedTuple

from ghp_agents.claims import pending_unassign
from ghp_agents.claims.claim import is_mine
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Actor, AgentName, Timestamp, digest
from ghp_agents.hotpath import implicit_leases, news_flag
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues import dependencies
from ghp_agents.issues.issue import Issue, assignee, short
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX, claimed_issue
from ghp_agents.ports import IssueTracker, LockService, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.state.presence import issue_of, number
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace, now_text

AT_WORK = ("implementing", "testing", "reviewing", "planning", "waiting", "blocked")


class ClaimContext(NamedTuple):
    """Who claims or gives back, and with what."""

    ws: Workspace
    store: StateStore
    leaser: LockService
    tracker: IssueTracker
    actor: Actor
    epoch: int  # 0 for a person

    @property
    def name(self) -> str:
        """The name under which a right is held."""
        return self.actor.name

    @property
    def clone(self) -> str:
        """The id of this clone."""
        return self.leaser.clone


def myself(
    ws: Workspace, store: StateStore, leaser: LockService, tracker: IssueTracker
) -> ClaimContext:
    """The actor; an agent is registered first, so that its epoch is known. Raises GhpError."""
    actor = ws.actor()
    assignee(actor.name)  # it could not be shown who has it
    if actor.is_person:
        return ClaimContext(ws, store, leaser, tracker, actor, 0)
    try:
        presence.heartbeat(ws, store, AgentName(actor.name), {})
    except OSError as error:
        raise GhpError(
            f"{actor.name} cannot be registered: no folder for its presence can be written "
            f"({error.strerror}).",
            hint="Set GHP_STATE_DIR to a folder that can be written, or make room on the disk.",
        ) from None
    return ClaimContext(
        ws, store, leaser, tracker, actor, number(ws.presence(actor.name) or {}, "epoch")
    )


# ------------------------------------------------------------------------------- who has it


def show_claim(
    me: ClaimContext, issue: Issue, lease: Lock, event: str, previous: str | None
) -> tuple[Issue, tuple[str, ...]]:
    """Show that I hold it; answers the issue as it is then, and what it waits for."""
    waits_for = set_current_issue(me, issue, lease)
    removed = (previous,) if previous and previous != me.name else ()
    for former in removed:
        news_flag.set_flag(me.ws.folders, former)
        pending_unassign.add(me.ws, issue, lease, former, me.actor)
    with me.store.beside([_entry(me, event, issue, lease, lease.reason)]):
        shown = me.tracker.show(issue.number, me.actor, add=(me.name,), remove=removed)
    return shown, waits_for


def _waits_for(me: ClaimContext, issue: Issue) -> tuple[str, ...]:
    """The open issues that block it, each with who has it."""
    if not issue.blocked_by:
        return ()
    holders = {claimed_issue(lease.name): lease.holder for lease in me.leaser.known("issue/")}
    waits: list[str] = []
    for blocker in dependencies.open_blockers(issue, me.tracker.known()):
        holder = holders.get(blocker.number)
        names = ", ".join(map(named, [holder] if holder else blocker.assignees))
        waits.append(f"{short(blocker)} ({names or 'nobody has it'})")
    return tuple(waits)


def set_current_issue(me: ClaimContext, issue: Issue, lease: Lock) -> tuple[str, ...]:
    """Let my presence name the issue, and the generation by which I hold it; answers what it waits
    for."""
    waits_for = _waits_for(me, issue)
    if me.actor.is_person:
        return waits_for
    had = me.ws.presence(me.name) or {}
    said: dict[str, object] = {"issue": issue.number, "generation": lease.generation}
    if issue_of(had) != issue.number:
        said |= {"pull": None} if had.get("pull") else {}
        implicit_leases.drop_all(me.ws.folders, me.name)
    if issue_of(had) != issue.number or had.get("status") not in AT_WORK:
        said["status"] = "blocked" if waits_for else "planning"
        said["lastAction"] = (
            f"Waits for {', '.join(waits_for)}" if waits_for else f"Claimed {short(issue)}"
        )
    presence.heartbeat(me.ws, me.store, AgentName(me.name), said)
    return waits_for


def is_in_hand(me: ClaimContext, issue: Issue, lease: Lock) -> bool:
    """Whether my presence says so, and would show that I was replaced; people have none."""
    said = me.ws.presence(me.name) or {}
    shown = issue_of(said), number(said, "generation")
    return me.actor.is_person or shown == (issue.number, lease.generation)


# ----------------------------------------------------------------------- who has it no more


def show_release(
    me: ClaimContext,
    issue: Issue,
    lease: Lock,
    previous: Lock | None,
    reason: str,
    *,
    keep_assignee: bool = False,
) -> Issue:
    """Show that `previous` was given back, or given to `lease`'s holder; answers the issue then."""
    holder = previous.holder if previous else None
    if holder and previous and not previous.is_person:
        implicit_leases.drop_all(me.ws.folders, holder)
    if holder == me.name and not me.actor.is_person:
        _put_down(me, issue)
    elif holder:
        news_flag.set_flag(me.ws.folders, holder)
    added = (lease.holder,) if lease.holder else ()
    removed = (holder,) if holder and holder not in added and not keep_assignee else ()
    for former in removed:
        pending_unassign.add(me.ws, issue, lease, former, me.actor)
    parts = [f"to {lease.holder}" if lease.holder else "", reason]
    parts += [f"held by {holder}"] if holder not in (None, me.name) else []
    with me.store.beside([_entry(me, "release", issue, lease, "; ".join(filter(None, parts)))]):
        return me.tracker.show(issue.number, me.actor, add=added, remove=removed)


def _put_down(me: ClaimContext, issue: Issue) -> None:
    """I have it no more; in hand is then what I claimed last of what I still have."""
    had = me.ws.presence(me.name) or {}
    if issue_of(had) not in issue.numbers:
        return
    action = f"Released {short(issue)}"
    said: dict[str, object] = {"issue": None, "status": "idle", "lastAction": action}
    left = _left(me, issue)
    if left:
        other, generation = claimed_issue(left.name), left.generation
        said = {"issue": other, "generation": generation, "status": "planning"}
        said["lastAction"] = f"{action}, goes on with #{other}"
    presence.heartbeat(me.ws, me.store, AgentName(me.name), said)


def _left(me: ClaimContext, issue: Issue) -> Lock | None:
    """Of the open issues that I hold besides this one, the claim that is the newest."""
    mine = [
        lease for lease in me.leaser.known(PREFIX) if is_mine(lease, me.name, me.epoch, me.clone)
    ]
    others = [lease for lease in mine if claimed_issue(lease.name) not in issue.numbers]
    if not others:
        return None
    there = {number for each in me.tracker.list() for number in each.numbers}
    still = [lease for lease in others if claimed_issue(lease.name) in there]
    return max(still, key=lambda lease: (lease.acquired_at, lease.name), default=None)


# ------------------------------------------------------------------------------- the ledger


def is_shown(me: ClaimContext, event: str, lease: Lock) -> bool:
    """Whether all of it was done: its entry is in the ledger."""
    wanted = entry_id(event, lease)
    return any(entry.id == wanted for entry in me.store.ledger())


def entry_id(event: str, lease: Lock) -> str:
    """The id of the entry in the ledger by which a lease is shown."""
    return digest("release" if event == "release" else "claim", lease.name, lease.nonce)


def _entry(me: ClaimContext, event: str, issue: Issue, lease: Lock, text: str) -> Record:
    return Record(
        event=event,
        actor=me.actor,
        object=short(issue),
        id=entry_id(event, lease),
        at=Timestamp(now_text(me.ws)),
        clock=0,  # it comes after what it is committed with
        files=(),
        issue=issue.number,
        generation=lease.generation,
        text=text,
        cause=lease.cause.kind,
    )
