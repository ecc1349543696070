"""Places in which pull requests are merged by a clone: real git, with and without a remote."""

import os
from pathlib import Path

from ghp_agents.ports import Forge
from ghp_agents.pulls.local import LocalForge
from ghp_agents.wiring import App
from tests.contracts.forge import Site
from tests.support.clock import ManualClock
from tests.support.git import add_worktree, commit, git, read_ref


class GitSite(Site):
    """A clone; its branches are on the remote where there is one. Work happens in `desk`."""

    def __init__(self, folder: Path, clock: ManualClock, *, remote: bool) -> None:
        self.folder = folder
        self.clock = clock
        self.remote = remote
        self.desk = folder.parent / f"{folder.name}-desk"
        add_worktree(folder, self.desk)
        self._made = 0

    @property
    def forge(self) -> Forge:
        house = App(self.folder, os.environ, clock=self.clock)
        return LocalForge(house.ws, house.store, house.locks)

    def work(self, branch: str) -> str:
        self._made += 1
        name = f"{branch.replace('/', '-')}-{self._made}.txt"
        return self.put(branch, {name: "work\n"})

    def spoil(self, branch: str) -> str:
        head = self.put(branch, {"README.md": "theirs\n"})
        self.put("main", {"README.md": "ours\n"})
        return head

    def put(self, branch: str, files: dict[str, str], message: str = "Work") -> str:
        """A commit of `files` on a branch, wherever branches are."""
        at = self.tip(branch) or self.tip("main")
        git(self.desk, "checkout", "--quiet", "--detach", at)
        oid = commit(self.desk, files, message)
        self.move(branch, oid)
        return oid

    def move(self, branch: str, to: str) -> None:
        """Let a branch be at a commit."""
        if self.remote:
            git(self.folder, "push", "--quiet", "--force", "origin", f"{to}:refs/heads/{branch}")
        elif (self.folder / ".git/HEAD").read_text() == f"ref: refs/heads/{branch}\n":
            git(self.folder, "merge", "--quiet", "--ff-only", to)
        else:
            git(self.folder, "update-ref", f"refs/heads/{branch}", to)

    def tip(self, branch: str) -> str:
        """Where a branch is; empty if it is not there."""
        if self.remote:
            return git(self.folder, "ls-remote", "origin", f"refs/heads/{branch}")[:40]
        return read_ref(self.folder / ".git", f"refs/heads/{branch}") or ""

    @property
    def trunk(self) -> str:
        if self.remote:
            git(self.folder, "fetch", "--quiet", "origin", "main")
        return self.tip("main")

    def joined(self, below: str, head: str) -> str:
        tree = git(self.folder, "merge-tree", "--write-tree", below, head)
        return git(self.folder, "commit-tree", tree, "-p", below, "-p", head, "-m", "Merge")

    def has(self, commit: str) -> bool:
        return git(self.folder, "merge-base", commit, self.trunk) == commit
