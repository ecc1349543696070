"""Issues as jobs: each with its state, who has it and when it is due."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from ghp_agents.claims import choose_next
from ghp_agents.claims.decision import Board
from ghp_agents.core.ids import one_line
from ghp_agents.handoffs import returned
from ghp_agents.handoffs.returned import Return
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.job_fields import due
from ghp_agents.issues.order import due_or_last, urgency
from ghp_agents.jobs.job_state import JobProgress, JobState, job_state
from ghp_agents.ports import Context, Snapshot
from ghp_agents.pulls import requested_changes
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.review import ReviewRecord

RESULT_LIMIT = 300  # characters


class IssueJob(NamedTuple):
    """An issue as a job."""

    issue: Issue
    state: JobState
    holder: str  # the claimant, also a dead one; empty without a claim
    due: str  # a date, or empty
    pull: int | None  # the open pull request
    result: str = ""  # of a completed one: its merge, or the last comment


def read_jobs(
    ctx: Context, wanted: Sequence[JobState] = (), *, claimed: bool = True
) -> list[IssueJob]:
    """The jobs in these states, without any the ones that are not completed: by progress, then by
    priority, due date and age. `claimed`: whether claims count, which have no past. Raises
    GhpError."""
    board = choose_next.read_board(ctx, ctx.world.claims if claimed else {})
    closed = board.done() if JobState.COMPLETED in wanted else ()
    issues = [*board.issues, *closed]
    pulls = open_pulls(ctx)
    job_states = states(ctx, board, issues, pulls)
    jobs = [
        IssueJob(
            issue, job_states[issue.id], _holder(board, issue), due(issue), _pull(pulls, issue)
        )
        for issue in issues
        if not wanted or job_states[issue.id] in wanted
    ]
    if closed:
        merged = {pull.issue: pull for pull in ctx.forge.list(closed=True) if pull.merged_as}
        jobs = [job._replace(result=_result(job.issue, merged)) for job in jobs]
    order = [*JobState]
    return sorted(
        jobs, key=lambda job: (order.index(job.state), urgency(job.issue), due_or_last(job.issue))
    )


def _result(issue: Issue, merged: Mapping[int | None, Pull]) -> str:
    """The result of a closed issue; empty if it is open, or none was recorded."""
    if issue.state != "closed":
        return ""
    pull = next((merged[number] for number in issue.numbers if number in merged), None)
    if pull is not None:
        return f"pull request #{pull.number}, merged as {(pull.merged_as or '')[:12]}"
    return one_line(issue.comments[-1].body, RESULT_LIMIT) if issue.comments else ""


def states(
    ctx: Context, board: Board, issues: Iterable[Issue], pulls: Mapping[int, Pull]
) -> Mapping[str, JobState]:
    """The state of each issue, by its id; `pulls` are the open ones. Raises GhpError."""
    returned_pulls = {entry.pull for entry in sent_back(ctx.store.snapshot(), pulls.values())}
    return {issue.id: job_state(_progress(board, issue, pulls, returned_pulls)) for issue in issues}


def _progress(
    board: Board, issue: Issue, pulls: Mapping[int, Pull], sent_back: Set[int]
) -> JobProgress:
    pull = next((pulls[number] for number in issue.numbers if number in pulls), None)
    lock = board.claim_of(issue)
    return JobProgress(
        closed=issue.state == "closed",
        gave_up=any(number in board.last_resorts for number in issue.numbers),
        pull=pull is not None and not pull.draft,
        sent_back=pull is not None and pull.number in sent_back,
        claimed=lock is not None and lock.name in board.living,
        assigned=bool(issue.assignees),
    )


def _holder(board: Board, issue: Issue) -> str:
    lock = board.claim_of(issue)
    return (lock.holder or "") if lock else ""


def _pull(pulls: Mapping[int, Pull], issue: Issue) -> int | None:
    return next((pulls[number].number for number in issue.numbers if number in pulls), None)


def open_pulls(ctx: Context) -> Mapping[int, Pull]:
    """The open pull requests by their issues. Raises GhpError."""
    return {pull.issue: pull for pull in ctx.forge.list() if pull.issue is not None}


def sent_back(snapshot: Snapshot, pulls: Iterable[Pull]) -> Sequence[Return | ReviewRecord]:
    """What sent back pull requests at their present commits: the last return of each, and each
    review that requests changes."""
    records: list[Return | ReviewRecord] = []
    for pull in pulls:
        returns = returned.read_returns(snapshot.files(returned.folder_of(pull.number)))[0]
        records += [entry for entry in returns if entry.head == pull.head][-1:]
        records += requested_changes.standing(snapshot, [pull])
    return records
