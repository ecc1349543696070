"""The overview on a terminal, again and again; for installations without the watch program."""

from collections.abc import Callable

from ghp_agents.cli.terminal.frame import Frame, size
from ghp_agents.cli.views.status_screen import screen
from ghp_agents.ports import Clock
from ghp_agents.reports.overview import Overview

EVERY = 2.0  # seconds


def keep_showing(look: Callable[[], Overview], clock: Clock) -> None:
    """Show `look()` again and again, until interrupted. It is never taller than the screen."""
    frame = Frame()
    try:
        while True:
            overview = look()
            frame.show(screen(overview, *size()))
            clock.wait(EVERY)
    except KeyboardInterrupt:
        return
