"""Claims: acquire, verify and release the lock on an issue.

The lock decides. The assignee only shows it, because two concurrent assignments both succeed.
Nothing is fetched before the compare-and-swap. If the known lock is out of date, the swap fails
with the current lock, and the decision is repeated with that.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, NamedTuple

from ghp_agents.claims import claim as rules
from ghp_agents.claims import effects, ended_work, holder_liveness, messages, stopped
from ghp_agents.claims.effects import ClaimContext, is_shown, myself, show_claim, show_release
from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.errors import RefusedError, UnknownError, UsageError
from ghp_agents.core.ids import Actor, IssueNumber, agent_name
from ghp_agents.issues.issue import PROVISIONAL, Issue, short
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX, claim_name
from ghp_agents.locks.swap import LockView, known_lock, known_view, swap
from ghp_agents.ports import Context
from ghp_agents.presence import same_name
from ghp_agents.presence.same_name import NamesakeError
from ghp_agents.settings import rights
from ghp_agents.state import cause
from ghp_agents.state.cause import Cause
from ghp_agents.state.legacy_causes import GIVEN_BY, STOLEN
from ghp_agents.state.presence import number
from ghp_agents.workspace import Workspace
from ghp_agents.world import by_issue

if TYPE_CHECKING:
    from ghp_agents.issues.service import IssueResult

MINE = "mine"
ANYONE = "anyone"  # a value of the setting `steal`
_EVENTS = {"free": cause.CLAIM, "lapsed": cause.TAKEOVER, "held": cause.STEAL}


class ClaimResult(NamedTuple):
    """A successful claim."""

    issue: Issue
    lock: Lock
    how: str  # claim, takeover, steal; mine: already held
    previous: str | None = None  # the former holder
    waits_for: tuple[str, ...] = ()  # open issues that block it
    mended: bool = False  # it was mine, and missing effects were repeated
    passed_over: int = 0  # number of issues not chosen because outsiders created them


class Holding(NamedTuple):
    """The holder of an issue, as seen from this clone."""

    lock: Lock
    state: str = ""  # active, stale, dead, gone, stopped, unknown; empty for a person
    shown: str = ""  # the same for people


class ReleasedClaim(NamedTuple):
    """A claim that was released, or given to an agent."""

    issue: Issue
    lock: Lock | None  # None: never claimed
    changed: bool
    previous: str | None = None  # the former holder, if that was another


def holdings(ctx: Context) -> dict[int, Holding]:
    """The known claims with the states of their holders, by issue."""
    held = ctx.world.claims
    sights = holder_liveness.holders_of(ctx, held.values())
    return {
        issue: Holding(lock)
        if lock.is_person
        else Holding(lock, sights[lock.name].state, sights[lock.name].shown)
        for issue, lock in held.items()
    }


def verify(ctx: Context, agent: str, issue: int) -> Lock:
    """Ask the remote whether `agent` holds the issue; return its lock.

    For commands that only the holder may use. Raises RefusedError, UnknownError.
    """
    return _checked(ctx.ws, ctx.locks.read(claim_name(issue)), agent, issue, ctx.locks.clone)


def _checked(ws: Workspace, lock: Lock | None, agent: str, issue: int, clone: str) -> Lock:
    epoch = number(ws.presence(agent) or {}, "epoch")
    if lock is None or not rules.is_mine(lock, agent, epoch, clone):
        raise messages.not_mine(issue, lock, agent)
    return lock


def claim(ctx: Context, reference: str, *, steal: bool = False, reason: str = "") -> ClaimResult:
    """Claim an issue and show the claim. An issue that is already mine stays mine.

    Raises RefusedError when another holds it or it is assigned to another. `steal` overrides
    that and needs a reason; from a living holder, it also needs authority (`_may_steal`).
    Raises UnknownError when the holder cannot be determined.
    """
    if steal and not reason.strip():
        raise UsageError(
            "Taking over an issue needs a reason.",
            hint="Give a reason for the log and the former holder: --steal --reason TEXT.",
        )
    issue = ctx.tracker.get(reference)
    me = myself(ctx)
    return _claim(me, _numbered(me, issue), steal=steal, reason=reason)


def claim_next(ctx: Context, skips: Collection[int] = ()) -> ClaimResult:
    """Claim the best issue that is ready for me and not in `skips`; after a lost race, the next.

    An issue that is already mine and not blocked is the best. Raises RefusedError when there is
    none.
    """
    from ghp_agents.claims import choose_next  # not needed to list issues

    me = myself(ctx)
    held, is_sure = ctx.world.claims, False
    lost = set(map(IssueNumber, skips))
    while True:
        choice = choose_next.choose(me, held, lost)
        if choice.best:
            try:
                claimed = _claim(me, _numbered(me, choice.best))
                return claimed._replace(passed_over=choice.passed_over)
            except NamesakeError:
                raise
            except RefusedError:
                lost.add(choice.best.number)
        elif is_sure:
            raise choice.nothing
        held, is_sure = by_issue(x for x in ctx.locks.list(PREFIX) if x.holder), True


def _claim(me: ClaimContext, issue: Issue, *, steal: bool = False, reason: str = "") -> ClaimResult:
    if issue.state == "closed":
        raise messages.closed(issue)
    if not me.actor.is_person:
        stopped.refuse(me.ctx, me.name)
        if not steal:
            same_name.refuse(me.ctx, me.name)

    def decide(seen: LockView) -> ClaimResult:
        lock = seen.lock
        sight = _sight(me, lock)
        stands = rules.standing(lock, me.name, me.epoch, me.clone, lives=sight.lives)
        may_steal = stands == "held" and lock is not None and _may_steal(me, lock, sight)
        is_kept = stands == "held" and not (steal and may_steal)
        # What this clone knows is enough to take the issue: if it is outdated, the swap fails. But
        # nobody is refused, or told that the issue is theirs, because of what may be outdated.
        if is_kept or stands in ("disputed", "mine"):
            seen.confirm()
        if lock and stands == "disputed":
            raise messages.disputed(issue.number, lock)
        if lock and stands == "mine":
            return _mine(effects.registered(me), issue, lock)
        if lock and is_kept:
            raise messages.held(me, issue, lock, sight, steal=steal, may_steal=may_steal)
        # The lock decides, not the assignees: a reason to steal outweighs an assignment, too.
        if not steal and (refused := messages.assigned(me, issue, lock)):
            raise refused
        # The lock may show that another clone closed the issue, before this clone hears of that.
        ended_work.refuse(me, issue, lock)
        if not me.actor.is_person:
            same_name.take(me.ctx, me.name, force=steal)
        return _take(me, issue, lock, stands, sight, reason)

    return swap(known_view(me.ctx.locks, claim_name(issue.number)), decide)


def _sight(me: ClaimContext, lock: Lock | None) -> HolderView:
    """The holder as seen from this clone; looked up only if that matters."""
    if lock is None or lock.holder is None or rules.is_mine(lock, me.name, me.epoch, me.clone):
        return HolderView()
    return holder_liveness.holders_of(me.ctx, [lock])[lock.name]


def _may_steal(me: ClaimContext, lock: Lock, sight: HolderView) -> bool:
    """Whether I may take a claim from its living holder."""
    settings, holder = me.ctx.ws.settings, Actor(lock.holder or "", lock.is_person)
    anyone, is_silent = settings.steal == ANYONE, sight.quiet > settings.stale_after
    return rights.may_steal(
        me.actor, holder, settings.orchestrators, anyone=anyone, is_silent=is_silent
    )


def _take(
    me: ClaimContext, issue: Issue, lock: Lock | None, stands: str, sight: HolderView, reason: str
) -> ClaimResult:
    event, previous = _EVENTS[stands], lock.holder if lock else None
    if event == cause.TAKEOVER:
        reason = f"{previous} is {sight.state}" + (f": {reason}" if reason else "")
    elif event == cause.STEAL:
        reason = STOLEN + reason
    taken = me.ctx.locks.acquire(
        claim_name(issue.number), me.name, expected=lock, epoch=me.epoch, reason=reason,
        cause=Cause(event, me.name),
    )  # fmt: skip
    shown, waits_for = show_claim(effects.registered(me), issue, taken, event, previous)
    return ClaimResult(shown, taken, event, previous, waits_for)


def _mine(me: ClaimContext, issue: Issue, lock: Lock) -> ClaimResult:
    """It is mine; if the claiming process was killed before all effects, repeat them."""
    if is_shown(me, lock, "claim", "release"):
        if not effects.is_in_hand(me, issue, lock):
            effects.set_current_issue(me, issue, lock)
        return ClaimResult(issue, lock, MINE)
    before = [old for old in me.ctx.locks.history(lock.name) if old.generation < lock.generation]
    previous = before[-1].holder if before else None
    event = _event(lock.cause.kind, previous)
    shown, waits_for = show_claim(me, issue, lock, event, previous)
    return ClaimResult(shown, lock, MINE, previous, waits_for, mended=True)


def _event(kind: str, previous: str | None) -> str:
    """The ledger's event for how I got the claim."""
    if kind in (cause.STEAL, cause.ORDERED):
        return "steal"
    is_given = kind in (cause.GIVEN, cause.SWEPT, cause.CLAIM)
    return "claim" if previous is None or is_given else "takeover"


