"""After too many failures: save the work, free the issue, and ask a person if no agent is left."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ghp_agents.claims import service as claims
from ghp_agents.claims.effects import myself, show_release
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import count
from ghp_agents.escalations import escalation as rules
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import CONTINUE, Question
from ghp_agents.git import worktree
from ghp_agents.handoffs import for_dead_agent, left_work
from ghp_agents.issues.capabilities import missing
from ghp_agents.leases import settled_questions
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context
from ghp_agents.presence import capabilities
from ghp_agents.presence.stop_order import StopOrder
from ghp_agents.runs import folder
from ghp_agents.runs.reaction import Reaction
from ghp_agents.runs.record import ENDED, INTERRUPTED, RunRecord
from ghp_agents.state.cause import GAVE_UP, LAST_RESORT, Cause
from ghp_agents.state.known_branches import main_commit
from ghp_agents.workspace import MYSELF, open_workspace


def free(ctx: Context, run: RunRecord, question: str = "") -> str:
    """Save the work of a failed run in a handoff and free its issue; returns where its work is.
    `question` is the question to a person; without one, another agent continues. Raises
    GhpError."""
    me = myself(ctx)
    lock = ctx.world.claims.get(run.issue)
    if lock is None or lock.holder != run.agent:
        return ""
    issue = ctx.tracker.get(run.issue)
    handoff = for_dead_agent.write(me, issue, lock, None, f"failed: {run.why}")
    reason = f"{count(run.failures, 'run')} failed: {run.why}"
    because = Cause(GAVE_UP, run.agent, question)
    after = ctx.locks.release(lock.name, expected=lock, reason=reason, cause=because)
    show_release(me, issue, after, lock, reason)
    main = main_commit(ctx.ws)
    is_new = handoff.head and not (main and worktree.contains(ctx.ws.folder, main, handoff.head))
    if handoff.work or handoff.commits or is_new:
        return f"Its work is in {handoff.name}."
    return f"It left no work; {handoff.name} has what is known."


def unbegun(ctx: Context, run: RunRecord) -> RunRecord:
    """The record of a run whose client could not start, which is no failure. The claim of a first
    run is released."""
    mine = [x for x in folder.read_all(ctx.ws) if (x.agent, x.issue) == (run.agent, run.issue)]
    if {x.id for x in mine} <= {run.id}:
        with suppress(GhpError):
            claims.release(ctx, str(run.issue), reason="its client cannot start")
    return run._replace(state=ENDED, outcome=INTERRUPTED)


def save_stopped(ctx: Context, run: RunRecord, order: StopOrder) -> Iterator[tuple[str, bool]]:
    """Save what a run has not committed or pushed, if another clone told its agent to stop: that
    clone could not. Says where its work is, and whether it could not be saved."""
    if order.clone == ctx.locks.clone or not Path(run.path).is_dir():
        return
    try:
        theirs = open_workspace(Path(run.path), ctx.ws.environ, ctx.ws.clock, MYSELF)
        handoff = left_work.save_in(ctx, run.agent, run.issue, theirs)
    except (GhpError, OSError) as error:
        yield f"The work of {run.agent} is in {run.path}: {error}", True
    else:
        if handoff:
            yield f"Its work is in {handoff.name}.", False


def drop(ctx: Context, agent: str, issue: int) -> str:
    """Save the work on an issue that a person's comment stopped, and free it; returns the handoff's
    name. Raises GhpError."""
    lock = ctx.world.claims[issue]
    handoff = for_dead_agent.write(
        myself(ctx), ctx.tracker.get(issue), lock, None, "was stopped by a comment"
    )
    claims.release(ctx, str(issue), reason=f"{agent} was stopped by a comment")
    return handoff.name


def unfit(ctx: Context, number: int, agents: Iterable[str]) -> set[str]:
    """The agents that cannot continue a failed issue: those that lack a capability; all, if another
    agent gave up on it since a person was last asked. Raises GhpError."""
    chain = reversed(ctx.locks.history(claim_name(number)))
    last = next((lock for lock in chain if lock.cause.kind == GAVE_UP), None)
    if last is not None and not last.cause.ref:
        return {*agents}
    issue, ws = ctx.tracker.get(str(number)), ctx.ws
    return {name for name in agents if missing(issue, capabilities.of(ws, name, ws.presence(name)))}


def ask(ctx: Context, run: RunRecord) -> str:
    """Ask a person how to continue, before the issue is freed; returns the question's name. Nobody
    takes the issue until the answer. Raises GhpError."""
    text = (
        f"{count(run.failures, 'run')} of {run.agent} at #{run.issue} failed in a row. "
        f"The last one, {run.name}: {run.why}. Its log: `ghp agent-logs {run.name}`. "
        "How should the work continue?"
    )
    question = Question(run.agent, text, run.issue, CONTINUE, LAST_RESORT)
    return escalation.ask_once(ctx, question, "high").escalation.name


def ask_about(ctx: Context, run: RunRecord, reaction: Reaction) -> str:
    """Ask a person about what runs could not fix, unless its agent asks already; returns the
    question's name. Raises GhpError."""
    escalations = settled_questions.read(ctx.world)
    for earlier in escalations:
        about = (earlier.question.agent, earlier.question.issue)
        if earlier.is_open and about == (run.agent, run.issue):
            return earlier.name
    text = (
        f"{count(reaction.tried, 'run')} of agents at #{run.issue} could not fix this: "
        f"{reaction.words}. How should the work continue?"
    )
    question = Question(run.agent, text, run.issue, CONTINUE, LAST_RESORT)
    return escalation.ask_once(ctx, question, "high").escalation.name


def left_to_people(ctx: Context) -> set[int]:
    """The issues that a person does not want agents to try again."""
    return {*rules.left_to_people(escalation.questions(ctx.world))}
