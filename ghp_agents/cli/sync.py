"""`agent-sync`: exchange state with the remote now."""

from functools import partial
from pathlib import Path

import click

from ghp_agents.cli import output
from ghp_agents.cli.context import acting, log_unexpected
from ghp_agents.cli.list_option import ListOption
from ghp_agents.cli.messages import channels
from ghp_agents.core.errors import ExitCode, GhpError, NotSetUpError
from ghp_agents.core.ids import count
from ghp_agents.hotpath import background, own_name
from ghp_agents.state.join import SyncReport
from ghp_agents.sync import process_watch, push_now
from ghp_agents.sync import service as services
from ghp_agents.wiring import App

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.github.api.repository import GitHubRepository


@click.command("agent-sync", epilog="Example: ghp agent-sync --publish")
@click.option("--publish", is_flag=True, help="Also publish the state as branch ghp-state.")
@click.option("--no-push", is_flag=True, help="Only fetch; push nothing.")
@click.option(
    "--refused",
    metavar="[ID]",
    is_flag=False,
    flag_value="",
    help="Only show the records that the remote refused, or the content of one.",
)
@click.option(
    "--retry", metavar="ID", cls=ListOption, help="Send a refused record again; `all` for each."
)
@click.option(
    "--drop", metavar="ID", cls=ListOption, help="Only delete a refused record; `all` for each."
)
@click.option("--background", is_flag=True, hidden=True, help="Print nothing; used by heartbeats.")
@acting
def sync(
    app: App,
    publish: bool,
    no_push: bool,
    refused: str | None,
    retry: tuple[str, ...],
    drop: tuple[str, ...],
    background: bool,
) -> None:
    """Fetch news from other clones and push what is new here.

    If the remote refuses a record, such as one with a secret, only that record stays in this clone.
    """
    if background:
        _in_background(app)
        return
    if refused is not None or retry or drop:
        from ghp_agents.cli.views import set_aside

        if refused is not None:
            set_aside.show(app, refused)
        if drop:
            set_aside.drop(app, drop)
        if not retry:
            return
        set_aside.retry(app, retry)
    channels.refresh(app)
    with output.busy("Syncing"):
        report = services.sync(
            app,
            push=not no_push, publish=publish, hub=app.hub,
        )  # fmt: skip
    _print(report)
    if report.trouble:
        raise click.exceptions.Exit(int(ExitCode.ERROR if report.permanent else ExitCode.UNKNOWN))
    if retry and report.refused:
        raise click.exceptions.Exit(int(ExitCode.REFUSED))


def _in_background(app: App) -> None:
    """Send what is new here, and stay while that is needed. Nobody sees the errors."""
    background.await_command()
    try:
        home, hub = _at_home(app)
        push_now.deliver(home, hub, partial(_at_home, home))
        process_watch.watch(home, hub)
    except (GhpError, OSError) as error:
        log_unexpected(error)


def _at_home(app: App) -> "tuple[App, GitHubRepository | None]":
    """The same parts with the settings as they are now, and what is on GitHub if it can be asked.
    They are in a folder that stays: the worktree of the command may be removed meanwhile."""
    try:
        ws = app.ws
    except NotSetUpError:  # it was removed already
        ws = App(Path(app.environ.get(background.SPAWNED, "/nonexistent")), app.environ).ws
    name = app.name or own_name.whoami(ws.place, app.environ) or None
    home = App(ws.root, app.environ, name=name, clock=ws.clock)
    try:
        return home, home.hub
    except GhpError as error:
        log_unexpected(error)
        return home, None


def _print(report: SyncReport) -> None:
    for note in report.notes:
        output.say(note)
    if report.remote is None:
        output.done("Saved in this clone.")
        return
    unsent = f"{count(report.unsent, 'change')} kept here"
    if report.trouble:
        again = "The remote refuses this" if report.permanent else "The next sync tries again"
        output.error(
            f"{report.remote}: {report.trouble.rstrip('.')} ({unsent}).",
            f"{again}. Run `ghp agent-doctor` to check the remote. Nothing is lost.",
        )
        return
    news = f"news from {count(report.news, 'clone')}"
    sent = "pushed local changes" if report.pushed else "nothing to push"
    output.done(f"{report.remote}: {news}, {unsent if report.unsent else sent}.")
