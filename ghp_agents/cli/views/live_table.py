"""A live table on a terminal; only `output.py` imports rich."""

from collections.abc import Callable, Sequence

from ghp_agents.cli import output
from ghp_agents.ports import Clock

EVERY = 2.0  # seconds
Frame = tuple[Sequence[str], Sequence[Sequence[str]], Sequence[str]]


def keep_showing(frame: Callable[[], Frame], clock: Clock) -> None:
    """Show `frame()` again and again, until interrupted."""
    with output.stage() as (_, show):
        try:
            while True:
                show(*frame())
                clock.wait(EVERY)
        except KeyboardInterrupt:
            return
