"""Installs aider for the tests that drive it: pinned, in an environment of its own in .cache.

aider is a Python program with many dependencies, so it is no part of this project's environment.
"""

import os
import sys
import venv
from pathlib import Path

from tools.clients import BrokenError
from tools.emulate import once, pip

PACKAGE = "aider-chat==0.86.2"
PYTHONS = ((3, 10), (3, 13))  # it wants one of at least the first, and before the second


def ready(home: str | None = None) -> list[str]:
    """The command of aider, installed if it is missing; only one process installs.

    `home` is the folder with pip's configuration, if it is not HOME. Raises BrokenError,
    UnreachableError.
    """
    if not PYTHONS[0] <= sys.version_info[:2] < PYTHONS[1]:
        raise BrokenError(f"{PACKAGE} does not take Python 3.{sys.version_info.minor}.")

    def add(folder: Path) -> None:
        venv.create(folder, symlinks=True)
        program = str(folder / "bin/python")
        wanted = ("install", "--no-compile", "--only-binary=:all:", PACKAGE)
        pip(folder, home or os.environ.get("HOME", "/"), "--python", program, *wanted)

    # Not the script, which names the folder that the environment was made in.
    return [str(once(PACKAGE, add) / "bin/python"), "-m", "aider"]
