"""Why a claim is refused: who has the issue, since when, and what next."""

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.hotpath.quoting import named, phrase, reason, when
from ghp_agents.issues.issue import Issue, short
from ghp_agents.locks.lock import Lock

ASK = "a person can decide otherwise: `ghp agent-escalate …`"


def closed(issue: Issue) -> RefusedError:
    """For who wants to work on what is done."""
    return RefusedError(
        f"{short(issue)} is closed.",
        hint=f"`ghp agent-issue reopen {issue.number}` opens it again; `ghp agent-claim --next` "
        "finds other work.",
    )


def held(me: ClaimContext, issue: Issue, lease: Lock, sight: HolderView) -> RefusedError:
    """For who wants what a living one has."""
    if lease.holder == me.name:
        state = "; that is the same name in another clone"
    elif sight.view is None:
        state = "" if lease.is_person else "; nothing else of it was heard here"
    else:
        action = str(sight.view.presence.get("lastAction") or "")
        state = f"; it is {sight.state}" + (f", last: {phrase(action, 80)}" if action else "")
    return RefusedError(
        f"{short(issue)} is claimed by {_who(lease)} since {when(lease.acquired_at)}{state}."
        f"{reason(lease.reason, _who(lease))}",
        hint="Work on something else (`ghp agent-claim --next`), or ask a person (`ghp "
        f"agent-escalate …`). With a good reason it can be taken: `ghp agent-claim {issue.number} "
        "--steal --reason TEXT`.",
    )


def assigned(me: ClaimContext, issue: Issue, lease: Lock | None) -> RefusedError | None:
    """For who wants what is for others to do. What its last holder left does not count."""
    others = [name for name in issue.assignees if lease is None or name != lease.holder]
    if not others or me.name in issue.assignees:
        return None
    return RefusedError(
        f"{short(issue)} is assigned to {', '.join(map(named, others))}.",
        hint="Work on something else (`ghp agent-claim --next`), or have it assigned to you by who "
        f"may decide that: `ghp agent-issue assign {issue.number} {me.name}`.",
    )


def disputed(issue: int, lease: Lock) -> RefusedError:
    """For who wants, or had, what a person has to decide about."""
    return RefusedError(
        f"Nobody can have #{issue} now.{reason(lease.reason)}",
        hint="A person decides, and frees it by `ghp agent-release "
        f"{issue} --reason TEXT` or gives it to one by `--to AGENT`.",
    )


def not_mine(issue: int, lease: Lock | None, agent: str = "") -> RefusedError:
    """For who acts on an issue without having it."""
    if lease and lease.is_disputed:
        return disputed(issue, lease)
    if lease is None or lease.holder is None:
        why = f" It was given back.{reason(lease.reason)}" if lease and lease.reason else ""
        return RefusedError(
            f"Nobody holds #{issue}.{why}", hint=f"Claim it first: `ghp agent-claim {issue}`."
        )
    who = _who(lease)
    if lease.holder == agent:
        return RefusedError(
            f"#{issue} is claimed by {who} in another clone since {when(lease.acquired_at)}, "
            "not in this one.",
            hint="Work on in the other clone. If this clone is a copy and the other is gone, take "
            f"the claim over: `ghp agent-claim {issue} --steal --reason TEXT`.",
        )
    return RefusedError(
        f"#{issue} is claimed by {who} since {when(lease.acquired_at)}.{reason(lease.reason, who)}",
        hint=f"Stop working on #{issue}. `ghp agent-claim --next` finds other work; {ASK}.",
    )


def contention(issue: Issue, attempts: int) -> UnknownError:
    """For who was overtaken again and again; the others went on."""
    return UnknownError(
        f"The right to {short(issue)} changed hands {attempts} times while this was decided.",
        hint="Try again.",
    )


def _who(lease: Lock) -> str:
    return named(lease.holder or "", lease.is_person)
