"""`agent-sync`: exchange state with the remote now."""

import click

from ghp_agents.cli import output
from ghp_agents.cli.context import acting, log_unexpected
from ghp_agents.core.errors import ExitCode, GhpError
from ghp_agents.state.join import SyncReport
from ghp_agents.sync import push_now
from ghp_agents.sync import service as services
from ghp_agents.wiring import App


@click.command("agent-sync", epilog="Example: ghp agent-sync --publish")
@click.option("--publish", is_flag=True, help="Also publish the state as branch ghp-state.")
@click.option("--no-push", is_flag=True, help="Only fetch what others said.")
@click.option("--background", is_flag=True, hidden=True, help="As beats start it: silent.")
@acting
@click.pass_context
def sync(ctx: click.Context, publish: bool, no_push: bool, background: bool) -> None:
    """Fetch what the other clones said and push what this one said."""
    app: App = ctx.obj
    if background:
        _in_background(app)
        return
    with output.busy("Talking to the remote"):
        report = services.sync(
            app,
            push=not no_push, publish=publish, hub=app.hub,
        )  # fmt: skip
    _print(report)
    if report.trouble:
        ctx.exit(int(ExitCode.ERROR if report.permanent else ExitCode.UNKNOWN))


def _in_background(app: App) -> None:
    try:
        push_now.deliver(app, app.hub)
    except (GhpError, OSError) as error:
        log_unexpected(error)


def _print(report: SyncReport) -> None:
    for note in report.notes:
        output.say(note)
    if report.remote is None:
        output.done("Folded.")
        return
    unsent = f"{report.unsent} change{'s' if report.unsent != 1 else ''} kept here"
    if report.trouble:
        again = (
            "The remote will not take it" if report.permanent else "It is sent with the next sync"
        )
        output.error(
            f"{report.remote}: {report.trouble} ({unsent}).",
            f"{again}; `ghp agent-doctor` checks the remote. Nothing is lost.",
        )
        return
    news = f"news from {report.news} clone{'s' if report.news != 1 else ''}"
    sent = "sent what was new here" if report.pushed else "nothing to send"
    output.done(f"{report.remote}: {news}, {unsent if report.unsent else sent}.")
