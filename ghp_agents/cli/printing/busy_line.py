"""The line at the bottom of a terminal while a command takes long: what runs, how long, how far.

    `pytest -q` … 1 min 12 s  tests/test_parser.py ......

It is not rich's, which would take over both streams.
"""

import os
from collections.abc import Callable
from threading import Event, Lock
from typing import TextIO

from ghp_agents.cli.printing.tables import cells, fitted
from ghp_agents.core.clock import SystemClock
from ghp_agents.core.progress import Progress

TICK_S = 0.2  # seconds between two looks at the work
ERASE = "\r\033[K"
LEAST_DETAIL = 8  # columns; in fewer, a detail says nothing
Paint = Callable[[str], str]


class BusyLine:
    """The line, drawn by a thread of its own. `clean` makes others' text safe for a terminal, and
    `dim` paints the detail."""

    def __init__(self, what: str, terminal: TextIO, clean: Paint, dim: Paint) -> None:
        self.progress = Progress(what, self.hide)
        self._terminal, self._clean, self._dim = terminal, clean, dim
        self._lock = Lock()
        self._drawn = ""
        self._is_printing = False
        self._steps, self._began = -1, 0.0

    def keep_showing(self, over: Event, after: float) -> None:
        """Show it until `over`, once that takes longer than `after` seconds."""
        self._elapsed()
        over.wait(after)
        while not over.is_set():
            self._draw()
            over.wait(TICK_S)

    def hide(self) -> None:
        """Erase it, because something else is printed there; it comes back a little later."""
        with self._lock:
            if self._drawn:
                self._write(ERASE)
            self._drawn, self._is_printing = "", True

    def _draw(self) -> None:
        with self._lock:
            text = self._text()
            if not self._is_printing and text != self._drawn:
                self._write(ERASE + text)
                self._drawn = text
            self._is_printing = False

    def _text(self) -> str:
        room = (columns(self._terminal) or 80) - 1
        what = f"{self._line(self.progress.what)} … {duration(self._elapsed())}"
        shown = fitted(what, room)
        rest = room - cells(shown) - 2
        detail = fitted(self._line(self.progress.detail), rest) if rest >= LEAST_DETAIL else ""
        return f"{shown}  {self._dim(detail)}" if detail else shown

    def _elapsed(self) -> float:
        """Seconds since the step began."""
        now = SystemClock().interval()[1]
        if self.progress.steps != self._steps:
            self._steps, self._began = self.progress.steps, now
        return now - self._began

    def _line(self, text: str) -> str:
        return " ".join(self._clean(text).split())

    def _write(self, text: str) -> None:
        try:
            self._terminal.write(text)
            self._terminal.flush()
        except OSError:  # the terminal is gone; the work goes on
            return


def columns(terminal: TextIO) -> int:
    """How many columns a terminal has; 0 if it does not say."""
    try:
        return os.get_terminal_size(terminal.fileno()).columns
    except OSError:
        return 0


def duration(seconds: float) -> str:
    """How long something has run: `9 s`, `1 min 15 s`, `2 h 3 min`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
