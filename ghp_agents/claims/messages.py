"""Errors for refused claims: the holder, since when, and the next step."""

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.clock import ago
from ghp_agents.core.errors import RefusedError
from ghp_agents.hotpath.quoting import named, phrase, reason, when
from ghp_agents.issues.issue import Issue, short
from ghp_agents.locks.lock import Lock
from ghp_agents.presence.liveness import NO_CLIENT, Liveness
from ghp_agents.presence.stop_order import StopOrder
from ghp_agents.settings import consent
from ghp_agents.state.cause import GIVEN, ORDERED, SWEPT
from ghp_agents.state.legacy_causes import GIVEN_BY

ASK = "to ask a person: `ghp agent-escalate …`"


def closed(issue: Issue) -> RefusedError:
    """The issue is closed."""
    return RefusedError(
        f"{short(issue)} is closed.",
        hint=f"Reopen it with `ghp agent-issue reopen {issue.number}`, or find other work with "
        "`ghp agent-claim --next`.",
    )


def held(
    me: ClaimContext, issue: Issue, lock: Lock, sight: HolderView, *, steal: bool, may_steal: bool
) -> RefusedError:
    """A live holder has the issue. `steal`: I wanted to steal it, which I may not."""
    if lock.holder == me.name:
        state = "; an agent with the same name in another clone"
    elif sight.view is None:
        state = "" if lock.is_person else "; this clone has seen no heartbeat of it"
    else:
        action = str(sight.view.presence.get("lastAction") or "")
        heard = f", seen {ago(sight.quiet)} ago" if steal else ""
        state = f"; {sight.view.words}{heard}"
        state += f", last: {phrase(action, 80)}" if action else ""
    take = f"To take it over: `ghp agent-claim {issue.number} --steal --reason TEXT`."
    if not may_steal:
        take = (
            "A person or an orchestrator can give it to you: `ghp agent-release "
            f"{issue.number} --to {me.name}`.{_free(me, lock, sight)}"
        )
    return RefusedError(
        f"{short(issue)} is claimed by {_who(lock)} since {when(lock.acquired_at)}{state}."
        f"{_why(lock)}{_no_steal(me, lock) if steal else ''}",
        hint="Work on something else (`ghp agent-claim --next`) or ask a person (`ghp "
        f"agent-escalate …`). {take}",
    )


def _free(me: ClaimContext, lock: Lock, sight: HolderView) -> str:
    """How to save the work of a holder that is not seen at work, and free the issue, as a sentence
    to append."""
    is_seen = sight.view is not None and sight.state not in (NO_CLIENT, Liveness.STOPPED.value)
    if lock.is_person or lock.holder == me.name or is_seen:
        return ""
    place = f", in its clone {lock.clone}" if lock.clone not in ("", me.clone) else ""
    return (
        f" If {lock.holder} has ended, this saves its work and frees the issue{place}: `ghp "
        f"agent-stop {lock.holder} --now`."
    )


def _why(lock: Lock) -> str:
    """Why the holder has it, as a sentence to append, with who wrote it."""
    by = lock.cause.by
    if lock.cause.kind not in (GIVEN, SWEPT, ORDERED) or not by:
        return reason(lock.reason, _who(lock))
    text = lock.reason.removeprefix(f"{GIVEN_BY}{by}").removeprefix(": ")
    return reason(text, named(by))


def _no_steal(me: ClaimContext, lock: Lock) -> str:
    """Why I may not steal it, as sentences to append."""
    settings = me.ctx.ws.settings
    why = " Only people and orchestrators may steal it"
    if not lock.is_person:
        why += f", or any agent after {ago(settings.stale_after)} without a heartbeat"
    if value := settings.unagreed.get("steal"):
        return f"{why}. {consent.sentence('steal', value, settings.trunk_place)[0]}"
    return f"{why}."


def assigned(me: ClaimContext, issue: Issue, lock: Lock | None) -> RefusedError | None:
    """The issue is assigned to others, or None. An assignment of its last holder is ignored."""
    others = [name for name in issue.assignees if lock is None or name != lock.holder]
    if not others or me.name in issue.assignees:
        return None
    return RefusedError(
        f"{short(issue)} is assigned to {', '.join(map(named, others))}.",
        hint="Work on something else (`ghp agent-claim --next`), or ask a maintainer to "
        f"assign it to you: `ghp agent-issue assign {issue.number} {me.name}`.",
    )


def disputed(issue: int, lock: Lock) -> RefusedError:
    """The claim is disputed, and a person has to decide."""
    return RefusedError(
        f"#{issue} cannot be claimed now.{reason(lock.reason)}",
        hint=f"A person must free it with `ghp agent-release {issue} --reason TEXT`, or hand "
        "it over with `--to AGENT`.",
    )


def not_mine(issue: int, lock: Lock | None, agent: str = "") -> RefusedError:
    """The actor does not hold the issue."""
    if lock and lock.is_disputed:
        return disputed(issue, lock)
    if lock is None or lock.holder is None:
        why = f" It was released.{reason(lock.reason)}" if lock and lock.reason else ""
        return RefusedError(
            f"Nobody holds #{issue}.{why}", hint=f"Claim it first: `ghp agent-claim {issue}`."
        )
    who = _who(lock)
    if lock.holder == agent:
        return RefusedError(
            f"#{issue} is claimed by {who} in another clone since {when(lock.acquired_at)}, "
            "not in this one.",
            hint="Continue in the other clone. If this clone is a copy and the other is gone, "
            f"take over: `ghp agent-claim {issue} --steal --reason TEXT`.",
        )
    return RefusedError(
        f"#{issue} is claimed by {who} since {when(lock.acquired_at)}.{_why(lock)}",
        hint=f"Leave #{issue} to {who}. `ghp agent-claim --next` finds other work; {ASK}.",
    )


def stopped(order: StopOrder) -> RefusedError:
    """The agent was told to stop."""
    by = named(order.by.name, order.by.is_person)
    return RefusedError(
        f"{by} told {named(order.agent)} to stop.{reason(order.reason)}",
        hint="End your turn. Only a person or an orchestrator can let you continue: "
        f"`ghp agent-stop {order.agent} --undo`.",
    )


def _who(lock: Lock) -> str:
    return named(lock.holder or "", lock.is_person)
