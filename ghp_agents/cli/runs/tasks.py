"""`agent-tasks`: declared tasks in the background."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import acting, send, start_background
from ghp_agents.cli.group import Group
from ghp_agents.cli.list_option import ListOption
from ghp_agents.cli.params import LIMIT, limited
from ghp_agents.cli.runs import logs as run_logs
from ghp_agents.core.clock import age, ago
from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import agent_name, one_line, short_ids
from ghp_agents.runs import folder, record, task_files, task_run
from ghp_agents.runs.record import RunRecord
from ghp_agents.runs.task import DONE, PENDING, RUNNING
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.run import TaskJson

COLUMNS = ("ID", "TASK", "BEGAN", "STATE", "PROGRESS")
STYLES = {
    record.FINISHED: "green", record.FAILED: "red", record.STOPPED: "yellow", RUNNING: "cyan",
}  # fmt: skip
MARKS = {DONE: "✓", RUNNING: "…", PENDING: "·", record.FAILED: "✗"}
LEADER = "task-{name}"  # who tells the starter that a task has ended


@click.group(
    "agent-tasks", cls=Group, epilog="Example: ghp agent-tasks start index docs",
)  # fmt: skip
def tasks() -> None:
    """Run declared tasks in the background: long commands, or prompts for a client.

    A file .ghp/tasks/NAME.md on main declares the task NAME.
    """


@tasks.command("list", epilog="Example: ghp agent-tasks list")
@LIMIT
@json_choice.option("Print the tasks as JSON.")
@click.pass_obj
def list_tasks(app: App, limit: int | None, as_json: bool) -> None:
    """List the tasks of this clone, newest first, and those that you can start.

    There is no --at: tasks are processes of this machine, of which no other clone has a record.
    """
    runs = limited(_runs(app)[::-1], limit)
    if as_json:
        output.as_json([_fields(app, run) for run in runs])
        return
    if runs:
        short, now = short_ids(run.id for run in _runs(app)), app.ws.clock.now()
        states = [task_run.state_of(app.ws, run) for run in runs]
        rows = [
            [f"R-{short[run.id]}", one_line(run.task, 24), age(run.at, now), state,
             _progress(app, run, state)]
            for run, state in zip(runs, states, strict=True)
        ]  # fmt: skip
        output.table(COLUMNS, rows, [STYLES.get(state, "") for state in states])
    names = sorted(task_files.known(app.ws))
    if names:
        output.say(f"Main declares {', '.join(names)}. To start one: `ghp agent-tasks start NAME`.")
    elif not runs:
        output.say("No tasks. A file .ghp/tasks/NAME.md on main declares one; see docs/tasks.md.")


@tasks.command(
    "start", epilog="Example: ghp agent-tasks start index docs",
    context_settings={"ignore_unknown_options": True},
)  # fmt: skip
@click.option("--keep-env", metavar="NAME", cls=ListOption,
              help="Pass on this variable, although it gives access.")  # fmt: skip
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@acting
def start(app: App, keep_env: tuple[str, ...], name: str, args: tuple[str, ...]) -> None:
    """Start the task NAME with these arguments, in this worktree.

    You get a message when it has ended.
    """
    if len(args) > task_run.ARGS_LIMIT:
        raise UsageError(
            f"A task has at most {task_run.ARGS_LIMIT} arguments.", hint="Put them into a file."
        )
    declared = task_files.read(app.ws, name)
    started = task_run.start(app.ws, declared, args, _lead, keep_env)
    run = started.run
    if started.note:
        output.say(started.note)
    if started.unboxed:
        output.warn(started.unboxed)
    output.result(run.name)
    output.done(f"Started {run.task}. To follow it: `ghp agent-tasks logs {run.name} -f`.")


def _lead(run: str) -> Sequence[str]:
    return [sys.executable, "-P", "-m", "ghp_agents", "agent-tasks", "lead", run]


@tasks.command("lead", hidden=True, epilog="Example: ghp agent-tasks lead R-3f9a")
@click.argument("name")
@click.pass_obj
def lead(app: App, name: str) -> None:
    """Be the process of a task. `agent-tasks start` starts it."""
    run = _find(app, name)
    title = run.task.partition(" ")[0]
    name = run.agent or agent_name(LEADER.format(name=title[:50]))
    own = App(app.cwd, app.environ, name=name)  # who tells the starter
    task_run.lead(own, run)
    start_background(own)


@tasks.command("logs", epilog="Example: ghp agent-tasks logs index --follow")
@click.option("-f", "--follow", is_flag=True, help="Keep printing until the task ends.")
@click.option("--errors", is_flag=True, help="Print only errors.")
@click.argument("name", metavar="TASK|ID")
@click.pass_obj
def logs(app: App, name: str, follow: bool, errors: bool) -> None:
    """Print the output of a task. TASK selects the last one of this name."""
    run_logs.show(app, _find(app, name), follow=follow, errors=errors)


@tasks.command("progress", epilog="Example: ghp agent-tasks progress index")
@click.option("--step", metavar="TEXT", help="In a task: report that this step begins.")
@click.option(
    "--percent", metavar="N", type=click.IntRange(0, 100), help="The progress of the step."
)
@click.argument("name", required=False, metavar="[TASK|ID]")
@json_choice.option("Print the task as JSON.")
@click.pass_obj
def progress(
    app: App, name: str | None, step: str | None, percent: int | None, as_json: bool
) -> None:
    """Show the steps of a task, or report a step from inside it.

    In a task, `echo '45% Write the index' >> "$GHP_PROGRESS"` reports a step, too.
    """
    if step:
        place = app.environ.get(task_run.PROGRESS)
        if name or as_json or not place:
            raise UsageError(
                "--step is for the commands of a task.",
                hint="To see the steps of a task: `ghp agent-tasks progress TASK`.",
            )
        task_run.report(Path(place), step, percent)
        return
    if percent is not None or not name:
        raise UsageError("Name a task.", hint="`ghp agent-tasks list` shows them.")
    run = _find(app, name)
    if as_json:
        output.as_json(_fields(app, run))
        return
    for recorded in task_run.steps_of(app.ws, run):
        so_far = (
            f" {recorded.percent}%"
            if recorded.percent is not None and recorded.state != DONE
            else ""
        )
        output.data(output.clean(f"{MARKS[recorded.state]} {recorded.text}{so_far}"))
    output.flush()
    output.say(f"{run.name}, {run.task}: {_ended(app, run)}.")


@tasks.command("cancel", epilog="Example: ghp agent-tasks cancel index --reason 'Wrong folder'")
@click.option(
    "--reason", metavar="TEXT", default="", help="The reason; the agent that started it reads it."
)
@click.argument("name", metavar="TASK|ID")
@acting
def cancel(app: App, name: str, reason: str) -> None:
    """End a task and all its processes."""
    run = task_run.cancel(app, _find(app, name), one_line(reason, task_run.SUMMARY))
    if run.outcome == record.STOPPED:
        output.done(f"Cancelled {run.task} ({run.name}).")
    else:
        output.say(f"{run.task} ({run.name}) has ended by itself: {run.outcome}.")
    send(app)


def _runs(app: App) -> list[RunRecord]:
    return [run for run in folder.read_all(app.ws) if run.task]


def _find(app: App, name: str) -> RunRecord:
    """The last task of this name, or the one with this id. Raises NotFoundError, UsageError."""
    try:
        return run_logs.find(_runs(app), name)
    except NotFoundError:
        raise NotFoundError(
            f"No task {name[:40]!r} ran here.", hint="`ghp agent-tasks list` shows them."
        ) from None


def _progress(app: App, run: RunRecord, state: str) -> str:
    steps = task_run.summary(task_run.steps_of(app.ws, run))
    return one_line(run.why if state != RUNNING and run.why else steps, 60)


def _ended(app: App, run: RunRecord) -> str:
    state = task_run.state_of(app.ws, run)
    boot, seconds = app.ws.clock.interval()
    if state == RUNNING:
        return f"running for {ago(seconds - run.seconds)}" if boot == run.boot else state
    why = run.why or "its process has ended"
    return f"{state}: {why}"


def _fields(app: App, run: RunRecord) -> "TaskJson":
    return {
        "id": run.name, "task": run.task, "state": task_run.state_of(app.ws, run),
        "why": run.why, "at": run.at, "starter": run.starter,
        "steps": task_run.steps_of(app.ws, run),
    }  # fmt: skip
