"""Fields on which lock services of git meet: one clone, or clones around a remote."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ghp_agents.locks.git import GitLocks
from tests.support.clock import ManualClock
from tests.support.git import git, set_origin
from tests.support.hosts import hook, workspace


@dataclass
class LocalField:
    """Rivals in one clone without a remote."""

    repo: Path
    clock: ManualClock = field(default_factory=ManualClock)

    def locks(self) -> GitLocks:
        """One more rival, which shares nothing in memory with the others."""
        return GitLocks(workspace(self.repo, self.clock))


@dataclass
class CloneField:
    """Rivals in clones of their own around one remote."""

    remote: Path
    clones: Callable[[int], list[Path]]
    clock: ManualClock = field(default_factory=ManualClock)

    def locks(self) -> GitLocks:
        """One more rival in one more clone."""
        (clone,) = self.clones(1)
        set_origin(clone, self.remote.as_uri())
        return GitLocks(workspace(clone, self.clock))

    def cut(self) -> None:
        """The remote is gone for now."""
        self.remote.rename(self.remote.with_suffix(".away"))

    def mend(self) -> None:
        """The remote is back, as it was."""
        away = self.remote.with_suffix(".away")
        if away.exists():
            away.rename(self.remote)
        (self.remote / "hooks/reference-transaction").unlink(missing_ok=True)

    def forget(self, name: str) -> None:
        """The remote loses a right, and has an older state of the others."""
        git(self.remote, "update-ref", "-d", f"refs/ghp/lease/{name}")
        for ref in git(self.remote, "for-each-ref", "--format=%(refname)", "refs/ghp").split():
            first = git(self.remote, "rev-list", "--first-parent", "--reverse", ref).split()[0]
            git(self.remote, "update-ref", ref, first)

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
