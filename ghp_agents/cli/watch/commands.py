"""Runs our own commands for the person who watches, and keeps what they print."""

import contextlib
import io
from collections.abc import Sequence
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


def answer(app: App, question: str, text: str) -> CommandResult:
    """`agent-answer`, by the person."""
    # With the space, "-" is an answer and not standard input.
    return _run(app, ["agent-answer", "--as", MYSELF, "--", question, f"{text} "])


def stop(app: App, agent: str, reason: str) -> CommandResult:
    """`agent-stop`, by the person."""
    return _run(app, ["agent-stop", "--as", MYSELF, f"--reason={reason}", "--", agent])


def _run(app: App, argv: Sequence[str]) -> CommandResult:
    """Run one command. While it runs, what this process prints is kept and not shown."""
    kept = io.StringIO()
    fresh = App(app.cwd, app.environ, clock=app.ws.clock)
    with _printing, contextlib.redirect_stdout(kept), contextlib.redirect_stderr(kept):
        code = table.run(argv, fresh)
    return CommandResult(code, tuple(line for line in kept.getvalue().splitlines() if line.strip()))
