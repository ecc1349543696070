"""Verify a lock: ask the remote whether the current actor holds it now.

The generation is a fencing token: the protected resource refuses a lower one than it has seen.
"""

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.claim import is_mine
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import one_line
from ghp_agents.issues.current_issue import in_hand
from ghp_agents.leases.world import NAMES
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context
from ghp_agents.state.presence import number


def verify(ctx: Context, name: str | None = None) -> Lock:
    """The lock on the resource `name`, or on the current issue. Raises RefusedError if the current
    actor does not hold it, UnknownError if that cannot be determined."""
    actor = ctx.ws.actor()
    wanted = f"{NAMES}{name}" if name is not None else _claim(ctx, actor.name)
    epoch = 0 if actor.is_person else number(ctx.ws.presence(actor.name) or {}, "epoch")
    lock = ctx.locks.read(wanted)
    if lock is None or not is_mine(lock, actor.name, epoch, ctx.locks.clone):
        raise _not_mine(wanted, lock, name)
    if holder_liveness.is_over(ctx.ws, lock, ctx.locks.clone):
        raise RefusedError(
            f"You no longer hold {wanted}: it expired at {lock.until}.",
            hint="Stop what needs it, or lease it again.",
        )
    return lock


def _claim(ctx: Context, actor: str) -> str:
    issue = in_hand(ctx, actor)
    if issue is None:
        raise RefusedError(
            "No issue is claimed here, so there is no claim to verify.",
            hint="Claim one with `ghp agent-claim`. To verify a strict lease: `ghp agent-check "
            "--verify --name NAME`.",
        )
    return claim_name(issue)


def _not_mine(wanted: str, lock: Lock | None, name: str | None) -> RefusedError:
    holder = one_line(lock.holder, 80) if lock and lock.holder else "nobody"
    since = f" since {lock.acquired_at}" if lock and lock.holder else ""
    take = f"ghp agent-lease --name {name} --strict" if name else "ghp agent-claim"
    return RefusedError(
        f"You do not hold {wanted}: {holder} holds it{since}.",
        hint=f"Stop what needs it. Run `{take}` when it is free.",
    )
