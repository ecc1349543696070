"""Two clones of one remote: worker-1 works in a worktree of the first, worker-2 in the second."""

from pathlib import Path
from typing import NamedTuple

from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git
from tests.support.repos import Restored, Site

LINES = "".join(f"line {number}\n" for number in range(1, 31))


class TwoClones(NamedTuple):
    """The clones, and the worktree of worker-1."""

    one: Path
    other: Path
    place: Path

    def exchange(self) -> None:
        """The second clone hears what the first one reports."""
        succeed(self.one, "agent-sync")
        succeed(self.other, "agent-sync")


def changed(number: int, text: str = "changed\n", lines: str = LINES) -> str:
    """A file in which one line is another."""
    return lines.replace(f"line {number}\n", text)


def two_clones(restored: Restored) -> TwoClones:
    """Both know main with a.py and b.py, and each other."""
    one, other = restored(_both_work).clones
    return TwoClones(one, other, Path(invoke("agent-where 1", one).out.strip()))


def _both_work(site: Site) -> None:
    one, other = site.make_clones()
    commit(one, {"a.py": LINES, "b.py": LINES})
    git(one, "push", "--quiet", "origin", "main")
    git(other, "pull", "--quiet", "origin", "main")
    succeed(one, "agent-init", "agent-issue new Parse --as @me", "agent-sync")
    succeed(one, "agent-start 1 --as worker-1")
    succeed(other, "agent-init --agent worker-2", "agent-sync")