def _numbered(me: ClaimContext, issue: Issue) -> Issue:
    """The issue with a real number, which is in the lock's name. Raises UnknownError."""
    if issue.number < PROVISIONAL:
        return issue
    from ghp_agents.issues import service as issues  # rarely needed

    issues.name_provisional(me.ctx)
    named = me.ctx.tracker.get(f"I-{issue.id}")
    if named.number >= PROVISIONAL:
        raise UnknownError(
            f"{short(issue)} has only a provisional number, and the remote cannot be reached.",
            hint="Run `ghp agent-sync` when the remote is reachable, then claim it.",
        )
    return named


def release(
    ctx: Context, reference: str, *, to: str | None = None, reason: str = ""
) -> ReleasedClaim:
    """Release an issue, or give it `to` an agent in one step. An unclaimed issue stays unclaimed.

    Allowed to the holder, to people and to orchestrators; to others only if the holder is dead.
    Raises RefusedError, UnknownError.
    """
    receiver = agent_name(to) if to else None
    issue = ctx.tracker.get(reference)
    me = myself(ctx)
    if issue.number >= PROVISIONAL and receiver is None:
        return ReleasedClaim(issue, None, changed=False)
    return _release(me, _numbered(me, issue), receiver, reason)


def check_release(ctx: Context, reference: str, *, to: str | None = None) -> None:
    """Raise what `release` would raise, as far as this clone knows; changes nothing."""
    issue, me = ctx.tracker.get(reference), myself(ctx)
    lock = known_lock(ctx.locks, claim_name(issue.number))
    is_mine = _may_release(me, lock, to)
    if not is_mine and lock is not None and lock.holder is not None:
        lock = ctx.locks.read(claim_name(issue.number))
        if lock is not None and lock.holder is not None and not _may_release(me, lock, to):
            raise messages.not_mine(issue.number, lock)


