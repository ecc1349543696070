"""`agent-stop`: tell an agent to stop, or end its client at once."""

from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import acting, send
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import agent_name, listed
from ghp_agents.handoffs import stop_agent as services
from ghp_agents.handoffs.stop_agent import Stopped
from ghp_agents.hotpath.quoting import file, path_word
from ghp_agents.wiring import App
from ghp_agents.worktrees import kept, removal

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.agent import StoppedJson


@click.command("agent-stop", epilog="Example: ghp agent-stop worker-1 --reason 'Wrong approach'")
@click.argument("agent", metavar="NAME", shell_complete=complete.agents)
@click.option("--reason", metavar="TEXT", default="", help="Why; the agent reads it.")
@click.option("--now", is_flag=True, help="Also end the client now.")
@click.option("--keep", is_flag=True, help="The agent keeps its issues, to continue later.")
@click.option("--undo", is_flag=True, help="Let the agent continue after all.")
@json_choice.option("Print the result as JSON.")
@acting
def stop(
    app: App, agent: str, reason: str, now: bool, keep: bool, undo: bool, as_json: bool
) -> None:
    """Tell an agent to stop at its next step.

    Its work is saved in a handoff, and its issues and leases are free again. Until it has stopped,
    its edits and claims are refused. People and orchestrators can stop any agent; an agent can stop
    only itself.

    An agent in another clone stops after the next sync there. What it did not commit or push is
    only there: the same command in that clone saves it, too.

    --keep interrupts it: its work is saved in a checkpoint, and it keeps its issues. --undo lets it
    continue.

    --now ends the process that `agent-start --run` or `agent-work` started in this clone: SIGTERM,
    then SIGKILL after 5 seconds. In another clone, `agent-work` ends the run after the next sync
    there, and saves its work.
    """
    name = agent_name(agent)
    if undo and (now or reason or keep):
        raise UsageError(
            "--undo cannot be used with --now, --keep or --reason.",
            hint=f"Run `ghp agent-stop {name} --undo`.",
        )
    if app.store.remote():  # what it holds may have changed just now
        remote_news.ask(app)
    if undo:
        _undo(app, name, as_json=as_json)
        return
    with output.busy("Stopping"):
        stopped = remote_news.after_asking(
            app, lambda: services.stop(app, name, reason, now=now, keep=keep)
        )
    is_sent = not stopped.is_new or send(app, here=True)
    if as_json:
        output.as_json(fields(stopped))
    say(stopped, is_sent=is_sent)
    if now and not stopped.is_here:
        output.say("`ghp agent-work` ends its run there at once; end another client yourself.")
    elif now and stopped.client is None and not stopped.has_stopped:
        output.warn(
            f"Nothing was ended: `agent-start --run` started no client of {name} in this clone.",
            "If its client runs elsewhere, end it there.",
        )


def _undo(app: App, name: str, *, as_json: bool) -> None:
    lifted = remote_news.after_asking(app, lambda: services.lift(app, name))
    if as_json:
        output.as_json({"agent": name, "lifted": lifted is not None})
    elif lifted:
        free = "" if lifted.keeps else " Its issues stay free until it claims them again."
        output.done(f"{name} may continue.{free}")
    else:
        output.say(f"{name} was not told to stop.")
    if lifted:
        send(app)


def fields(stopped: Stopped) -> "StoppedJson":
    """The result as JSON."""
    return {
        "agent": stopped.agent,
        "stopped": stopped.has_stopped,
        "already": not stopped.is_new,
        "issues": list(stopped.issues),
        "handoffs": [*stopped.handoffs, *(handoff for _, handoff in stopped.late)],
        "clientEnded": stopped.client is True,
        "kept": stopped.keeps,
    }


def say(stopped: Stopped, *, is_sent: bool = True) -> None:
    """Say what was done; `is_sent`: other clones can know it."""
    name = stopped.agent
    if stopped.client:
        output.done(f"Ended the client of {name}.")
    _say_saved(stopped, is_sent=is_sent)
    for issue, handoff in stopped.late:
        output.done(f"Saved the work on #{issue} in {handoff}.")
    if stopped.missing:
        from ghp_agents.cli.handoff import not_saved

        output.warn(
            not_saved(stopped.missing, f"the worktree of {name}"),
            "The worktree keeps it. Copy or commit what you need there.",
        )
    for place, names in stopped.ignored:
        shown = listed([file(name) for name in names], removal.SHOWN)
        output.say(
            f"Git ignores {shown}, so no handoff has it. It stays in {path_word(str(place))}. When "
            f"that is removed, it is kept for {kept.DAYS} days in {kept.FOLDER} beside it."
        )
    for branch in stopped.stashed:
        output.say(f"A stash of {file(branch)} stays in this clone: `git stash list`.")
    if stopped.handoffs and not stopped.is_here:
        what = f"What {name} did not commit or push"
        if stopped.stored:
            last = listed(stopped.stored, removal.SHOWN)
            what = f"What {name} changed after {last}, if anything,"
        output.warn(
            f"{what} is not saved yet: it is in another clone.",
            "That clone saves it in another handoff after its next sync; `ghp agent-stop "
            f"{name} --now` there does it at once.",
        )
    is_new = stopped.is_new and not stopped.late
    if stopped.has_stopped:
        text = f"{name} has stopped." if is_new else f"{name} has already stopped."
    elif is_new:
        text = f"{name} is told to stop at its next step."
    else:
        text = f"{name} was already told to stop."
    (output.done if is_new else output.say)(text)


def _say_saved(stopped: Stopped, *, is_sent: bool) -> None:
    """Say which handoffs have the work on the issues."""
    for issue, handoff in zip(stopped.issues, stopped.handoffs, strict=True):
        free = "is free again" if is_sent else "is free again; other clones know it after a sync"
        then = f"{stopped.agent} keeps #{issue}" if stopped.keeps else f"#{issue} {free}"
        what = f"Saved what is known here of #{issue} in {handoff}"
        if handoff in stopped.stored:
            what = f"The work on #{issue} is in {handoff}"
        elif stopped.is_here:
            what = f"Saved the work on #{issue} in {handoff}"
        output.done(f"{what}; {then}.")
