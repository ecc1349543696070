"""A process that stops at a gate: before one of its file operations it waits until it is let go.

With it a race is no matter of luck: what happens meanwhile happens meanwhile.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path


class FileGate:
    """A gate in the way of the first file operation of a `tests.state.worker` that fits: an event
    of Python's audit hooks and a part of a path, as in `os.rename /queue/`."""

    def __init__(self, folder: Path, step: str) -> None:
        folder.mkdir(parents=True)
        self._arrived, self._let_go = folder / "arrived", folder / "let-go"
        for pipe in (self._arrived, self._let_go):
            os.mkfifo(pipe)
        self.env = {"GATE_FOLDER": str(folder), "GATE_STEP": step}

    def wait(self) -> int:
        """Wait until the process stands at the gate; its number."""
        return int(self._arrived.read_text())

    def open(self) -> None:
        """Let it go on."""
        self._let_go.write_text("go\n")


def stop_at_gate(environ: Mapping[str, str]) -> None:
    """In the process: stop at the gate that the environment names, if it names one."""
    if "GATE_STEP" not in environ:
        return
    wanted, fragment = environ["GATE_STEP"].split(" ")
    folder = Path(environ["GATE_FOLDER"])
    passed: list[str] = []

    def hook(event: str, args: tuple[object, ...]) -> None:
        if event != wanted or passed:
            return
        # Only files that are created count as opened.
        creates = event != "open" or bool(isinstance(args[2], int) and args[2] & os.O_EXCL)
        path = args[1] if event == "os.rename" else args[0]
        if creates and isinstance(path, str | os.PathLike) and fragment in os.fspath(path):
            passed.append(event)
            (folder / "arrived").write_text(f"{os.getpid()}\n")
            (folder / "let-go").read_text()

    sys.addaudithook(hook)
