"""Shared by all commands: the app, the option `--as`, background work and the error log."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ghp_agents.cli import complete, output
from ghp_agents.core import moment
from ghp_agents.core.errors import GhpError, NotSetUpError, RefusedError
from ghp_agents.core.ids import count
from ghp_agents.core.person import agent_here
from ghp_agents.hotpath import background, error_log, heartbeat, own_name
from ghp_agents.presence import people
from ghp_agents.wiring import App
from ghp_agents.workspace import MYSELF, current_folder

LAST_S = 5.0  # seconds that each part of the last exchange may take
NOT_LOST = "Nothing is lost; the next sync sends it. Run `ghp agent-doctor` to check the remote."
NOT_SENT = "Not sent yet: {}."
SILENT = ("agent-heartbeat", "heartbeat")
LEARNT = "Did you learn something that others need? Save it: `ghp agent-remember TEXT`."


def make_app() -> App:
    """The app for the current folder and environment."""
    try:
        cwd = current_folder()
    except NotSetUpError:  # help and version still work; a command reports the error
        cwd = Path("/nonexistent")
    app = App(cwd, os.environ)
    app.tell = output.warn
    return app


def _set_agent(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    app = ctx.find_root().obj
    if not value:
        if app and not ctx.resilient_parsing and ctx.info_name not in SILENT:
            _warn_of_first(app)
        return
    app.name = value = value.lower() if heartbeat.is_name(value.lower()) else value
    if agent_here(app.environ) is not None:
        is_me = value == MYSELF  # then no other setting is needed
        mine = None if is_me else own_name.whoami(app.ws.place, app.environ)
        orchestrators = () if is_me else app.ws.settings.orchestrators
        people.refuse(app.environ, value, mine, orchestrators)


def _warn_of_first(app: App) -> None:
    """Tell a session once that it has a name of its own, because another one has the name in its
    environment. Where hooks run, they do it at its start."""
    first, session = app.environ.get("GHP_AGENT"), heartbeat.session(app.environ)[1]
    if not (first and session):
        return
    try:
        ws = app.ws
    except GhpError:
        return  # the command reports it
    if own_name.find(ws.folders, session):
        return
    mine = own_name.whoami(ws.place, app.environ, ws.folders)
    if mine and own_name.is_second(mine, first):
        from ghp_agents.presence import namesakes

        own_name.keep(ws.folders, [session], mine, ws.clock.now())
        output.warn(namesakes.to_second(mine, first, ws.folders))


def acting(command: Callable[..., None]) -> Callable[..., None]:
    """Pass the app and add the option `--as`, for commands that act as an agent or a person."""
    return click.option(
        "--as",
        metavar="AGENT",
        expose_value=False,
        callback=_set_agent,
        shell_complete=complete.agents,
        help="Act as this agent (default: $GHP_AGENT, then the worktree's agent, then the "
        "session). People: @me is you.",
    )(click.pass_obj(command))


def start_background(app: App, *, urgent: bool = False) -> None:
    """After a command: start a background fold and sync if due; `urgent`: even if it is not due.
    Records have their own process, which was started before."""
    ws = app.ws
    settings = {"background": ws.settings.background}
    background.start_sync(ws.folders, app.environ, ws.clock.now(), settings, urgent=urgent)


def sync_first(app: App, *, only_first: bool = False) -> None:
    """Fetch from the remote before a command that needs current state, unless that just happened.

    `only_first`: fetch only if this clone has never fetched, for a new clone knows no issues.
    """
    if only_first and app.store.news_at() is not None:
        return
    from ghp_agents.presence import wait

    if app.store.remote():
        wait.sync(app, first=False)


def send(app: App, *, here: bool = False) -> bool:
    """Send changes at once, for others wait for them: in the background if that is enabled.

    `here`: send before this command ends. A failure to send is a warning, not an error; returns
    whether it was possible.
    """
    is_sent = True
    if app.environ.get(background.BOX):
        return False  # what supervises it sends it
    if here or background.is_off(app.environ, {"background": app.ws.settings.background}):
        is_sent = _send(app)
        start_background(app)
    else:
        start_background(app, urgent=True)
    return is_sent


def _send(app: App) -> bool:
    from ghp_agents.sync import push_now

    try:
        with output.busy("Syncing"):
            report = push_now.send(app)
        trouble = report.trouble and f"{report.remote}: {report.trouble}"
        if report.refused:
            output.warn(
                f"{report.remote} refused {count(report.refused, 'record')}: kept here only.",
                "`ghp agent-sync --refused` shows each, the reason, and what to do.",
            )
    except (GhpError, OSError) as error:
        trouble = str(error)
    if trouble:
        output.warn(NOT_SENT.format(trouble), NOT_LOST)
    return not trouble


def send_last(app: App) -> None:
    """Send what is left when a command ends that ran for long: perhaps no other follows it here."""
    last = App(app.cwd, app.environ, name=app.name, clock=app.clock)
    last.limit_waiting(LAST_S)
    if last.store.remote():
        report = last.store.sync()
        if report.trouble:
            output.warn(NOT_SENT.format(f"{report.remote}: {report.trouble}"), NOT_LOST)


@contextmanager
def sending_last(app: App) -> Iterator[None]:
    """`send_last` at the end of the block, also after Ctrl-C, SIGTERM and SIGHUP."""
    from ghp_agents.cli.terminal import signals

    with signals.exit_on_signals():
        try:
            yield
        finally:
            send_last(app)


def is_interactive() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and output.is_terminal()


def agrees(question: str, untouched: str = "Nothing was changed") -> bool:
    """Ask the person to confirm. Raises RefusedError without a terminal."""
    if not is_interactive():
        raise RefusedError(
            f"{untouched}: there is no terminal to ask for confirmation.",
            hint="Read the list above, then use --yes.",
        )
    try:
        return click.confirm(question, err=True)
    finally:
        moment.end()


def say_none(app: App, text: str) -> None:
    """Say that there is nothing to list; if this clone has never fetched, say how to."""
    output.say(text)
    status = app.store.sync_status()
    if status.remote and status.news_at is None:
        output.say(
            f"Never synced with {status.remote}: run `ghp agent-sync` to get news from other "
            "clones."
        )


def log_unexpected(error: BaseException) -> Path | None:
    """Write the error to the clone's log; return the log's path, or None."""
    try:
        cwd = str(Path.cwd())
    except FileNotFoundError:  # the folder was removed
        return None
    path = error_log.log_error(error, cwd, os.environ)
    return Path(path) if path else None
