"""Executes one command. Each step looks first, or compares and swaps.

If a process is killed in between, another one repeats the command and changes nothing twice.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.effects import ClaimContext, entry_id, show_release
from ghp_agents.claims.holder_liveness import HolderView
from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import is_last_resort
from ghp_agents.escalations.service import AnswerResult
from ghp_agents.github.accounts import Names
from ghp_agents.github.api.errors import ForbiddenError, MissingError, TokenError
from ghp_agents.github.commands import messages
from ghp_agents.github.commands.parse import ANSWER, STATUS, Command
from ghp_agents.handoffs import for_dead_agent as sweep_handoff
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues.comment_commands import ASSIGN, DONE, RETRY, STOP, Act
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.locks.lock import Lock, LockMovedError
from ghp_agents.locks.names import claim_name
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.state.cause import ORDERED, Cause
from ghp_agents.state.legacy_causes import STOLEN

TRY_AGAIN = "1"  # the first option of a last resort


def tag_of(comment: int) -> str:
    """The reference to a comment in the records of what it commanded."""
    return f"comment {comment}"


class CommandContext(NamedTuple):
    """A command, its author, its issue, and the comment that contains it."""

    me: ClaimContext  # the person, and the services to execute it with
    issue: Issue
    comment: int
    command: Command

    @property
    def tag(self) -> str:
        """The reference in the cause of a lock that this command changed."""
        return tag_of(self.comment)

    @property
    def cause(self) -> Cause:
        """The cause of a lock change by this command."""
        return Cause(ORDERED, self.me.name, self.tag)


def execute(order: CommandContext) -> Act:
    """Execute the command, or return why not. Raises UnknownError if the result is unknown,
    ForbiddenError or TokenError if this token lacks permission, and MissingError if GitHub does not
    find the issue, as right after its creation; then it is executed later."""
    try:
        return _ACTS[order.command.verb](order)
    except LockMovedError as moved:
        raise UnknownError(str(moved), hint="The next sync tries again.") from None
    except (UnknownError, TokenError, ForbiddenError, MissingError):
        raise  # another clone's token may have permission
    except GhpError as error:
        return messages.refused(order.command, str(error))


def _done(order: CommandContext, text: str, agent: str = "", generation: int = 0) -> Act:
    short = one_line(order.command.short, 80)
    return Act(order.command.verb, short, DONE, one_line(text, 300), agent, generation)


def _assign(order: CommandContext) -> Act:
    """Assign an agent. If another agent holds the claim, it loses it: the person's command is
    enough."""
    _refuse_closed(order)
    me, name = order.me, _agent_named(order)
    lock = me.ctx.locks.read(claim_name(order.issue.number))
    if lock is None or lock.holder in (None, name):
        _finish_showing(order, lock)
        _reassign(order, name)
        has = "already holds it" if lock and lock.holder else "is assigned"
        return _done(order, f"{name} {has}")
    if any(_is_by(order, past) for past in me.ctx.locks.history(lock.name)):
        return _done(order, f"{name} was assigned")  # by an earlier run; the lock has changed since
    holder = _holder_view(order, lock)
    after = _transfer_claim(order, lock, name, holder)
    _show(order, after, lock)
    _reassign(order, name)
    return _done(order, f"{name} is assigned (before: {lock.holder})")


def _agent_named(order: CommandContext) -> str:
    """The agent that a command names. Raises RefusedError for an account of a person."""
    ctx, written = order.me.ctx, order.command.name
    login = written.removeprefix("@")
    by_account = Names(ctx.ws.settings.accounts).person(login)
    if is_name(by_account):
        return by_account
    views = presence.list_agents(ctx, ctx.store.snapshot(), processes=False)
    if login in ctx.ws.settings.accounts or any(view.name == login for view in views):
        return login
    if written != login or (ctx.hub is not None and ctx.hub.may_command(login)):
        new = "; to assign a new agent, write its name without @" if written != login else ""
        raise RefusedError(
            f"{login} is no agent that is known here. To assign a GitHub user, set the issue's "
            f"assignees{new}.",
            hint="`ghp agent-status` lists the agents.",
        )
    return login


def _transfer_claim(order: CommandContext, lock: Lock, name: str, holder: HolderView) -> Lock:
    """The deciding step: the agent gets the claim if it is alive; else the claim is released."""
    me = order.me
    if not holder.lives and not lock.is_person:
        sweep_handoff.write(me, order.issue, lock, name)
    state = "" if holder.lives else f"{lock.holder} is {holder.state}; "
    reason = f"{STOLEN}{state}{me.name} by /agent assign, {order.tag}"
    if not _lives(order, name):
        return me.ctx.locks.release(lock.name, expected=lock, reason=reason, cause=order.cause)
    epoch, clone = holder_liveness.life_of(me.ctx, name)
    return me.ctx.locks.acquire(
        lock.name, name, expected=lock, epoch=epoch, reason=reason,
        cause=order.cause, clone=clone,
    )  # fmt: skip


def _reassign(order: CommandContext, name: str) -> None:
    """Set this agent's label and remove those of other agents; assigned people stay."""
    others = tuple(
        assignee for assignee in order.issue.assignees if is_name(assignee) and assignee != name
    )
    change = IssueChange(add_assignees=(name,), remove_assignees=others)
    order.me.ctx.tracker.change(order.issue.number, change, order.me.actor)


