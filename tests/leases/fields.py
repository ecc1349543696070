"""Fields on which git leasers meet: one clone, or clones around a remote."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ghp_agents.clock import ManualClock
from ghp_agents.leases.git_ref import GitRefLeaser
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.git import git

# What a host does that takes nothing but branches and tags.
ONLY_BRANCHES = """\
case "$1" in refs/heads/*|refs/tags/*) exit 0;; esac
echo "this host takes only branches and tags" >&2
exit 1
"""


def hook(repository: Path, name: str, script: str) -> Path:
    """Give a bare repository a hook."""
    path = repository / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)
    return path


def workspace(folder: Path, clock: ManualClock | None = None) -> Workspace:
    """The workspace of a clone, on a clock that stands still."""
    return open_workspace(folder, dict(os.environ), clock or ManualClock())


@dataclass
class LocalField:
    """Rivals in one clone without a remote."""

    repo: Path
    clock: ManualClock = field(default_factory=ManualClock)

    def leaser(self) -> GitRefLeaser:
        """One more rival, which shares nothing in memory with the others."""
        return GitRefLeaser(workspace(self.repo, self.clock))


@dataclass
class CloneField:
    """Rivals in clones of their own around one remote."""

    remote: Path
    clones: Callable[[int], list[Path]]
    clock: ManualClock = field(default_factory=ManualClock)

    def leaser(self) -> GitRefLeaser:
        """One more rival in one more clone."""
        (clone,) = self.clones(1)
        git(clone, "remote", "set-url", "origin", self.remote.as_uri())
        return GitRefLeaser(workspace(clone, self.clock))

    def cut(self) -> None:
        """The remote is gone for now."""
        self.remote.rename(self.remote.with_suffix(".away"))

    def mend(self) -> None:
        """The remote is back, as it was."""
        away = self.remote.with_suffix(".away")
        if away.exists():
            away.rename(self.remote)
        (self.remote / "hooks/reference-transaction").unlink(missing_ok=True)

    def break_after_write(self) -> None:
        """The remote writes its ref, and before it can say so, it is gone."""
        away = self.remote.with_suffix(".away")
        self.on_written(f"mv {self.remote} {away}\nkill -9 $PPID\n")

    def on_written(self, script: str) -> None:
        """Let the remote run `script` when a right of ours was written, before it answers."""
        hook(
            self.remote,
            "reference-transaction",
            f'test "$1" = committed || exit 0\ngrep -q /ghp/lease/ || exit 0\n{script}',
        )
