"""A task in the background: a process of this program leads its group, and settles it at the end.

The truth is the run's folder. A task that was killed with its leader has a record without an end,
and its process is gone; it has failed.
"""

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.cards.container import Container
from ghp_agents.core import files, process, running
from ghp_agents.core.child_env import for_commands, shown
from ghp_agents.core.clock import ago, to_text
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.ids import agent_name, count, one_line
from ghp_agents.core.json_file import object_file
from ghp_agents.core.process import Child
from ghp_agents.hotpath.background import RUN
from ghp_agents.messages import service as messages
from ghp_agents.messages.service import Draft
from ghp_agents.ports import Context
from ghp_agents.pulls import finish_later
from ghp_agents.runs import folder, launch, processes, rights, runners, stream, task
from ghp_agents.runs.boxes import choice, enclosure
from ghp_agents.runs.boxes.enclosure import Process
from ghp_agents.runs.folder import LogReader
from ghp_agents.runs.record import ENDED, FAILED, FINISHED, RUNNING, STARTING, STOPPED, RunRecord
from ghp_agents.runs.runners import PROMPT_LIMIT
from ghp_agents.runs.stream import ClientProgress
from ghp_agents.runs.task import TaskFile
from ghp_agents.settings import left_out_variables
from ghp_agents.sync import desktop
from ghp_agents.sync.desktop import Notice
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import slots

PROGRESS = "GHP_PROGRESS"  # the file of a task's steps
COMMAND, STEPS = "command.json", "steps"
STEPS_READ = 100_000  # bytes
ARGS_LIMIT = 100
SUMMARY = 200  # characters
TOPIC = "@task.completed"


class TaskOrders(NamedTuple):
    """A task's command, its limit of time in seconds, and its declared steps."""

    command: tuple[str, ...]
    time: float
    steps: tuple[str, ...]


class StartedTask(NamedTuple):
    """A task that has begun, the process that leads it, and what its person should know."""

    run: RunRecord
    child: Child
    note: str
    unboxed: str = ""  # why nothing holds it


Lead = Callable[[str], Sequence[str]]  # the command that leads the run with this id


def start(
    ws: Workspace, declared: TaskFile, args: Sequence[str], lead: Lead, keep: Sequence[str] = ()
) -> StartedTask:
    """Start a task in this worktree. Raises RefusedError, also if its client cannot be
    held to its permissions, UsageError, GhpError, OSError."""
    by = ws.actor()
    if finish_later.is_needed(ws.environ):
        raise RefusedError(
            "This run is in a sandbox. It cannot start tasks.",
            hint="Run the command itself here, or ask a person: `ghp agent-escalate TEXT`.",
        )
    allowed = (ws.settings.runs or {}).get("tasks") or ()
    if not by.is_person and not {declared.name, "*"} & {*allowed}:
        raise RefusedError(
            f"{by.name} may not start the task {declared.name}: no person has allowed it.",
            hint="A person can start it, or allow it in their own settings: "
            f'"agents": {{"runs": {{"tasks": ["{declared.name}"]}}}}.',
        )
    id_ = files.random_hex(6)
    boot, seconds = ws.clock.interval()
    title = one_line(shlex.join([declared.name, *args]), SUMMARY)
    runner = "sh" if declared.run else runners.find(declared.runner).name
    agent = "" if declared.run else agent_name(f"{declared.name[:50]}-{id_[:4]}")
    boxed = choice.of(ws, declared.card, runner)
    run = RunRecord(
        id_, agent, 0, runner, str(ws.folder),
        ws.branch or "", to_text(ws.clock.now()), boot, seconds, task=title,
        starter="" if by.is_person else by.name,
        container=boxed.program if isinstance(boxed, Container) else "",
    )  # fmt: skip
    place = folder.of(ws, run.id)
    if declared.card:
        rights.check(declared.card, runner)
    steps = place / STEPS
    own = {RUN: run.id, PROGRESS: str(steps), "PWD": run.path, **slots.variables(ws.folder)}
    if agent:
        own |= {"GHP_AGENT": agent, processes.PROMPT_FILE: str(place / "prompt.md")}
    folder.write(ws, run)
    words, keeps, given = _command(ws, declared, args, run, place)
    prompt = task.filled(declared.prompt, args)
    files.write_atomically(place / "prompt.md", prompt.encode("utf-8", "replace"))
    kept = {*keeps, *keep}
    client = Process(words, {**for_commands(ws.environ, kept), **given, **own})
    # The box of a shell command has no stored logins. Outside of one it has, as other commands.
    if boxed or agent:
        steps.touch(mode=0o600)
        client = enclosure.enclose(ws, run, place, client, kept, boxed, [steps])
    orders = TaskOrders(tuple(client.words), declared.time, declared.steps)
    files.write_atomically(place / COMMAND, json.dumps(orders._asdict()).encode())
    try:
        launch.hide_traces(ws, runner)
        child = process.start(lead(run.id), cwd=ws.folder, env=client.environ, log=place / "log")
    except OSError as error:
        _end(ws, run, FAILED, f"cannot start: {error.strerror}")
        raise
    folder.forget_oldest(ws)
    note = left_out_variables.note(
        ws.home_folder, ws.environ, kept, "the task does", left_out_variables.OPTION
    )
    return StartedTask(run, child, note, choice.warning(ws, runner, boxed))


