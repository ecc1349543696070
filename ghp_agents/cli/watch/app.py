"""`agent-status --watch`: the overview as a program with keys."""

import asyncio
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeVar

from textual.app import App, SuspendNotSupported
from textual.binding import Binding, BindingType

from ghp_agents.cli.context import log_unexpected
from ghp_agents.cli.watch.agent_screen import AgentScreen
from ghp_agents.cli.watch.detail_screen import DetailScreen
from ghp_agents.cli.watch.feed import Feed
from ghp_agents.cli.watch.look import Look
from ghp_agents.cli.watch.main_screen import MainScreen
from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.reports.overview import Overview

T = TypeVar("T")
END_S = 3.0  # seconds after a signal
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Watch(App[int]):
    """The program. `seconds` is a monotonic clock, from which the ages on the screen go on."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,ctrl+q", "leave", priority=True),
        Binding("ctrl+z", "suspend_process"),
    ]
    CSS = """
    AgentScreen { background: ansi_default; }
    Dialog { align: center middle; background: transparent; }
    #header, #keys { height: 1; }
    AgentList { height: 1fr; text-wrap: nowrap; text-overflow: clip; margin: 0; }
    #message { height: auto; max-height: 6; display: none; }
    #filter { height: 1; display: none; }
    .window {
        width: 76; max-width: 100%; height: auto; max-height: 90%; padding: 0 1;
        border: round ansi_blue; background: ansi_default;
    }
    .window .text { height: auto; max-height: 16; margin: 1 0; }
    .window Input { margin: 1 0; }
    """

    def __init__(self, look: Look, seconds: Callable[[], float]) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.look, self.seconds = look, seconds
        self.unexpected: Exception | None = None
        self._feed = Feed(
            look, partial(self._call, self._show), partial(self._call, self.say_error)
        )
        self.main = MainScreen()
        self._is_lent = False
        self._logged = ""

    async def on_mount(self) -> None:
        self._take_signals()
        if not self.is_headless:
            self.set_interval(1.0, self._end_without_terminal)
        await self.push_screen(self.main)
        self._feed.start()

    def on_unmount(self) -> None:
        self._feed.stop()

    def _show(self, overview: Overview) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, MainScreen | DetailScreen) and screen.is_mounted:
                screen.show(overview)

    def say(self, *lines: str) -> None:
        """Show a message on the screen below all windows."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, AgentScreen) and screen.is_mounted:
                screen.say(*lines)
                return

    def say_error(self, error: Exception) -> None:
        """Show what went wrong. What nobody expected is logged, too."""
        if isinstance(error, GhpError | OSError):
            self.say(f"Error: {error}", error.hint if isinstance(error, GhpError) else "")
            return
        text = f"Unexpected: {type(error).__name__}: {error}"
        if text != self._logged:  # the feed tries again every few seconds
            log_unexpected(error)
            self._logged = text
        self.say(text, "`ghp agent-doctor` shows the log. Please report this.")

    def do(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        """Do slow work in a thread, then something with its result. The program ends only when the
        work is done."""

        def run() -> None:
            try:
                result = work()
            except Exception as error:  # shown and logged; the watch goes on
                self.call_from_thread(self.say_error, error)
            else:
                self.call_from_thread(then, result)

        self.run_worker(run, thread=True)

    def lend(self, command: Sequence[str], cwd: str) -> list[str]:
        """Give the terminal to a program until it ends. Returns what went wrong."""
        self._is_lent = True
        try:
            with self.suspend():
                process.foreground(command, cwd=Path(cwd), env=os.environ)
        except (GhpError, OSError, SuspendNotSupported) as error:
            return [f"Error: {error}"]
        finally:
            self._is_lent = False
        return []

    def action_leave(self) -> None:
        """End the program."""
        self.exit(0)

    def _handle_exception(self, error: Exception) -> None:
        """End, and let the command report the error; Textual would print a traceback."""
        super()._handle_exception(error)
        self.unexpected = self.unexpected or error
        self._exit_renderables.clear()

    def panic(self, *renderables: object) -> None:
        """End because the terminal cannot be read any more, without a traceback."""
        self.exit(1)

    def _call(self, act: Callable[[T], None], value: T) -> None:
        """Let the program act on a value that one of the feed's threads has read."""
        if self.is_running:
            self.call_later(act, value)

    def _take_signals(self) -> None:
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._end, number)

    def _end_without_terminal(self) -> None:
        """A terminal that is gone may send no signal, and reads as an endless end of input."""
        try:
            termios.tcgetattr(sys.__stdin__ or 0)
        except (OSError, termios.error):
            self._end(signal.SIGHUP)

    def _end(self, number: int) -> None:
        if self._is_lent and number == signal.SIGINT:
            return  # Ctrl-C is for the other program
        # What is written to a terminal that is gone or stopped may wait for ever.
        alarm = threading.Timer(END_S, os._exit, (128 + number,))
        alarm.daemon = True
        alarm.start()
        self.exit(128 + number)
