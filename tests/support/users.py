"""Two real users, where the machine allows it: whoever runs the tests, and another one."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

OTHER = 54_321  # the number of a user that no machine has; files and processes can have it


def only_root() -> None:
    """Skip the test where there can be no second user."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user, or give files to one")


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are closed."""
    folder = Path(tempfile.mkdtemp(prefix="ghp-users-")).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def as_other(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a process of the other user."""
    git = Path(shutil.which("git") or "git").resolve().parent
    env = {"PATH": f"{git}:/usr/bin:/bin", "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["/bin/sh", "-ec", script],
        cwd=cwd,
        env=env,
        user=OTHER,
        group=OTHER,
        extra_groups=[],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


def give_away(*paths: Path) -> None:
    """Let these files, and all that is in them, belong to the other user."""
    for top in paths:
        for path in (top, *top.rglob("*")):
            os.chown(path, OTHER, OTHER, follow_symlinks=False)
