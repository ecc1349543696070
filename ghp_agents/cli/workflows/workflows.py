"""`agent-run` and `agent-workflows`: work in steps, by several agents and people."""

from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output, past
from ghp_agents.cli.context import acting, send, start_background
from ghp_agents.cli.group import Group
from ghp_agents.cli.params import read_text
from ghp_agents.cli.views import remote_news
from ghp_agents.cli.views import workflow as view
from ghp_agents.core.ids import short_ids
from ghp_agents.messages import mailbox, texts
from ghp_agents.wiring import App
from ghp_agents.workflows import engine, files, progress
from ghp_agents.workflows import service as services

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.workflow import WorkflowsJson


@click.command(
    "agent-run", epilog="Example: ghp agent-run question 'How wide is a tab?' --to worker-2"
)
@click.argument("name", metavar="WORKFLOW")
@click.argument("subject", metavar="[SUBJECT]", required=False, default="")
@click.option("--issue", metavar="N", help="The issue that it is about.",
              shell_complete=complete.issues)  # fmt: skip
@click.option(
    "--body",
    metavar="TEXT",
    default="",
    help="What the agents must know; `-` reads standard input.",
)
@click.option("--to", "agent", metavar="AGENT", default="", shell_complete=complete.agents,
              help="The agent that does the first step.")  # fmt: skip
@acting
def run(app: App, name: str, subject: str, issue: str | None, body: str, agent: str) -> None:
    """Start a workflow, and print the id of its conversation.

    Its steps are messages to agents, and questions to people. When one is done, the next sync of
    any clone sends the next one. `ghp agent-workflows` lists all workflows and their progress.
    """
    text = read_text(body, 4 * texts.BODY_LIMIT + 4, "The text") if body else ""
    result, notes = services.start(app, name, subject, text, agent, issue)
    output.result(result.message.name)
    if result.is_new:
        output.done(f"Started the workflow {name}: {result.message.subject}")
    else:
        output.say(f"Already started as {result.message.name}.")
    for note in notes:
        output.say(note)
    output.flush()
    send(app)


@click.group(
    "agent-workflows",
    cls=Group,
    epilog="Example: ghp agent-workflows show review",
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",  # versions of click differ
)
@click.option("--all", "everything", is_flag=True, help="Show completed workflows, too.")
@past.AT
@json_choice.option("Print them as JSON.")
@click.pass_context
def workflows(ctx: click.Context, everything: bool, at: str | None, as_json: bool) -> None:
    """List started workflows with their progress, and the workflows that you can start.

    A workflow is a file .ghp/workflows/NAME.md on main. Some come with this program.
    """
    if ctx.invoked_subcommand is not None:
        return
    app: App = ctx.obj
    then = past.time_of_workflows(app, at)
    if then is None:
        remote_news.hear(app)
    at_work = app if then is None else app.past(then)
    available, runs = files.known(app.ws), progress.runs(at_work, at_work.store.snapshot(), then)
    completed = [run for run in runs if run.standing == engine.COMPLETED]
    shown = runs if everything else [run for run in runs if run not in completed]
    if as_json:
        names = sorted({*available.workflows, *available.problems})
        answer: WorkflowsJson = {
            "workflows": [
                view.file_json(
                    title, available.workflows.get(title), available.problems.get(title, "")
                )
                for title in names
            ],
            "runs": [view.run_json(run) for run in runs],
        }
        output.as_json(answer)
        return
    if shown:
        short = short_ids(run.start.id for run in runs)
        now = app.ws.clock.now() if then is None else then
        rows = [view.run_row(run, short[run.start.id], now) for run in shown]
        output.table(view.RUNS, rows, [view.STYLES.get(run.standing, "") for run in shown])
        output.data("\n")
    output.table(view.FILES, [view.file_row(workflow) for workflow in available.workflows.values()])
    if completed and not everything:
        output.say(view.summary(completed))
    for name, problem in available.problems.items():
        output.warn(f"{files.FOLDER}{name}{files.SUFFIX} cannot be used: {problem}.")
    if then is None:
        start_background(app)


@workflows.command("show", epilog="Example: ghp agent-workflows show review")
@click.argument("name", metavar="WORKFLOW|ID")
@click.pass_obj
def show(app: App, name: str) -> None:
    """Print the file of a workflow, or the steps of one that was started (M-3f9a)."""
    if not name.startswith("M-"):
        output.data(output.clean(files.text(app.ws, name).rstrip()))
        return
    snapshot = app.store.snapshot()
    runs = progress.runs(app, snapshot)
    wanted = mailbox.find(snapshot, [run.start for run in runs], name)
    for run in runs:
        if run.start.id == wanted.id:
            for line in view.step_lines(run):
                output.data(line)
