"""Starts the watch, and ends it as a command ends."""

from importlib.util import find_spec

import click

from ghp_agents.cli.watch.look import Select
from ghp_agents.wiring import App

WITHOUT = "Keys, details and answers need the extra `tui`: reinstall with `ghp-agents[tui]`."


def is_installed() -> bool:
    """Whether the library that draws the screens is there: the extra `tui`."""
    return find_spec("textual") is not None


def run(app: App, select: Select) -> None:
    """Watch the agents that `select` chooses, until the person quits. After a signal, raises
    click's Exit with the code that a shell reports."""
    from ghp_agents.cli.watch.app import Watch
    from ghp_agents.cli.watch.clone_look import CloneLook

    watch = Watch(CloneLook(app, select), lambda: app.ws.clock.interval()[1])
    code = watch.run()
    if watch.unexpected:
        raise watch.unexpected
    if code:
        raise click.exceptions.Exit(code)
