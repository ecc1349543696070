"""Runs our own commands for the person who watches, and keeps what they print."""

import contextlib
import io
from threading import Lock
from typing import NamedTuple

from ghp_agents.cli import app as table
from ghp_agents.wiring import App
from ghp_agents.workspace import MYSELF

_printing = Lock()  # a process has one standard output


class CommandResult(NamedTuple):
    """How a command ended, and the lines that it printed."""

    code: int
    lines: tuple[str, ...]


def run(app: App, command: str, *args: str) -> CommandResult:
    """Run a command as the person. While it runs, what this process prints is kept and not
    shown."""
    kept = io.StringIO()
    fresh = App(app.cwd, app.environ, clock=app.ws.clock)
    with _printing, contextlib.redirect_stdout(kept), contextlib.redirect_stderr(kept):
        code = table.run([command, "--as", MYSELF, *args], fresh)
    return CommandResult(code, tuple(line for line in kept.getvalue().splitlines() if line.strip()))