def _command(
    ws: Workspace, declared: TaskFile, args: Sequence[str], run: RunRecord, place: Path
) -> tuple[Sequence[str], Sequence[str], Mapping[str, str]]:
    """The command, the variables with keys that it needs, and others that it gets. Raises
    GhpError, OSError."""
    if declared.run:
        return ["/bin/sh", "-c", declared.run, declared.name, *args], (), {}
    runner = runners.find(declared.runner)
    prompt = task.filled(declared.prompt, args)[:PROMPT_LIMIT]
    fields = {"prompt": prompt, "prompt_file": str(place / "prompt.md")}
    card = declared.card
    if card:
        fields["model"] = card.model
    rules = launch.write_rules(ws, card, runner.name, place, run.path)
    words = runner.command(fields, rights=rules.args if rules else None)
    keeps = (*runner.keeps, *(rights.kept(card) if card else ()))
    return words, keeps, rules.env if rules else {}


def lead(ctx: Context, run: RunRecord) -> RunRecord:
    """Be the leader of a task: run its command, and settle it. Raises RefusedError if it was
    begun before."""
    ws, place = ctx.ws, folder.of(ctx.ws, run.id)
    if run.state != STARTING:
        raise RefusedError(f"{run.name} was started before.", hint="Start the task again.")
    run = run._replace(state=RUNNING, pid=os.getpid(), started=running.identity(os.getpid()) or "")
    folder.write(ws, run)
    running.orphan_keeper()()
    orders = orders_of(ws, run)
    listener = _Listener(run, place)

    def tick() -> None:
        listener.read()
        if folder.rotate(place):
            listener.reader.begin_again()

    try:
        code = process.watched(
            orders.command, cwd=Path(run.path), env=ws.environ, timeout=orders.time, tick=tick
        )
        why = f"it took longer than {ago(orders.time)}" if code is None else ""
    except OSError as failed:
        code, why = 127, f"cannot start: {failed.strerror}"
    listener.end()
    progress = listener.progress
    error = progress.error or (listener.last if code else "")
    run = run._replace(turns=progress.turns, cost=progress.cost, tokens=progress.tokens,
                       session=progress.session)  # fmt: skip
    if why or code or progress.error:
        detail = f": {one_line(shown(error, ws.environ), SUMMARY)}" if error else ""
        run = _end(ws, run, FAILED, why or f"it exited with code {code}{detail}")
    else:
        run = _end(
            ws,
            run,
            FINISHED,
            one_line(shown(listener.last, ws.environ), SUMMARY) or "it printed nothing",
        )
    processes.kill_below(os.getpid())
    with contextlib.suppress(GhpError, OSError):
        processes.end_container(run)
        enclosure.clean(ws, run, place)
    notify(ctx, run)
    processes.end_rest(run.id)
    return run