def follow_assignment(ctx: Context, issue: Issue) -> ReleasedClaim | None:
    """Move an agent's claim to the one other agent that the issue is assigned to, after a person or
    an orchestrator took the assignment from the holder. None if nothing moves.

    Raises RefusedError, UnknownError.
    """
    me = myself(ctx)
    lock = known_lock(ctx.locks, claim_name(issue.number))
    if not me.decides or lock is None or lock.holder is None or lock.is_person:
        return None
    presences = ctx.store.snapshot().agents()  # people have no presence
    agents = [name for name in issue.assignees if name in presences]
    if lock.holder in issue.assignees or len(agents) != 1:
        return None
    return _release(me, issue, agents[0], "the issue was assigned to it")


def _release(
    me: ClaimContext, issue: Issue, to: str | None, reason: str, *, keep_assignee: bool = False
) -> ReleasedClaim:

    def decide(seen: LockView) -> tuple[Lock | None, Lock | None]:
        """The lock after the release, None if nothing changes; and the lock before."""
        lock = seen.lock
        may = _may_release(me, lock, to)
        if not may:
            seen.confirm()
        is_disputed = lock is not None and lock.is_disputed
        if not is_disputed and (lock.holder if lock else None) == to:
            return None, lock
        if not may:
            raise messages.not_mine(issue.number, lock)
        return _hand_over(me, seen.name, lock, to, reason), lock

    after, lock = swap(known_view(me.ctx.locks, claim_name(issue.number)), decide)
    if after is None:
        return _released(me, issue, lock, reason)
    shown = show_release(
        effects.registered(me), issue, after, lock, reason, keep_assignee=keep_assignee
    )
    previous = lock.holder if lock and lock.holder != me.name else None
    return ReleasedClaim(shown, after, changed=True, previous=previous)


