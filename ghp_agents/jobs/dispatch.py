"""Assign issues to agents, and note it, so that a later dispatch can take back what it gave."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Timestamp
from ghp_agents.hotpath import news_flag
from ghp_agents.issues.issue import IssueChange, short
from ghp_agents.jobs import dispatch_plan, explain
from ghp_agents.jobs.dispatch_plan import Assignment, DispatchPlan, Limits
from ghp_agents.ports import Context
from ghp_agents.presence import wait
from ghp_agents.settings import rights
from ghp_agents.state.record import Record
from ghp_agents.workspace import now_text

EVENT = "dispatch"


class Dispatched(NamedTuple):
    """What was assigned, or would be."""

    plan: DispatchPlan
    failures: Mapping[int, str]  # by issue: why it could not be assigned


def dispatch(ctx: Context, *, dry_run: bool = False) -> Dispatched:
    """Assign open issues to agents once. Raises RefusedError, GhpError."""
    _require_authority(ctx)
    plan = read_plan(ctx)
    failures: dict[int, str] = {}
    for assignment in () if dry_run else plan.assignments:
        try:
            _assign(ctx, assignment)
        except GhpError as error:
            failures[assignment.issue.number] = str(error)
    if not dry_run:
        if plan.assignments:
            ctx.store.sync()  # of two dispatches at once, the later one sees both
        settle(ctx)
    return Dispatched(plan, failures)


def watch(ctx: Context) -> Iterator[Dispatched]:
    """Dispatch again after each sync, without an end; yields only what changed something."""
    while True:
        after = wait.sync(ctx, first=False)
        done = dispatch(ctx)
        if done.plan.assignments:
            yield done
        ctx.ws.clock.wait(max(wait.LOOK_EVERY, after - ctx.ws.clock.now()))


def read_plan(ctx: Context) -> DispatchPlan:
    """Decide, as this clone knows the issues and agents. Raises GhpError."""
    board, agents = explain.read(ctx)
    settings = ctx.ws.settings
    limits = Limits(settings.jobs_per_agent)
    workers = [agent for agent in agents if not agent.passed_over]
    return dispatch_plan.plan(board, workers, given(ctx), limits)


def given(ctx: Context) -> Mapping[int, str]:
    """The agent that the last dispatch of each issue chose."""
    return {number: names[-1] for number, names in _chosen(ctx).items()}


def settle(ctx: Context) -> list[Assignment]:
    """Take an issue from all but one agent, if dispatches in two clones gave it to several at once.
    Returns what was taken. Contacts nobody if no issue has two agents. Raises GhpError."""
    several = [
        issue for issue in ctx.tracker.known() if issue.state == "open" and len(issue.assignees) > 1
    ]
    taken = [*dispatch_plan.doubled(several, _chosen(ctx))] if several else []
    for assignment in taken:
        change = IssueChange(remove_assignees=assignment.was)
        ctx.tracker.change(assignment.issue.number, change, ctx.ws.actor())
    return taken


def _chosen(ctx: Context) -> Mapping[int, list[str]]:
    """The agents that dispatches chose, by issue, in ledger order; only of those who may assign."""
    chosen: dict[int, list[str]] = {}
    for entry in ctx.store.ledger():
        if entry.event != EVENT or entry.issue is None:
            continue
        if rights.may_assign(entry.by, ctx.ws.settings.orchestrators):
            chosen.setdefault(entry.issue, []).append(entry.text)
    return chosen


def _require_authority(ctx: Context) -> None:
    actor = ctx.ws.actor()
    if not rights.may_assign(actor, ctx.ws.settings.orchestrators):
        raise RefusedError(
            f"{actor.name} may not assign issues to others.",
            hint="A person or an orchestrator (`agents.orchestrators`) can. "
            "`ghp agent-claim --next` takes the next issue for you.",
        )


def _assign(ctx: Context, assignment: Assignment) -> None:
    """Change the assignees; the note is recorded in the same step, or before."""
    by = ctx.ws.actor()
    note = Record(
        event=EVENT,
        actor=by,
        object=short(assignment.issue),
        id=random_hex(8),
        at=Timestamp(now_text(ctx.ws)),
        clock=0,  # sorts after the records of its commit
        files=(),
        issue=assignment.issue.number,
        text=assignment.to,
    )
    change = IssueChange(
        add_assignees=(assignment.to,) if assignment.to else (), remove_assignees=assignment.was
    )
    with ctx.store.commit_with([note]):
        ctx.tracker.change(assignment.issue.number, change, by)
    for name in filter(None, (assignment.to, *assignment.was)):
        news_flag.set_flag(ctx.ws.folders, name)
