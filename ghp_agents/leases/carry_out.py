"""Carry out what people and orchestrators decided about leases, files and waiting agents."""

from collections.abc import Callable, Mapping

from ghp_agents.claims import decided_owner
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Timestamp, digest, one_line
from ghp_agents.escalations import comments
from ghp_agents.escalations import record as escalation_record
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import (
    CLOSE_IT,
    Escalation,
    Outcome,
    is_last_resort,
    picked,
)
from ghp_agents.hotpath import news_flag
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues.issue import IssueChange
from ghp_agents.leases import decisions, record
from ghp_agents.leases import service as leases
from ghp_agents.leases.coverage import WorktreeFiles
from ghp_agents.leases.decisions import Decision, Facts
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.cause import DECIDED, LAST_RESORT, OWNERS
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.world import World

_LATER = Decision("")  # until the issue is changed


def carry_out(ctx: Context) -> list[str]:
    """Carry out each decision that nobody has carried out yet; return notes for people.

    An answer has one outcome: its record is committed with the leases that it changes. What needs
    the remote and cannot reach it is left to the next sync.
    """
    snapshot = ctx.store.snapshot()
    return [note for question in _pending(ctx, snapshot) for note in _carry_out(ctx, question)]


def _pending(ctx: Context, snapshot: Snapshot) -> list[Escalation]:
    """The answered questions without an outcome, oldest first."""
    if not snapshot.present(escalation_record.ANSWERS):
        return []
    questions = escalation.present_questions(World(ctx, snapshot))
    return [x for x in questions if _changes(x) and x.answers and not x.outcome]


def _changes(question: Escalation) -> bool:
    """Whether the answer to a question changes something."""
    closes = picked(question.question, question.answers) == CLOSE_IT
    kinds = (*DECIDED, OWNERS)
    return question.question.kind in kinds or (is_last_resort(question) and closes)


def _carry_out(ctx: Context, question: Escalation) -> list[str]:
    snapshot = ctx.store.snapshot()
    on_issue = _ON_ISSUES.get(question.question.kind)
    decision = _LATER if on_issue else decisions.decide(question, _facts(ctx, snapshot))
    if decision is None:
        return []
    try:
        for log in decision.ended:
            if log.request.right:
                leases.release_lock(ctx, log.hold(), f"decided in {question.name}")
        decision = on_issue(ctx, question) if on_issue else _unblocked(ctx, question, decision)
    except GhpError as error:
        return [f"{question.name} is not carried out yet: {one_line(str(error), 200)}"]

    def commit(snapshot: Snapshot) -> tuple[Escalation | None, list[Record]]:
        pending = [x for x in _pending(ctx, snapshot) if x.id == question.id]
        if not pending or pending[0].answers[-1].id != question.answers[-1].id:
            return None, []
        current = decision
        if decision.events:
            current = decisions.decide(pending[0], _facts(ctx, snapshot)) or decision
        outcome = _outcome(question, current)
        files = [(event.path, record.encode(event)) for event in current.events]
        done = pending[0]._replace(outcomes=(*pending[0].outcomes, outcome))
        return done, [_record(ctx, snapshot, done, outcome, files)]

    done = transact(ctx.store, commit)
    if done is None or done.outcome is None:
        return []
    return [f"{done.name}: {done.outcome.text}", *comments.post(ctx, done)]


def _facts(ctx: Context, snapshot: Snapshot) -> Facts:
    world, files = LeaseWorld(ctx, snapshot), WorktreeFiles(ctx.ws)
    over = {log.id for log in world.logs if log.is_over(snapshot.clone, world.now)}
    held = frozenset(f"{x.name}@{x.generation}" for x in world.claims.values())
    return Facts(world.logs, world.expired | over, held, files.files, files.fold)


def _closed(ctx: Context, question: Escalation) -> Decision:
    """Close the issue that a question is about. Raises GhpError."""
    answer, number = question.answers[-1], question.question.issue
    issue = ctx.tracker.get(str(number))
    if issue.state != "closed":
        ctx.tracker.change(issue.number, IssueChange(state="closed"), answer.by)
    return Decision(f"#{number} is closed.", agents=(question.question.agent,))


def _owned(ctx: Context, question: Escalation) -> Decision:
    """Take an issue from all agents but the chosen one, by the authority of who answered. Raises
    GhpError."""
    answer, number, agents = (
        question.answers[-1],
        question.question.issue,
        question.question.options,
    )
    chosen = picked(question.question, question.answers)
    issue = ctx.tracker.get(str(number))
    others = tuple(name for name in agents if name != chosen)
    if issue.state == "closed":
        return Decision(f"Nothing was changed: #{number} is closed.", False, agents)
    reason = f"decided in {question.name}"
    decided_owner.give(ctx, issue, others, chosen, answer.by, reason)
    surplus = tuple(name for name in others if name in issue.assignees)
    missing = () if chosen in issue.assignees else (chosen,)
    if surplus or missing:
        change = IssueChange(add_assignees=missing, remove_assignees=surplus)
        ctx.tracker.change(issue.number, change, answer.by)
    for name in agents:
        news_flag.set_flag(ctx.ws.folders, name)
    left = ", ".join(map(named, others))
    return Decision(f"{named(chosen)} keeps #{number}. It is taken from {left}.", agents=agents)


_ON_ISSUES: Mapping[str, Callable[[Context, Escalation], Decision]] = {
    LAST_RESORT: _closed, OWNERS: _owned,
}  # fmt: skip


def _unblocked(ctx: Context, question: Escalation, decision: Decision) -> Decision:
    """Remove the blocker that an agent need not wait for."""
    if decision.unblocked is None:
        return decision
    agent, blocker = decision.unblocked
    held = {number for number, lock in ctx.world.claims.items() if lock.holder == agent}
    issues = ctx.tracker.known()
    numbers = {number for issue in issues if blocker in issue.numbers for number in issue.numbers}
    waiting = [
        issue
        for issue in issues
        if held.intersection(issue.numbers) and numbers.intersection(issue.blocked_by)
    ]
    for issue in waiting:
        gone = tuple(number for number in issue.blocked_by if number in numbers)
        ctx.tracker.change(issue.number, IssueChange(remove_blockers=gone), question.answers[-1].by)
    if waiting:
        return decision
    text = (
        f"Nothing was changed: no issue of {agent} waits for #{blocker} itself. Remove the blocker "
        "between them: `ghp agent-issue block N --by M --remove`."
    )
    return Decision(text, is_done=False, agents=(question.question.agent,))


def _outcome(question: Escalation, decision: Decision) -> Outcome:
    """The same for every clone that decides the same."""
    answer = question.answers[-1]
    identity = digest(question.id, answer.id, decision.text)
    return Outcome(
        identity, question.id, answer.id, answer.by, answer.at, answer.clock + 1, answer.clone,
        decision.text, decision.is_done, decision.agents,
    )  # fmt: skip


def _record(
    ctx: Context,
    snapshot: Snapshot,
    question: Escalation,
    outcome: Outcome,
    files: list[tuple[str, bytes]],
) -> Record:
    path = escalation_record.outcome_path_of(question.id, outcome.id)
    return Record(
        "decide", outcome.by, question.name, outcome.id,
        Timestamp(to_text(ctx.ws.clock.now())), snapshot.clock + 1,
        (*files, (path, escalation_record.render_outcome(outcome))),
        issue=question.question.issue, text=one_line(outcome.text, 200),
    )  # fmt: skip
