"""Hand-over: the handoff, and then the claim, the leases and the branch go to the next agent."""

from typing import TYPE_CHECKING, NamedTuple

from ghp_agents.core.errors import NotFoundError, RefusedError, UnknownError
from ghp_agents.handoffs import awaited, service
from ghp_agents.handoffs.handoff import Handoff, Sections
from ghp_agents.handoffs.service import HandoffResult
from ghp_agents.hotpath import implicit_leases
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.ports import Context
from ghp_agents.state.presence import number

if TYPE_CHECKING:
    from ghp_agents.leases.hold import Hold


class HandOver(NamedTuple):
    """The result of a hand-over."""

    recorded: HandoffResult
    issue: Issue | None = None  # what was given to the next agent
    leases: "tuple[Hold, ...]" = ()  # that went along
    trouble: UnknownError | NotFoundError | None = None  # why the issue was not given


def hand_over(
    ctx: Context,
    *,
    issue: str | None = None,
    to: str | None = None,
    note: str = "",
    words: Sections | None = None,
    push: bool = True,
    checkpoint: bool = False,
    dry_run: bool = False,
    only_known: bool = False,
) -> HandOver:
    """Record a handoff; with `to`, give the claim, the leases and the branch to that agent.

    Without `push`, or if the remote refuses the branch, the handoff stores its commits.
    `only_known` is as for `service.handoff`. Raises UsageError, NotFoundError, RefusedError
    (another holds the issue, or the remote refuses the handoff: then nothing was given),
    NotSetUpError.
    """
    recorded = service.handoff(
        ctx, issue=issue, to=to, note=note, words=words, push=push,
        checkpoint=checkpoint, dry_run=dry_run, only_known=only_known,
    )  # fmt: skip
    if dry_run:
        return HandOver(recorded)
    if to:
        _send(ctx, recorded.handoff)
    try:
        given = pass_on(ctx, recorded.handoff)
    except (UnknownError, NotFoundError) as error:  # a branch may name any number
        return HandOver(recorded, trouble=error)
    return HandOver(recorded, given, _pass_leases(ctx, recorded.handoff))


def _send(ctx: Context, handed: Handoff) -> None:
    """Send the handoff first: without it, the next agent would have the issue and no work."""
    if ctx.store.remote() is None:
        return
    ctx.store.sync()  # if the remote cannot be reached, nothing can be given either
    for refused in ctx.store.set_aside():
        if refused.record.object == handed.name:
            mine = f"#{handed.issue} is" if handed.issue else "The work is"
            raise RefusedError(
                f"The remote refused {handed.name}: nothing was handed over. {mine} still yours.",
                hint=f"`ghp agent-sync --refused {refused.id}` shows why. Take out what it "
                "refuses, and hand over again.",
            )


def pass_on(ctx: Context, handed: Handoff) -> Issue | None:
    """Pass the claim, if the sender holds it, and the assignment to the handoff's receiver.

    Return the issue afterwards; None if there is nothing to pass on. Raises UnknownError if the
    claim cannot be passed on now.
    """
    if handed.to is None or handed.issue is None:
        return None
    if holds(ctx, handed):
        from ghp_agents.claims import service as claim

        given = claim.release(
            ctx, str(handed.issue),
            to=handed.to, reason=awaited.reason(handed),
        )  # fmt: skip
        return given.issue
    change = IssueChange(add_assignees=(handed.to,), remove_assignees=(handed.by.name,))
    return ctx.tracker.change(handed.issue, change, ctx.ws.actor())


def holds(ctx: Context, handed: Handoff) -> bool:
    """Whether the sender of a handoff holds its issue."""
    from ghp_agents.claims.claim import is_mine

    lock = ctx.world.claims.get(handed.issue or 0)
    epoch = 0 if handed.by.is_person else number(ctx.ws.presence(handed.by.name) or {}, "epoch")
    return lock is not None and is_mine(lock, handed.by.name, epoch, ctx.locks.clone)


def _pass_leases(ctx: Context, handed: Handoff) -> "tuple[Hold, ...]":
    """Give the leases to the next agent, unless the sender needs them for another issue. Its
    implicit leases end: the next agent may be in this clone."""
    if handed.by.is_person or handed.to is None:
        return ()
    if ctx.world.held_by(handed.by):
        return ()
    from ghp_agents.leases.transfer import transfer

    implicit_leases.drop_all(ctx.ws.folders, handed.by.name)
    return tuple(transfer(ctx, handed.by.name, handed.to, awaited.reason(handed)))
