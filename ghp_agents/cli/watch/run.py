"""Starts the watch, and ends it as a command ends."""

import sys
from importlib.util import find_spec

import click

from ghp_agents.cli import output
from ghp_agents.cli.watch.look import Read
from ghp_agents.core.extras import how_to_install
from ghp_agents.wiring import App

WITHOUT = "Keys, details and answers need the extra `tui`. To install it: "


def run(app: App, read: Read) -> bool:
    """Watch what `read` returns, until the person quits. Returns False if nobody can type, or,
    after a line that says so, if the library for it is not installed.

    After a signal, raises click's Exit with the code that a shell reports.
    """
    if not sys.stdin.isatty():  # there Textual would read the end of the input again and again
        return False
    if find_spec("textual") is None:
        output.say(WITHOUT + how_to_install("tui"))
        return False
    from ghp_agents.cli.watch.app import Watch
    from ghp_agents.cli.watch.clone_look import CloneLook

    watch = Watch(CloneLook(app, read), lambda: app.ws.clock.interval()[1])
    code = watch.run()
    if watch.unexpected:
        raise watch.unexpected
    if code:
        raise click.exceptions.Exit(code)
    return True
