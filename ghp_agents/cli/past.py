"""The option `--at` of lists: they show the state as it was at a time, and change nothing."""

import click

from ghp_agents.cli import complete, output
from ghp_agents.cli.params import seconds_of
from ghp_agents.core.clock import FORMS, ago, to_text
from ghp_agents.core.errors import UsageError
from ghp_agents.wiring import App

AT = click.option(
    "--at", metavar="WHEN", help=f"Show the state at that time: {FORMS}.",
    shell_complete=complete.times,
)  # fmt: skip


def time_of(app: App, at: str | None) -> float | None:
    """The time of `--at` in seconds, after a line that names it; None without the option. Raises
    UsageError."""
    if at is None:
        return None
    now = app.ws.clock.now()
    then = seconds_of(at, now)
    distance = f"{ago(now - then)} ago" if then <= now else "in the future"
    output.say(f"As of {to_text(then)} ({distance}).")
    return then


def time_of_issues(app: App, at: str | None, left_out: str) -> float | None:
    """The same for issues, with a line for what is left out. Raises UsageError if they are on
    GitHub."""
    then = _time_of_local(app, at, "issues")
    if then is not None:
        output.say(left_out)
    return then


def time_of_pulls(app: App, at: str | None) -> float | None:
    """The same for pull requests. Raises UsageError if they are on GitHub."""
    return _time_of_local(app, at, "pull requests")


def _time_of_local(app: App, at: str | None, what: str) -> float | None:
    if at is not None and app.hub is not None:
        raise UsageError(
            f"The {what} are on GitHub, and this clone keeps only their present state. --at "
            "cannot show the past.",
            hint="`ghp agent-log --at WHEN` lists what happened up to then.",
        )
    return time_of(app, at)


def time_of_messages(app: App, at: str | None) -> float | None:
    """The same for messages."""
    then = time_of(app, at)
    if then is not None:
        output.say("Claims and read marks are shown as recorded, because neither keeps a history.")
    return then


def time_of_workflows(app: App, at: str | None) -> float | None:
    """The same for workflows, whose steps can be issues and pull requests."""
    then = _time_of_local(app, at, "issues and pull requests of workflows")
    if then is not None:
        output.say("The files of workflows are shown as they are now.")
    return then


def time_of_leases(app: App, at: str | None) -> float | None:
    """The same for leases."""
    then = time_of(app, at)
    if then is not None:
        output.say("Strict leases are shown as recorded, because their locks keep no history.")
    return then
