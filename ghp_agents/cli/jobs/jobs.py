"""`agent-jobs`: issues seen as work."""

from typing import TYPE_CHECKING

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import hear_first, say_none, start_background
from ghp_agents.core.ids import one_line
from ghp_agents.issues.capabilities import needed
from ghp_agents.issues.issue import short
from ghp_agents.jobs import listing as services
from ghp_agents.jobs.job_state import JobState
from ghp_agents.jobs.listing import IssueJob
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.job import JobJson

COLUMNS = ("JOB", "STATE", "PRIORITY", "DUE", "AGENT", "TITLE")
STYLES = {JobState.FAILED: "red", JobState.REVIEW: "yellow", JobState.COMPLETED: "dim"}


@click.command("agent-jobs", epilog="Example: ghp agent-jobs --state queued --state assigned")
@click.option(
    "--state", "names", type=click.Choice([*map(str, JobState)]), multiple=True,
    help="Only jobs in this state; repeatable. Without it, all but completed ones.",
)  # fmt: skip
@json_choice.option("Print the jobs as JSON.")
@click.pass_obj
def jobs(app: App, names: tuple[str, ...], as_json: bool) -> None:
    """List issues as jobs: queued, assigned, in progress, in review, completed or failed.

    The state follows from the claim, the assignee, the pull request and the issue itself. A job
    has failed if agents died on it so often that a person must decide.
    """
    hear_first(app)
    found = services.read_jobs(app, [JobState(name) for name in names])
    if as_json:
        output.as_json([_fields(job) for job in found])
    elif found:
        columns = [name for name in COLUMNS if name != "DUE" or any(job.due for job in found)]
        rows = [[_row(job)[COLUMNS.index(name)] for name in columns] for job in found]
        output.table(columns, rows, [STYLES.get(job.state, "") for job in found])
    else:
        say_none(app, "No jobs. `ghp agent-issue new TITLE` creates one.")
    start_background(app)


def _row(job: IssueJob) -> tuple[str, ...]:
    issue = job.issue
    agent = job.holder or ", ".join(issue.assignees)
    return (
        short(issue), job.state.value, issue.priority, job.due, agent, one_line(issue.title, 100),
    )  # fmt: skip


def _fields(job: IssueJob) -> "JobJson":
    issue = job.issue
    return {
        "issue": issue.number,
        "title": issue.title,
        "state": job.state.value,
        "priority": issue.priority,
        "due": job.due or None,
        "assignees": [*issue.assignees],
        "holder": job.holder or None,
        "blockedBy": [*issue.blocked_by],
        "requires": sorted(needed(issue)),
        "pull": job.pull,
    }
