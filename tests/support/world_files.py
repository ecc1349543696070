"""The files of the simulated world: a repository that each clone gets a copy of."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.support.git import git

PATHS = ("src/a.py", "src/b.py", "docs/c.md")


@cache
def template() -> Path:
    """A repository with the files that are leased; made once, and gone with the process."""
    folder = Path(tempfile.mkdtemp(prefix="ghp-world-"))
    atexit.register(shutil.rmtree, folder)
    git(folder, "init", "-q", "--template=", "-b", "main", ".")
    for name in PATHS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("one\n")
    git(folder, "add", ".")
    return folder
