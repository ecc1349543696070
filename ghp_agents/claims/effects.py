"""The visible effects of a claim: the assignee, the holder's presence, the ledger.

The lock decides; the effects follow. If a process is killed in between, the same command repeats
the effects. The ledger's entry comes last, with the assignment or after it, so it proves that
all effects are done.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ghp_agents.claims import pending_unassign
from ghp_agents.claims.claim import is_mine
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Actor, AgentName, Timestamp, digest, issue_of_branch
from ghp_agents.hotpath import implicit_leases, news_flag
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues import dependencies
from ghp_agents.issues.issue import Issue, assignee, short
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claimed_issue
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.settings import rights
from ghp_agents.state.cause import MERGED
from ghp_agents.state.presence import issue_of, number
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text

HANDED = "handed"  # in the presence: the issue that I gave away, while I stay on its branch
AT_WORK = ("implementing", "testing", "reviewing", "planning", "waiting", "blocked")


class ClaimContext(NamedTuple):
    """The actor that claims or releases, with its services."""

    ctx: Context
    actor: Actor
    epoch: int  # 0 for a person

    @property
    def name(self) -> str:
        """The name of the lock's holder."""
        return self.actor.name

    @property
    def decides(self) -> bool:
        """Whether it decides who works on an issue."""
        return rights.may_assign(self.actor, self.ctx.ws.settings.orchestrators)

    @property
    def clone(self) -> str:
        """The id of this clone."""
        return self.ctx.locks.clone


def myself(ctx: Context) -> ClaimContext:
    """The context of the actor. Nothing is written: the command may be refused. Raises GhpError."""
    actor = ctx.ws.actor()
    assignee(actor.name)  # raises if the holder could not be shown as assignee
    return ClaimContext(ctx, actor, 0 if actor.is_person else presence.epoch_of(ctx, actor.name))


def registered(me: ClaimContext) -> ClaimContext:
    """The same, with the epoch of an agent that has a presence here. Raises GhpError."""
    if me.actor.is_person:
        return me
    try:
        presence.heartbeat(me.ctx.ws, me.ctx.store, AgentName(me.name), {})
    except OSError as error:
        raise GhpError(
            f"Cannot register {me.name}: no presence folder is writable ({error.strerror}).",
            hint="Set GHP_STATE_DIR to a writable folder, or free disk space.",
        ) from None
    return me._replace(epoch=presence.epoch_of(me.ctx, me.name))


def show_claim(
    me: ClaimContext, issue: Issue, lock: Lock, event: str, previous: str | None
) -> tuple[Issue, tuple[str, ...]]:
    """Show that I hold the issue; return the changed issue and its open blockers."""
    waits_for = set_current_issue(me, issue, lock)
    removed = (previous,) if previous and previous != me.name else ()
    for former in removed:
        news_flag.set_flag(me.ctx.ws.folders, former)
        pending_unassign.add(me.ctx.ws, issue, lock, former, me.actor)
    with me.ctx.store.commit_with([_entry(me, event, issue, lock, lock.reason)]):
        shown = me.ctx.tracker.set_holder(issue.number, me.actor, add=(me.name,), remove=removed)
    return shown, waits_for


def _waits_for(me: ClaimContext, issue: Issue) -> tuple[str, ...]:
    """The open issues that block it, each with its holder."""
    if not issue.blocked_by:
        return ()
    claims = me.ctx.world.claims
    waits: list[str] = []
    for blocker in dependencies.open_blockers(issue, me.ctx.tracker.known()):
        claim = claims.get(blocker.number)
        names = ", ".join(map(named, [claim.holder or ""] if claim else blocker.assignees))
        waits.append(f"{short(blocker)} ({names or 'nobody has it'})")
    return tuple(waits)


def set_current_issue(me: ClaimContext, issue: Issue, lock: Lock) -> tuple[str, ...]:
    """Write the issue and my claim's generation to my presence; return the open blockers."""
    waits_for = _waits_for(me, issue)
    if me.actor.is_person:
        return waits_for
    current = me.ctx.ws.presence(me.name) or {}
    fields: dict[str, object] = {"issue": issue.number, "generation": lock.generation}
    if issue_of(current) != issue.number:
        fields |= {"pull": None} if current.get("pull") else {}
        implicit_leases.drop_all(me.ctx.ws.folders, me.name)
    if issue_of(current) != issue.number or current.get("status") not in AT_WORK:
        fields["status"] = "blocked" if waits_for else "planning"
        fields["lastAction"] = (
            f"Waits for {', '.join(waits_for)}" if waits_for else f"Claimed {short(issue)}"
        )
    presence.heartbeat(me.ctx.ws, me.ctx.store, AgentName(me.name), fields)
    return waits_for


