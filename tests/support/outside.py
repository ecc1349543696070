"""What tests need from outside: Node, and packages of npm and pip. Without it they are skipped.

One attempt is made in a run of the tests, and one line printed.
"""

import os
import pwd
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support import guard
from tools.clients import BrokenError, UnreachableError, one_at_a_time

Needed = TypeVar("Needed")
NEEDS = "needs "
# Of all that npm and pip print, the line that says why.
_REASONS = ("npm error", "npm ERR!", "ERROR:")


def need(name: str, install: Callable[[str], Needed]) -> Needed:
    """What `install` returns for the folder that has the user's settings of npm and pip.

    What is in the cache needs no network. Skips the test if it cannot be installed.
    """
    note = Path(os.environ[guard.RUN], f"why-not-{name}".replace(" ", "-"))
    with one_at_a_time(note.parent):
        if not note.exists():
            try:
                with guard.machine_path():  # tests have a path and a home of their own
                    return install(pwd.getpwuid(os.getuid()).pw_dir)
            except (BrokenError, UnreachableError) as error:
                note.write_text(_reason(str(error)))
    pytest.skip(f"{NEEDS}{name} (by npm and pip): {note.read_text()}")


def _reason(printed: str) -> str:
    lines = printed.splitlines() or ["no reason is known"]
    return next((line for line in lines if line.startswith(_REASONS)), lines[0])


def need_module(name: str, reason: str) -> None:
    """Skip a file of tests without a library. Unlike `importorskip`, this does not import it in
    each worker."""
    if find_spec(name) is None:
        pytest.skip(reason, allow_module_level=True)


def report_once(report: pytest.TestReport) -> None:
    """Give all tests that were skipped for one need the same place: pytest joins their lines."""
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if reason.startswith(f"Skipped: {NEEDS}"):
            report.longrepr = (__file__, 1, reason)
