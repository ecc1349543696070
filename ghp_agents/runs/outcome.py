"""How a run ended: what its agent left behind counts, not what the client says."""

from pathlib import Path
from typing import NamedTuple

from ghp_agents.claims.claim import is_mine
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.issues.dependencies import open_blockers
from ghp_agents.issues.issue import Issue, short
from ghp_agents.jobs import listing
from ghp_agents.leases import settled_questions
from ghp_agents.ports import Context
from ghp_agents.presence import stopping
from ghp_agents.runs.record import (
    ASKS,
    BLOCKED,
    ENDED,
    FAILED,
    FINISHED,
    LOST,
    STOPPED,
    TEXT_LIMIT,
    UNCHANGED,
    RunRecord,
)
from ghp_agents.runs.stream import ClientProgress
from ghp_agents.state.cause import CLOSED, MERGED
from ghp_agents.state.presence import number

NOT_EXECUTED = (126, 127)  # exit codes of shells: a program is no program, or not there
BOX_LACKS = "bwrap: execvp "
BEGINS_S = 10.0  # seconds; later, a program that is missing is a step of the client


class RunOutcome(NamedTuple):
    """How a run ended, and the reason in words."""

    kind: str
    why: str


def find(ctx: Context, run: RunRecord, code: int | None, error: str) -> RunOutcome:
    """How a run ended. `code` is the client's exit code, `error` its last error. Raises
    GhpError."""
    snapshot = ctx.store.snapshot()
    if run.agent in stopping.in_force(ctx, snapshot):
        return RunOutcome(STOPPED, "its agent was told to stop")
    if ctx.tracker.get(run.issue).state == "closed":
        return RunOutcome(FINISHED, f"#{run.issue} is closed")
    if not holds(ctx, run.agent, run.issue):
        ended = why_done(ctx, run.issue)
        if ended:
            return RunOutcome(FINISHED, ended)
        return RunOutcome(LOST, f"#{run.issue} is no longer {run.agent}'s")
    pull = ctx.forge.find(run.branch)
    if pull is not None and (pull.state == "open" or pull.updated_at >= run.at):
        name = "its pull request waits" if pull.waits else f"pull request #{pull.number}"
        is_back = bool(listing.sent_back(snapshot, [pull]))
        if pull.state != "open" or not is_back:
            return RunOutcome(FINISHED, name)
        if not asks(ctx, run.agent, run.issue):
            return RunOutcome(UNCHANGED, f"{name} is as it was sent back{_detail(code, error)}")
    if asks(ctx, run.agent, run.issue):
        return RunOutcome(ASKS, "it asked a person")
    blockers = waits_for(ctx, run.issue)
    if blockers:
        return RunOutcome(BLOCKED, f"it waits for {', '.join(map(short, blockers))}")
    return RunOutcome(FAILED, _failure(code, error))


def never_began(run: RunRecord, code: int | None, progress: ClientProgress, seconds: float) -> bool:
    """Whether the client of a run could not start: a shell or a sandbox did not find its program,
    or could not execute it. It has then done nothing."""
    lacks_program = code in NOT_EXECUTED or BOX_LACKS in run.why
    return (
        run.outcome == FAILED and lacks_program and seconds < BEGINS_S and not progress.has_worked
    )


def complete(ctx: Context, place: Path, run: RunRecord) -> str:
    """Send what a run in a sandbox has finished. Returns why that failed, or nothing."""
    from ghp_agents.pulls import finish_later  # few runs end in a finish outside of their box

    request = finish_later.request_of(place, run.issue)
    if request is None:
        return ""
    try:
        finish_later.complete(ctx, request, run.issue)
    except (GhpError, OSError) as error:
        return f"its finish was not sent: {error}"
    return ""


def holds(ctx: Context, agent: str, issue: int) -> bool:
    """Whether the issue is the agent's, as far as this clone knows."""
    lock = ctx.world.claims.get(issue)
    epoch = number(ctx.ws.presence(agent) or {}, "epoch")
    return lock is not None and is_mine(lock, agent, epoch, ctx.locks.clone)


def why_done(ctx: Context, issue: int) -> str:
    """Why the claim of an issue ended with its work, or nothing. Its lock tells that first: the
    merge may have been in another clone."""
    lock = ctx.world.claim_locks.get(issue)
    kind = lock.cause.kind if lock and lock.holder is None else ""
    return {MERGED: "its pull request is merged", CLOSED: f"#{issue} is closed"}.get(kind, "")


def waits_for(ctx: Context, issue: int) -> list[Issue]:
    """The open issues that block an issue, as far as this clone knows."""
    issues = ctx.tracker.known()
    mine = next((other for other in issues if issue in other.numbers), None)
    return open_blockers(mine, issues) if mine else []


def asks(ctx: Context, agent: str, issue: int) -> bool:
    """Whether a question of the agent about the issue is open."""
    escalations = settled_questions.read(ctx.world)
    return any(
        x.is_open and (x.question.agent, x.question.issue) == (agent, issue) for x in escalations
    )


def settled(
    run: RunRecord, outcome: RunOutcome, code: int | None, progress: ClientProgress
) -> RunRecord:
    """The record of a run that has ended, but for the time."""
    return run._replace(
        state=ENDED,
        outcome=outcome.kind,
        why=outcome.why,
        turns=progress.turns,
        cost=progress.cost,
        tokens=progress.tokens,
        session=progress.session or run.session,
        declined=int(outcome.kind == UNCHANGED and code == 0),
    )


def _detail(code: int | None, error: str) -> str:
    """How a client ended that did not end well."""
    return f"; {_failure(code, error)}" if code != 0 else ""


def _failure(code: int | None, error: str) -> str:
    detail = f": {one_line(error, TEXT_LIMIT).removesuffix('.')}" if error else ""
    if code is None:
        return f"it was ended from outside{detail}"
    if code == 0:
        return f"it ended without `ghp agent-finish`{detail}"
    return f"it exited with code {code}{detail}"