def _may_release(me: ClaimContext, lock: Lock | None, to: str | None) -> bool:
    """Whether I may change the claim. Giving away an unclaimed issue needs a person or an
    orchestrator, because it decides who works on it."""
    if lock is None or lock.holder is None:
        return me.decides and (to is not None or (lock is not None and lock.is_disputed))
    is_mine = rules.is_mine(lock, me.name, me.epoch, me.clone)
    lives = me.decides or _sight(me, lock).lives  # who decides need not look at the holder
    return rights.may_release(
        me.actor, me.ctx.ws.settings.orchestrators, is_mine=is_mine, lives=lives
    )


def _hand_over(me: ClaimContext, name: str, lock: Lock | None, to: str | None, reason: str) -> Lock:
    if to is None:
        assert lock is not None, "a lock that nobody ever held cannot be released"
        by_me = Cause(cause.RELEASE, me.name)
        return me.ctx.locks.release(name, expected=lock, reason=reason, cause=by_me)
    epoch, clone = holder_liveness.life_of(me.ctx, to)
    given = f"{GIVEN_BY}{me.name}" + (f": {reason}" if reason else "")
    return me.ctx.locks.acquire(
        name, to, expected=lock, epoch=epoch, reason=given,
        cause=Cause(cause.GIVEN, me.name), clone=clone,
    )  # fmt: skip


def _released(me: ClaimContext, issue: Issue, lock: Lock | None, reason: str) -> ReleasedClaim:
    """It is already released; if my process was killed before all effects, repeat them."""
    given_by_me = (cause.GIVEN, me.name)
    if lock is None or (lock.holder and (lock.cause.kind, lock.cause.by) != given_by_me):
        return ReleasedClaim(issue, lock, changed=False)
    chain = me.ctx.locks.history(lock.name)
    previous = chain[-2] if len(chain) > 1 else None
    mine = previous is not None and rules.is_mine(previous, me.name, me.epoch, me.clone)
    if not (mine or lock.holder) or is_shown(me, lock, "release"):
        return ReleasedClaim(issue, lock, changed=False)
    shown = show_release(me, issue, lock, previous, reason or lock.reason)
    return ReleasedClaim(shown, lock, changed=False)


def close(
    ctx: Context,
    reference: str,
    message: str = "",
    *,
    require: Callable[[Issue], None] = lambda _: None,
) -> "IssueResult":
    """Close an issue and release its claim. Of the agents, only the holder may close it.

    `require` refuses an open issue that may not be closed yet. Raises RefusedError, UnknownError.
    """
    issue, actor = ctx.tracker.get(reference), ctx.ws.actor()
    mine = None if actor.is_person else _closing(ctx, actor.name, issue.number)
    if issue.state != "closed":
        require(issue)
    from ghp_agents.issues import service as issues

    outcome = issues.close(ctx, reference, message)
    if mine:
        me = myself(ctx)
        _release(me, outcome.issue, None, "closed", keep_assignee=True)
    return outcome


def _closing(ctx: Context, agent: str, issue: int) -> Lock | None:
    """The agent's lock on the issue; None if nobody holds one: then any agent may close it."""
    name, presence = claim_name(issue), ctx.ws.presence(agent) or {}
    claimed_it = number(presence, "issue") == issue and number(presence, "generation") > 0
    if not claimed_it and known_lock(ctx.locks, name) is None:
        return None  # but a claim known here may have changed elsewhere since: ask the remote
    lock = ctx.locks.read(name)
    free = lock is None or lock.holder is None
    return (
        None if free and not claimed_it else _checked(ctx.ws, lock, agent, issue, ctx.locks.clone)
    )