def _stop(order: CommandContext) -> Act:
    """Stop the work: a living holder is told to release the claim; a dead holder's claim is
    released here."""
    _refuse_closed(order)
    me = order.me
    lock = me.ctx.locks.read(claim_name(order.issue.number))
    if lock is None or lock.holder is None:
        _finish_showing(order, lock)
        _unassign(order)
        return _done(order, "nobody is working on it")
    if lock.is_person:
        raise RefusedError(
            f"{lock.holder}, a person, holds it.",
            hint="Ask them; people cannot be stopped by a command.",
        )
    holder = _holder_view(order, lock)
    if holder.lives:
        return _done(order, f"{lock.holder} was told to stop", lock.holder, lock.generation)
    _release_claim(order, lock, holder, "/agent stop")
    return _done(order, f"{lock.holder} is {holder.state}; its claim was released")


def _retry(order: CommandContext) -> Act:
    """Back to the queue; attempts are counted from now on."""
    _refuse_closed(order)
    me = order.me
    lock = me.ctx.locks.read(claim_name(order.issue.number))
    if lock and lock.holder:
        holder = _holder_view(order, lock)
        if holder.lives:
            return _done(order, f"the number of attempts is reset; {lock.holder} holds it")
        _release_claim(order, lock, holder, "/agent retry")
    else:
        _finish_showing(order, lock)
    _unassign(order)
    for question in escalation.questions(me.ctx.world):
        on_it = question.question.issue in order.issue.numbers
        if on_it and question.is_open and is_last_resort(question):
            _send_answer(order, question.id, TRY_AGAIN)
    return _done(order, "back in the queue")


def _release_claim(order: CommandContext, lock: Lock, holder: HolderView, what: str) -> None:
    me = order.me
    sweep_handoff.write(me, order.issue, lock, None)
    reason = f"{lock.holder} is {holder.state}; {me.name} by {what}, {order.tag}"
    after = me.ctx.locks.release(lock.name, expected=lock, reason=reason, cause=order.cause)
    _show(order, after, lock)
    _unassign(order)


def _unassign(order: CommandContext) -> None:
    agents = tuple(assignee for assignee in order.issue.assignees if is_name(assignee))
    change = IssueChange(remove_assignees=agents)
    order.me.ctx.tracker.change(order.issue.number, change, order.me.actor)


def _answer(order: CommandContext) -> Act:
    """Record the person's answer, as `agent-answer` would."""
    answered = _send_answer(order, order.command.name, order.command.text)
    return _done(order, f"{answered.escalation.name} was answered")


def _send_answer(order: CommandContext, question: str, text: str) -> AnswerResult:
    me = order.me
    return escalation.answer(me.ctx, question, text, by=me.actor, where=order.tag)


def _status(order: CommandContext) -> Act:
    """Nothing to do: the status comment is updated after every command."""
    return _done(order, "updated")


_ACTS: Mapping[str, Callable[[CommandContext], Act]] = {
    ASSIGN: _assign, STOP: _stop, RETRY: _retry, ANSWER: _answer, STATUS: _status,
}  # fmt: skip


def _refuse_closed(order: CommandContext) -> None:
    if order.issue.state == "closed":
        raise RefusedError("The issue is closed.", hint="Reopen it first.")


def _lives(order: CommandContext, name: str) -> bool:
    me = order.me
    views = presence.list_agents(me.ctx, me.ctx.store.snapshot(), processes=False)
    living = (Liveness.ACTIVE, Liveness.STALE)
    return any(view.name == name and view.liveness in living for view in views)


def _holder_view(order: CommandContext, lock: Lock) -> HolderView:
    return holder_liveness.holders_of(order.me.ctx, [lock])[lock.name]


def _is_by(order: CommandContext, lock: Lock) -> bool:
    return lock.cause.kind == ORDERED and lock.cause.ref == order.tag


def _finish_showing(order: CommandContext, lock: Lock | None) -> None:
    """Show what this command changed, in case a killed process did not."""
    if lock is None or not _is_by(order, lock):
        return
    wanted = entry_id("release", lock)
    if all(entry.id != wanted for entry in order.me.ctx.store.ledger()):
        chain = order.me.ctx.locks.history(lock.name)
        _show(order, lock, chain[-2] if len(chain) > 1 else None)


def _show(order: CommandContext, after: Lock, before: Lock | None) -> None:
    show_release(order.me, order.issue, after, before, after.reason)