def is_in_hand(me: ClaimContext, issue: Issue, lock: Lock) -> bool:
    """Whether my presence has the issue and my claim's generation; always true for people."""
    presence = me.ctx.ws.presence(me.name) or {}
    shown = issue_of(presence), number(presence, "generation")
    return me.actor.is_person or shown == (issue.number, lock.generation)


def show_release(
    me: ClaimContext,
    issue: Issue,
    lock: Lock,
    previous: Lock | None,
    reason: str,
    *,
    keep_assignee: bool = False,
) -> Issue:
    """Show that `previous` was released, or given to `lock`'s holder; return the changed issue."""
    holder = previous.holder if previous else None
    if previous:
        _end_work(me, issue, lock, previous)
    added = (lock.holder,) if lock.holder else ()
    removed = (holder,) if holder and holder not in added and not keep_assignee else ()
    for former in removed:
        pending_unassign.add(me.ctx.ws, issue, lock, former, me.actor)
    text = _release_text(me, lock, holder, reason)
    with me.ctx.store.commit_with([_entry(me, "release", issue, lock, text)]):
        return me.ctx.tracker.set_holder(issue.number, me.actor, add=added, remove=removed)


def show_merged(me: ClaimContext, ended: Sequence[tuple[Issue, Lock, Lock]]) -> None:
    """Show that claims ended by merges: of each its issue, the lock now, and as it was. The
    assignees stay. One commit has all entries."""
    for issue, lock, before in ended:
        _end_work(me, issue, lock, before)
    entries = [
        _entry(me, "release", issue, lock, _release_text(me, lock, before.holder, lock.reason))
        for issue, lock, before in ended
    ]
    if entries:
        transact(me.ctx.store, lambda _: (None, entries))


def _end_work(me: ClaimContext, issue: Issue, lock: Lock, previous: Lock) -> None:
    """End what the former holder does on an issue: mine in my presence, another's by news."""
    holder = previous.holder
    if holder and not previous.is_person:
        implicit_leases.drop_all(me.ctx.ws.folders, holder)
    if holder == me.name and not me.actor.is_person:
        what = "Merged" if lock.cause.kind == MERGED else "Released"
        _clear_current_issue(me, issue, what, is_given=lock.holder is not None)
    elif holder:
        news_flag.set_flag(me.ctx.ws.folders, holder)


def _release_text(me: ClaimContext, lock: Lock, former: str | None, reason: str) -> str:
    parts = [f"to {lock.holder}" if lock.holder else "", reason]
    parts += [f"held by {former}"] if former not in (None, me.name) else []
    return "; ".join(filter(None, parts))


def _clear_current_issue(me: ClaimContext, issue: Issue, what: str, *, is_given: bool) -> None:
    """Remove the issue from my presence; my newest remaining claim becomes the current issue. If I
    gave it to another and stay on its branch, I edit nothing there."""
    before = me.ctx.ws.presence(me.name) or {}
    if issue_of(before) not in issue.numbers:
        return
    action = f"{what} {short(issue)}"
    fields: dict[str, object] = {"issue": None, "status": "idle", "lastAction": action}
    other = _newest_other_claim(me, issue)
    if other:
        from ghp_agents.claims import next_issue  # only where it goes on

        number = claimed_issue(other.name) or 0
        fields = next_issue.fields_of(me.ctx, before, number, other, action)
    elif is_given and issue_of_branch(me.ctx.ws.branch or "") in issue.numbers:
        fields[HANDED] = issue.number
    presence.heartbeat(me.ctx.ws, me.ctx.store, AgentName(me.name), fields)


def _newest_other_claim(me: ClaimContext, issue: Issue) -> Lock | None:
    """My newest claim of another open issue."""
    claims = me.ctx.world.held_by(me.actor).items()
    mine = {n: lock for n, lock in claims if is_mine(lock, me.name, me.epoch, me.clone)}
    if not mine.keys() - {*issue.numbers}:
        return None
    opened = {number for issue in me.ctx.tracker.list() for number in issue.numbers}
    others = [mine[number] for number in mine.keys() & opened - {*issue.numbers}]
    return max(others, key=lambda lock: (lock.acquired_at, lock.name), default=None)


def is_shown(me: ClaimContext, lock: Lock, *events: str) -> bool:
    """Whether all effects are done: the entry for one of the events is in the ledger."""
    wanted = {entry_id(event, lock) for event in events}
    return any(entry.id in wanted for entry in me.ctx.store.ledger())


def entry_id(event: str, lock: Lock) -> str:
    """The id of the ledger's entry for a lock."""
    return digest("release" if event == "release" else "claim", lock.name, lock.nonce)


def _entry(me: ClaimContext, event: str, issue: Issue, lock: Lock, text: str) -> Record:
    clock = 0  # sorts after the records of its commit
    return Record(
        event, me.actor, short(issue), entry_id(event, lock), Timestamp(now_text(me.ctx.ws)),
        clock, files=(), issue=issue.number, generation=lock.generation, text=text,
        cause=lock.cause.kind,
    )  # fmt: skip
