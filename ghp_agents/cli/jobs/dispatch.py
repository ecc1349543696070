"""`agent-dispatch`: assign open issues to agents."""

from typing import TYPE_CHECKING

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import acting, send, sending_last, sync_first
from ghp_agents.cli.views import issue as issue_view
from ghp_agents.core.errors import ExitCode
from ghp_agents.hotpath.quoting import named
from ghp_agents.jobs import dispatch as services
from ghp_agents.jobs.dispatch import Dispatched
from ghp_agents.jobs.dispatch_plan import Assignment
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.job import DispatchJson


@click.command("agent-dispatch", epilog="Example: ghp agent-dispatch --dry-run")
@click.option(
    "--once/--watch", "once", default=True, help="Dispatch once (default), or until interrupted."
)
@click.option("--dry-run", is_flag=True, help="Print what would be assigned, and do nothing.")
@json_choice.option("Print it as JSON; with --watch, one object per line.")
@acting
def dispatch(app: App, once: bool, dry_run: bool, as_json: bool) -> None:
    """Assign open issues to agents, the most urgent first, each to the nearest agent with room.

    An agent has at most `agents.jobsPerAgent` issues. A dispatch also moves issues away from agents
    that died, were told to stop or have too many. It moves only what a dispatch assigned; what
    people assigned stays. Only people and orchestrators can dispatch.
    """
    if not once and not dry_run:
        _watch(app, as_json)
        return
    with output.busy("Dispatching"):
        sync_first(app)
        done = services.dispatch(app, dry_run=dry_run)
    _print(done, as_json, dry_run=dry_run)
    if not dry_run and done.plan.assignments:
        send(app)
    if done.failures:
        raise click.exceptions.Exit(int(ExitCode.ERROR))


def _watch(app: App, as_json: bool) -> None:
    output.say("Dispatching; Ctrl-C ends this.")
    try:
        with sending_last(app):
            for done in services.watch(app):
                if as_json:
                    output.as_json_line(_fields(done))
                else:
                    _print(done, False, dry_run=False)
                send(app)
    except KeyboardInterrupt:
        output.say("Stopped. What was assigned stays assigned.")


def _print(done: Dispatched, as_json: bool, *, dry_run: bool) -> None:
    if as_json:
        output.as_json(_fields(done))
        return
    for assignment in done.plan.assignments:
        failure = done.failures.get(assignment.issue.number)
        if failure:
            output.error(f"Cannot assign {issue_view.name(assignment.issue)}: {failure}", "")
        else:
            output.page(_words(assignment, dry_run=dry_run))
    for words, number in sorted(done.plan.waiting.items()):
        output.say(f"{number} {'is' if number == 1 else 'are'} {words}.")
    if not done.plan.assignments and not done.plan.waiting:
        output.say("Every open issue has an agent that is alive.")


def _words(assignment: Assignment, *, dry_run: bool) -> str:
    name = issue_view.name(assignment.issue)
    if assignment.to:
        verb = "Would assign" if dry_run else "Assigned"
        return f"{verb} {name} to {named(assignment.to)}: {assignment.why}."
    verb = "Would take" if dry_run else "Took"
    return f"{verb} {name} back: {assignment.why}."


def _fields(done: Dispatched) -> "DispatchJson":
    return {
        "assigned": [
            {
                "issue": assignment.issue.number,
                "title": assignment.issue.title,
                "to": assignment.to or None,
                "previous": [*assignment.was],
                "why": assignment.why,
                "failed": done.failures.get(assignment.issue.number),
            }
            for assignment in done.plan.assignments
        ],
        "waiting": dict(done.plan.waiting),
    }
