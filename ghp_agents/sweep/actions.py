"""Carry out a sweep's acts: each is a compare-and-swap, or a comment with a unique marker.

What has moved meanwhile is left alone; the next sweep decides again. If a process is killed during
an act, the next sweep finishes it: the handoff is written before the swap, and the ledger entry
after all visible effects.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, assert_never

from ghp_agents.claims.effects import ClaimContext, show_release
from ghp_agents.claims.holder_liveness import life_of
from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import CONTINUE, Question
from ghp_agents.handoffs import for_dead_agent
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.leases import service as leases
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.state.cause import CLOSED, LAST_RESORT, SWEPT, Cause
from ghp_agents.state.legacy_causes import GIVEN_BY, ISSUE_CLOSED
from ghp_agents.sweep import messages, orphans
from ghp_agents.sweep.lock import BusyError
from ghp_agents.sweep.plan import (
    STALE_LABEL,
    Absorb,
    Act,
    Close,
    EndLease,
    Finish,
    Free,
    FreeRight,
    Held,
    Prune,
    Recall,
    Tell,
    Warn,
)


class ActionResult(NamedTuple):
    """The result of an act."""

    act: Act
    done: bool
    text: str  # what was done, or why not
    failed: bool = False  # not done because of an error
    unknown: bool = False  # of these: because something could not be reached


class Sweep(NamedTuple):
    """Who sweeps, and the rules."""

    me: ClaimContext
    policy: str
    max_attempts: int
    check: Callable[[], None]  # renews the sweep lock; raises BusyError


def perform(sweep: Sweep, acts: Iterable[Act]) -> list[ActionResult]:
    """Perform the acts; a failed one stops no other.

    If the locks cannot be read, or another sweep has taken over, the rest is left.
    """
    done: list[ActionResult] = []
    left = list(acts)
    while left:
        some = [act for act in left if isinstance(act, Absorb)]
        together = some if isinstance(left[0], Absorb) else left[:1]
        try:
            sweep.check()
            done += _absorb(sweep.me, some) if together is some else [_perform(sweep, left[0])]
        except (BusyError, UnknownError) as error:
            failed, why = isinstance(error, UnknownError), f"left: {error}"
            return [*done, *(ActionResult(act, False, why, failed, failed) for act in left)]
        left = [act for act in left if act not in together]
    return done


def _perform(sweep: Sweep, act: Act) -> ActionResult:
    try:
        return ActionResult(act, not isinstance(act, Tell), _dispatch(sweep, act))
    except LockMovedError as moved:
        return ActionResult(act, False, f"left: {_moved(moved.current)}")
    except UnknownError:
        raise
    except GhpError as error:
        failed = type(error) is not RefusedError  # our own rules refuse, and nothing is wrong
        return ActionResult(act, False, f"left: {one_line(str(error), 300)}", failed)


def _moved(current: Lock | None) -> str:
    holder = current.holder if current else None
    now = f"{holder} holds it" if holder else "it is free"
    return f"it changed meanwhile: {now} (generation {(current.generation if current else 0)})"


def _dispatch(sweep: Sweep, act: Act) -> str:
    match act:
        case Close():
            return _close(sweep.me, act)
        case Free():
            return _free(sweep, act)
        case Finish():
            return _finish(sweep, act)
        case Warn():
            return _warn(sweep, act)
        case Recall():
            return _recall(sweep.me, act)
        case EndLease():
            return _end_lease(sweep.me, act)
        case FreeRight():
            return _free_lock(sweep.me, act)
        case Prune():
            return orphans.remove(sweep.me, act.orphan)
        case Tell():
            return act.text
        case Absorb():
            raise AssertionError("clones are merged together")
    assert_never(act)


def _close(me: ClaimContext, act: Close) -> str:
    issue, lock = me.ctx.tracker.get(act.issue), act.held.lock
    if issue.state != "closed":
        return f"#{act.issue} is open again"
    after = me.ctx.locks.release(
        lock.name, expected=lock, reason=ISSUE_CLOSED, cause=Cause(CLOSED, me.name)
    )
    show_release(me, issue, after, lock, ISSUE_CLOSED, keep_assignee=True)
    return f"released the claim of {lock.holder}: {ISSUE_CLOSED}"


def _free(sweep: Sweep, act: Free) -> str:
    me, to = sweep.me, act.to
    issue = me.ctx.tracker.get(act.issue)
    handoff = for_dead_agent.write(me, issue, act.held.lock, to.name if to else None)
    return _show(sweep, issue, _swap(me, act), act, handoff.name)


def _swap(me: ClaimContext, act: Free) -> Lock:
    """Swap the claim: the step that decides. Raises LockMovedError if somebody was faster."""
    lock, to = act.held.lock, act.to
    cause = Cause(SWEPT, me.name, act.held.state)
    if to is None:
        return me.ctx.locks.release(lock.name, expected=lock, reason=act.reason, cause=cause)
    return me.ctx.locks.acquire(
        lock.name, to.name, expected=lock, epoch=to.epoch, cause=cause,
        reason=f"{GIVEN_BY}{me.name}: {act.reason}", clone=life_of(me.ctx, to.name)[1],
    )  # fmt: skip


def _show(sweep: Sweep, issue: Issue, after: Lock, act: Free, handoff: str) -> str:
    """Make the visible changes; the ledger entry comes last. Return what was done."""
    me, held, attempt = sweep.me, act.held, act.attempt
    if act.gives_up:
        text = messages.question(issue.number, held, attempt)
        question = Question(held.holder, text, issue.number, CONTINUE, LAST_RESORT)
        escalation.ask_once(me.ctx, question, urgency="high")
    text = messages.freed(held, after.holder, handoff, attempt, sweep.max_attempts)
    me.ctx.tracker.comment(issue.number, text, me.actor, marker=messages.marker("freed", held))
    change = IssueChange(remove_labels=(STALE_LABEL,))
    me.ctx.tracker.change(issue.number, change, me.actor)
    reason = after.reason.removeprefix(f"{GIVEN_BY}{me.name}: ")
    show_release(me, issue, after, held.lock, reason)
    then = "asked a person" if act.gives_up else "back in the queue"
    then = f"given to {after.holder}" if after.holder else then
    return f"{held.holder} is {held.state}; {then} (attempt {attempt})"


def _finish(sweep: Sweep, act: Finish) -> str:
    me, lock = sweep.me, act.unfinished.lock
    issue = me.ctx.tracker.get(act.unfinished.issue)
    chain = me.ctx.locks.history(lock.name)
    if not chain or chain[-1].nonce != lock.nonce or len(chain) < 2:
        return "it changed meanwhile"
    before = chain[-2]
    if lock.cause.kind == CLOSED:
        show_release(me, issue, lock, before, ISSUE_CLOSED, keep_assignee=True)
        return f"finished: released the claim of {before.holder}: {ISSUE_CLOSED}"
    held = Held(before, lock.cause.ref or "dead", lapsed=True)
    freed = Free(issue.number, held, act.attempt, gives_up=act.gives_up)
    handoff = for_dead_agent.write(me, issue, before, lock.holder)
    return f"finished: {_show(sweep, issue, lock, freed, handoff.name)}"


def _warn(sweep: Sweep, act: Warn) -> str:
    """Comment first, then set the label: if the label is there, the comment is too."""
    me, held = sweep.me, act.held
    text = messages.silent(held, me.ctx.ws.settings.dead_after, sweep.policy)
    me.ctx.tracker.comment(act.issue, text, me.actor, marker=messages.marker("silent", held))
    me.ctx.tracker.change(act.issue, IssueChange(add_labels=(STALE_LABEL,)), me.actor)
    return f"{held.holder} is {held.state}: commented on the issue"


def _recall(me: ClaimContext, act: Recall) -> str:
    """Answer the warning once, as a comment cannot be withdrawn; remove the label each time."""
    held = act.held
    if held and not held.lock.is_person:
        warning, mark = messages.marker("silent", held), messages.marker("back", held)
        if any(warning in comment.body for comment in me.ctx.tracker.get(act.issue).comments):
            me.ctx.tracker.comment(act.issue, messages.back(held), me.actor, marker=mark)
    me.ctx.tracker.change(act.issue, IssueChange(remove_labels=(STALE_LABEL,)), me.actor)
    why = f"{held.holder} is not silent" if held else "no silent agent holds it"
    return f"{why}: removed the label {STALE_LABEL}"


def _end_lease(me: ClaimContext, act: EndLease) -> str:
    lease = act.lease
    why = f"{lease.holder} is gone"
    if not leases.end(me.ctx, me.actor, {lease.id: why}):
        return f"L-{lease.id[:4]} has already ended"
    return f"ended L-{lease.id[:4]} ({lease.what}): {why}"


def _free_lock(me: ClaimContext, act: FreeRight) -> str:
    lock, why = act.held.lock, f"{act.held.holder} is {act.held.state}"
    me.ctx.locks.release(lock.name, expected=lock, reason=why)
    return f"released {lock.name}: {why}"


def _absorb(me: ClaimContext, acts: Sequence[Absorb]) -> list[ActionResult]:
    result = me.ctx.store.absorb_clones([act.clone.tip for act in acts], me.actor)
    left = dict(result.left)
    results: list[ActionResult] = []
    for act in acts:
        clone = act.clone.tip.clone
        why = left.get(clone, "")
        text = f"kept clone {clone}: {why}" if why else f"merged clone {clone} into this one"
        results.append(ActionResult(act, not why, text))
    return results
