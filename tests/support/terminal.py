"""A program on a terminal of its own, as a person would sit before it."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread
from time import monotonic

TIMEOUT_S = 60.0  # seconds without a sign of life
TOTAL_S = 300.0  # seconds, also if it draws something again and again
LOOK_S = 0.05  # seconds between two looks at what is not on the screen
CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|.)")


class Terminal:
    """What a person can do: read what has been shown so far, wait for something, type."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Read until `text` has been shown after all that was waited for before."""
        shown, until = "", monotonic() + TOTAL_S
        while text not in CONTROL.sub(" ", shown):
            left = max(0.0, min(TIMEOUT_S, until - monotonic()))
            ready, _, _ = select.select([self._descriptor], [], [], left)
            assert ready, f"{text!r} is not on the screen:\n{CONTROL.sub(' ', self.shown)[-4000:]}"
            new = self._read()
            assert new, f"It has ended without {text!r}:\n{CONTROL.sub(' ', self.shown)[-4000:]}"
            shown += new
            self.shown += new

    def wait_until(self, is_so: Callable[[], object]) -> None:
        """Read until something off the screen is so: a program whose output nobody reads stops."""
        until = monotonic() + TOTAL_S
        while not is_so():
            assert monotonic() < until, f"It is not so:\n{CONTROL.sub(' ', self.shown)[-4000:]}"
            if select.select([self._descriptor], [], [], LOOK_S)[0]:
                self.shown += self._read()

    def type(self, text: str) -> None:
        """Keys, and the end of the line as a key of its own: some take both at once as pasted."""
        os.write(self._descriptor, text.encode())

    def read_on(self) -> None:
        """Read in the background until the program ends: else it would wait for its reader."""

        def read() -> None:
            while new := self._read():
                self.shown += new

        Thread(target=read, daemon=True).start()

    def _read(self) -> str:
        try:
            return os.read(self._descriptor, 65536).decode("utf-8", "replace")
        except OSError:  # the other side is closed
            return ""


@contextlib.contextmanager
def terminal(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], columns: int = 120
) -> Iterator[Terminal]:
    """`command` on a new terminal; it is ended with the block."""
    descriptor, inside = pty.openpty()
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**env, "TERM": "xterm-256color"},
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    try:
        yield Terminal(descriptor)
    finally:
        process.kill()
        process.wait()
        os.close(descriptor)