class _Listener:
    """Reads what a task prints."""

    def __init__(self, run: RunRecord, place: Path) -> None:
        self.reader = LogReader(place)
        self.progress = ClientProgress()
        self.last = ""

    def read(self) -> None:
        for line in self.reader.lines():
            self._take(line)

    def end(self) -> None:
        """Read the rest, also without an end of its line."""
        self.read()
        self._take(self.reader.last())

    def _take(self, line: str) -> None:
        self.progress = stream.read(self.progress, line)
        self.last = stream.last_words(self.last, line)


def cancel(ctx: Context, run: RunRecord, reason: str) -> RunRecord:
    """End all processes of a task. Raises RefusedError if it has ended, GhpError."""
    ws = ctx.ws
    if run.state == ENDED:
        raise RefusedError(
            f"{run.about} ({run.name}) has ended: {run.outcome}.", hint="There is nothing to do."
        )
    processes.end(run, ws.clock.wait)
    with contextlib.suppress(GhpError, OSError):
        enclosure.clean(ws, run, folder.of(ws, run.id))
    by = ws.actor()
    run = next((other for other in folder.read_all(ws) if other.id == run.id), run)
    if run.state == ENDED:
        return run  # it ended by itself meanwhile
    run = _end(ws, run, STOPPED, f"{by.name}: {reason}" if reason else f"{by.name} cancelled it")
    if run.starter not in ("", by.name):
        notify(ctx, run)
    return run


def notify(ctx: Context, run: RunRecord) -> None:
    """Tell who started a task, and who listens to the topic, how it ended: an agent by a message, a
    person at their desktop. A failure changes nothing: the record has the end."""
    text = one_line(f"Task {run.task} ({run.name}) {run.outcome}: {run.why}", SUMMARY)
    if not run.starter:
        desktop.show(ctx.ws, Notice(run.id, one_line(f"{run.task} {run.outcome}", 60), text))
    fields = {"task": run.task, "success": run.outcome == FINISHED, "summary": run.why}
    to = [*filter(None, [run.starter]), TOPIC]
    with contextlib.suppress(GhpError):
        messages.send(ctx, Draft(to, text, payload=json.dumps(fields)))


def _end(ws: Workspace, run: RunRecord, outcome: str, why: str) -> RunRecord:
    ended = ws.clock.interval()[1]
    run = run._replace(state=ENDED, outcome=outcome, why=why, ended=ended)
    folder.write(ws, run)
    return run


def orders_of(ws: Workspace, run: RunRecord) -> TaskOrders:
    """What a task was started with. Unreadable orders are a command that fails."""
    fields = object_file(folder.of(ws, run.id) / COMMAND).read()
    match fields:
        case {"command": list(words), "time": int() | float() as seconds, "steps": list(steps)}:
            return TaskOrders(tuple(map(str, words)), float(seconds), tuple(map(str, steps)))
    return TaskOrders(("false",), task.DEFAULT_TIME, ())


def steps_of(ws: Workspace, run: RunRecord) -> list[task.TaskStep]:
    """The steps of a task as it reported them, and those that it still has to do."""
    place = folder.of(ws, run.id)
    try:
        with (place / STEPS).open("rb") as file:
            lines = file.read(STEPS_READ).decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    return task.steps(orders_of(ws, run).steps, lines, state_of(ws, run))


def state_of(ws: Workspace, run: RunRecord) -> str:
    """The result of a task."""
    boot, seconds = ws.clock.interval()
    age = seconds - run.seconds if boot == run.boot else task.STARTS_WITHIN
    return task.state(run, lives=processes.lives(run), age=age)


def report(place: Path, text: str, percent: int | None) -> None:
    """Add a step to the file that the task's environment names. Raises OSError."""
    line = f"{percent}% {text}" if percent is not None else text
    with place.open("a", encoding="utf-8") as file:
        file.write(f"{one_line(line, task.STEP_LIMIT)}\n")


def summary(steps: Sequence[task.TaskStep]) -> str:
    """How far a task is, on one line; empty if it reports nothing."""
    if not steps:
        return ""
    at = next((step for step in steps if step.state in (task.RUNNING, FAILED)), None)
    done = sum(step.state == task.DONE for step in steps)
    if at is None:
        return f"{done} of {count(len(steps), 'step')}"
    percent = f" {at.percent}%" if at.percent is not None else ""
    return f"{done + 1} of {len(steps)}: {at.text}{percent}"
