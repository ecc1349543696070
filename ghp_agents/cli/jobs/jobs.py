"""`agent-jobs`: issues seen as work."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import json_choice, output, past
from ghp_agents.cli.context import (
    acting,
    say_none,
    send,
    start_background,
    sync_first,
)
from ghp_agents.cli.group import Group
from ghp_agents.cli.list_option import ListOption
from ghp_agents.cli.views import issue as issue_view
from ghp_agents.cli.views import remote_news
from ghp_agents.core.ids import count, one_line
from ghp_agents.issues.capabilities import needed
from ghp_agents.issues.issue import short
from ghp_agents.jobs import job_file, transfer
from ghp_agents.jobs import listing as services
from ghp_agents.jobs.job_state import JobState
from ghp_agents.jobs.listing import IssueJob
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.job import JobJson

CLAIMS_LEFT_OUT = (
    "Jobs in progress are shown as assigned, because claims keep no history; see `ghp agent-log "
    "--event claim`."
)
COLUMNS = ("JOB", "STATE", "PRIORITY", "DUE", "AGENT", "TITLE")
STYLES = {JobState.FAILED: "red", JobState.REVIEW: "yellow", JobState.COMPLETED: "dim"}


STATE = click.option(
    "--state", "names", type=click.Choice([*map(str, JobState)]), cls=ListOption,
    help="Only jobs in this state. Without it, all but completed ones.",
)  # fmt: skip


@click.group(
    "agent-jobs",
    cls=Group,
    epilog="Example: ghp agent-jobs --state queued,assigned",
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",  # versions of click differ
)
@STATE
@past.AT
@json_choice.option("Print the jobs as JSON.")
@click.pass_context
def jobs(ctx: click.Context, names: tuple[str, ...], at: str | None, as_json: bool) -> None:
    """List issues as jobs: queued, assigned, in progress, in review, completed or failed.

    The state follows from the claim, the assignee, the pull request and the issue itself. A job
    has failed if agents died on it so often that a person must decide.
    """
    if ctx.invoked_subcommand is not None:
        return
    app: App = ctx.obj
    then, wanted = past.time_of_issues(app, at, CLAIMS_LEFT_OUT), [*map(JobState, names)]
    if then is None:
        remote_news.hear(app)
        listed = services.read_jobs(app, wanted)
    else:
        listed = services.read_jobs(app.past(then), wanted, claimed=False)
    if as_json:
        output.as_json([_fields(job) for job in listed])
    elif listed:
        columns = [name for name in COLUMNS if name != "DUE" or any(job.due for job in listed)]
        rows = [[_row(job)[COLUMNS.index(name)] for name in columns] for job in listed]
        output.table(columns, rows, [STYLES.get(job.state, "") for job in listed])
    elif then is None:
        say_none(app, "No jobs. `ghp agent-issue new TITLE` creates one.")
    else:
        output.say("No job matched at that time.")
    if then is None:
        start_background(app)


@jobs.command("import", epilog="Example: ghp agent-jobs import jobs/queue")
@click.argument("place", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@acting
def import_files(app: App, place: Path) -> None:
    """Create an issue for each job in a YAML file, or in the YAML files of a folder.

    Importing again changes nothing. If a file changed, its open issue is changed, too. Jobs that
    are completed or failed already are not created.
    """
    files = transfer.read_files(app.cwd / place)
    with output.busy("Importing"):
        sync_first(app, only_first=True)
        done = transfer.import_jobs(app, files)
    for outcome in done:
        if outcome.issue and outcome.how != "unchanged":
            output.result(str(outcome.issue.number))
            verb = "Created" if outcome.how == "created" else "Changed"
            output.done(f"{verb} {issue_view.name(outcome.issue)} for {outcome.job.id}.")
    rest = sum(outcome.how == "unchanged" for outcome in done)
    over = sum(outcome.how == "over" for outcome in done)
    if rest:
        output.say(f"{count(rest, 'job')} had not changed.")
    if over:
        output.say(f"{count(over, 'job')} completed or failed already; not created.")
    send(app)


@jobs.command("export", epilog="Example: ghp agent-jobs export jobs/queue --state queued")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@STATE
@click.pass_obj
def export(app: App, folder: Path | None, names: tuple[str, ...]) -> None:
    """Write jobs as YAML: one file for each in FOLDER, or all to standard output."""
    remote_news.hear(app)
    listed = services.read_jobs(app, [JobState(name) for name in names])
    files = [*transfer.exported(listed, app.tracker.known(closed=True))]
    if folder is None:
        for job in files:
            output.data(output.clean(f"---\n{job_file.render(job)}".rstrip()))
        return
    changed = transfer.write(app.cwd / folder, files)
    output.done(f"Wrote {count(changed, 'file')}; {len(files) - changed} had not changed.")


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
        "result": job.result or None,
    }
