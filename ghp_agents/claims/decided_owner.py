"""Carries out who keeps an issue: the claim moves by the authority of who decided it."""

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.effects import ClaimContext, show_release
from ghp_agents.core.ids import Actor
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.locks.swap import LockView, known_view, swap
from ghp_agents.ports import Context
from ghp_agents.state.cause import GIVEN, Cause


def give(
    ctx: Context, issue: Issue, former: tuple[str, ...], to: str, by: Actor, reason: str
) -> None:
    """Give the claim of one of the agents `former` to the agent `to`, as the person or orchestrator
    `by` has decided, in whichever clone. Raises UnknownError."""

    def decide(seen: LockView) -> tuple[Lock | None, Lock | None]:
        lock = seen.lock
        if lock is None or lock.is_person or lock.holder not in former:
            return None, lock
        epoch, clone = holder_liveness.life_of(ctx, to)
        after = ctx.locks.acquire(
            seen.name, to, expected=lock, epoch=epoch, reason=reason,
            cause=Cause(GIVEN, by.name), clone=clone,
        )  # fmt: skip
        return after, lock

    after, before = swap(known_view(ctx.locks, claim_name(issue.number)), decide)
    if after is not None:
        show_release(ClaimContext(ctx, by, 0), issue, after, before, reason)
