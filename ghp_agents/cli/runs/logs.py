"""`agent-logs`: the runs of this clone, and what their clients printed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.params import LIMIT, limited
from ghp_agents.cli.runs import system_logs
from ghp_agents.core.clock import age
from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import one_line, short_ids
from ghp_agents.runs import folder, processes, record, stream
from ghp_agents.runs.folder import LogReader
from ghp_agents.runs.record import ENDED, RunRecord
from ghp_agents.wiring import App
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.run import RunJson

COLUMNS = ("RUN", "AGENT", "ISSUE", "RUNNER", "BEGAN", "STATE")
STYLES = {  # of a row, by the outcome
    record.FINISHED: "green", record.FAILED: "red", record.HANDED_OVER: "red",
    record.ESCALATED: "yellow", record.ASKS: "yellow", record.UNCHANGED: "yellow",
    record.LIMITED: "yellow",
}  # fmt: skip
LOOK_EVERY = 0.5  # seconds between two looks at a log that is followed


@click.command("agent-logs", epilog="Example: ghp agent-logs worker-1 --follow")
@click.argument("name", required=False, metavar="[AGENT|RUN]", shell_complete=complete.agents)
@click.option("-f", "--follow", is_flag=True, help="Keep printing until the run ends.")
@click.option("--errors", is_flag=True, help="Print only errors.")
@click.option("--times", is_flag=True, help="Print what a run did, with the time of each step.")
@LIMIT
@json_choice.option("Print the list as JSON.")
@click.pass_obj
def logs(
    app: App,
    name: str | None,
    follow: bool,
    errors: bool,
    times: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """List the runs of this clone, newest first, or print the output of one.

    AGENT selects its last run; RUN is a run's id or the start of one (R-3f9a).

    Without a name, --follow prints what all supervisors of this clone do. --errors then prints the
    errors of supervisors, hooks and background work.
    """
    runs = folder.read_all(app.ws)
    if name is None:
        if times or (as_json and (follow or errors)):
            raise UsageError("Name an agent or a run.", hint="Run `ghp agent-logs` for a list.")
        if follow:
            system_logs.follow(app, only_errors=errors)
            return
        if errors:
            system_logs.errors(app, limit)
            return
        _list(app.ws, runs, limit, as_json=as_json)
        return
    if limit or as_json:
        raise UsageError(
            "--limit and --json are for the list of runs.", hint="Run `ghp agent-logs --json`."
        )
    run = find(runs, name)
    if times:
        system_logs.replay(app, run)
    else:
        show(app, run, follow=follow, errors=errors)


def show(app: App, run: RunRecord, *, follow: bool, errors: bool) -> None:
    """Print what a run printed, and at the end what became of it."""
    for line in _lines(app.ws, run, follow=follow):
        shown = stream.shown(line)
        if shown and (shown.is_error or not errors):
            output.data(shown.text)
            if follow:
                output.flush()
    for line in folder.refused(folder.of(app.ws, run.id)):
        output.data(f"refused: {line}")
    output.flush()
    now = next((x for x in folder.read_all(app.ws) if x.id == run.id), run)
    by = f" of {now.agent}" if now.agent else ""
    output.say(f"{now.name}{by}, {now.about}: {_state(now)}.")


def _list(ws: Workspace, runs: list[RunRecord], limit: int | None, *, as_json: bool) -> None:
    listed = limited(runs[::-1], limit)
    if as_json:
        output.as_json([_fields(ws, run) for run in listed])
        return
    if not runs:
        output.say("No runs here. `ghp agent-work` starts some.")
        return
    short, now = short_ids(run.id for run in runs), ws.clock.now()
    rows = [
        [f"R-{short[run.id]}", run.agent or "-", one_line(run.about, 24), run.runner,
         age(run.at, now), _state(run)]
        for run in listed
    ]  # fmt: skip
    output.table(COLUMNS, rows, [STYLES.get(run.outcome, "") for run in listed])


def _fields(ws: Workspace, run: RunRecord) -> "RunJson":
    return {
        "id": run.name, "agent": run.agent, "issue": run.issue, "runner": run.runner,
        "state": run.state, "outcome": run.outcome, "why": run.why, "at": run.at,
        "tries": run.tries, "turns": run.turns, "cost": run.cost, "tokens": run.tokens,
        "session": run.session, "worktree": run.path, "branch": run.branch, "task": run.task,
        "refused": len(folder.refused(folder.of(ws, run.id))),
    }  # fmt: skip


def _state(run: RunRecord) -> str:
    if run.state == ENDED:
        return f"{run.outcome}: {run.why}"
    return "running" if processes.lives(run) else "its process has ended"


def find(runs: list[RunRecord], name: str) -> RunRecord:
    """The run with this id, or the last one of this agent. Raises NotFoundError, UsageError."""
    mine = [run for run in runs if name in (run.agent, run.task.partition(" ")[0] or None)]
    if mine:
        return mine[-1]
    prefix = name.lower().removeprefix("r-")
    matches = [run for run in runs if prefix and run.id.startswith(prefix)]
    if len(matches) > 1:
        raise UsageError(f"{name[:40]!r} means several runs.", hint="Give more of its id.")
    if not matches:
        raise NotFoundError(
            f"No run or agent {name[:40]!r} is known here.", hint="`ghp agent-logs` lists them."
        )
    return matches[0]


def _lines(ws: Workspace, run: RunRecord, *, follow: bool) -> Iterator[str]:
    place = folder.of(ws, run.id)
    older = place / "log.1"
    if older.exists():
        yield from older.read_text("utf-8", "replace").splitlines()
    reader = LogReader(place)
    while True:
        lives = processes.lives(run)
        while lines := list(reader.lines()):
            yield from lines
        if not follow or not lives:
            break
        ws.clock.wait(LOOK_EVERY)
    if last := reader.last():
        yield last
