"""The files of the simulated world: a repository that each clone gets a copy of."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from ghp_agents.core.ids import Actor
from ghp_agents.workspace import Workspace
from tests.support.git import commit, git

PERSON = "Ada"
PATHS = ("src/a.py", "src/b.py", "docs/c.md")


@cache
def template() -> Path:
    """A repository with the files that are leased; made once, and gone with the process."""
    folder = Path(tempfile.mkdtemp(prefix="ghp-world-"))
    atexit.register(shutil.rmtree, folder)
    git(folder, "init", "-q", "--template=", "-b", "main", ".")
    tip = commit(folder, dict.fromkeys(PATHS, "one\n"))
    git(folder, "update-ref", "refs/remotes/origin/main", tip)
    git(folder, "remote", "add", "origin", "nowhere")  # the stores' remote is in memory
    return folder


class PersonsWorkspace(Workspace):
    """Where a person acts; git need not be asked for the name."""

    def actor(self) -> Actor:
        """The person."""
        return Actor(PERSON, is_person=True)
