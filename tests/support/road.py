"""The way to the trunk for tests: agents in clones, who start, work, finish and merge; real git."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ghp_agents.core.ids import Actor
from ghp_agents.issues.issue import Issue, IssueChange
from ghp_agents.pulls import finish, start
from ghp_agents.pulls.finish import Finished
from ghp_agents.pulls.merging import merge, merge_queue
from ghp_agents.pulls.merging.merge import Merged, Outcome
from ghp_agents.pulls.merging.merge_batch import Passed
from ghp_agents.pulls.merging.merge_trial import Merger
from ghp_agents.pulls.merging.send_back import SentBack
from ghp_agents.pulls.start import Started
from ghp_agents.sync import service as sync
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.consent import agree
from tests.support.git import commit, git, read_ref
from tests.support.repos import Site

ANN = Actor("Ann Example", is_person=True)
DEAD = 2_000.0  # seconds of silence


class Road:
    """One clone, seen by all who work in it."""

    def __init__(self, folder: Path, clock: ManualClock | None = None) -> None:
        self.folder = folder
        self.clock = clock or ManualClock()

    def house(self, name: str, folder: Path | None = None) -> App:
        """The parts of the program for somebody, in a folder."""
        return App(folder or self.folder, os.environ, name=name, clock=self.clock)

    def configure(self, ours: Mapping[str, Any] | None = None, **upstream: Any) -> None:
        """What `.ghp/config.json` says, on the trunk, and a person agrees to in this clone."""
        settings = {**upstream, "agents": dict(ours or {})}
        self.put({".ghp/config.json": json.dumps(settings)}, "Configure")
        agree(self.folder)

    def put(self, files: Mapping[str, str], message: str = "Change the trunk") -> str:
        """A commit on the trunk, wherever that is."""
        oid = commit(self.folder, files, message)
        if self.is_shared:
            git(self.folder, "push", "--quiet", "origin", "main")
        return oid

    def issue(self, title: str = "Parse files", **fields: Any) -> Issue:
        """A new issue, by a person."""
        return self.house("@me").tracker.create(IssueChange(title=title, **fields), ANN)

    def start(self, name: str, number: int | None = 1) -> Started:
        """Somebody starts on an issue, or on the best."""
        house = self.house(name)
        return start.start(house, None if number is None else str(number))

    def finish(self, name: str, folder: Path, **how: Any) -> Finished:
        """Somebody finishes in a worktree."""
        house = self.house(name, folder)
        return finish.finish(house, **how)

    def done(self, name: str, number: int, files: Mapping[str, str]) -> Finished:
        """An issue from its start to its pull request."""
        place = self.start(name, number).path
        commit(place, files, f"Work on {number}")
        return self.finish(name, place)

    def merger(self, name: str = "lead", cwd: Path | None = None) -> Merger:
        """Somebody who merges."""
        house = self.house(name)
        return merge.merger(house, cwd=cwd or self.folder, unchecked=True)

    def merge(self, reference: str | int | None, name: str = "lead", **how: Any) -> Outcome:
        """Somebody merges."""
        wanted = None if reference is None else str(reference)
        return merge.merge(self.merger(name), wanted, **how)

    def queue(self, name: str = "lead") -> list[Outcome | Passed]:
        """Somebody merges all that is ready."""
        return list(merge_queue.merge_queue(self.merger(name)))

    def sync(self, name: str = "@me") -> None:
        """The clone hears what others said."""
        house = self.house(name)
        sync.sync(house)

    def silence(self, name: str, seconds: float = DEAD) -> None:
        """Time passes in which an agent of this clone says nothing."""
        self.clock.wait(seconds)
        then = self.clock.now() - seconds
        os.utime(self.folder / f".git/ghp/agents/{name}.json", (then, then))

    def place(self, branch: str) -> Path:
        """The worktree of a branch."""
        lines = git(self.folder, "worktree", "list", "--porcelain").split("\n\n")
        entry = next(line for line in lines if line.endswith(f"refs/heads/{branch}"))
        return Path(entry.splitlines()[0].removeprefix("worktree "))

    @property
    def work(self) -> Path:
        """The worktree of #1, «Parse files»."""
        (folder,) = Path.home().glob(".ghp/worktrees/*/1-parse-files")
        return folder

    @property
    def remote(self) -> Path:
        """The repository that the clones share."""
        return self.folder.parent / "remote.git"

    @property
    def is_shared(self) -> bool:
        """Whether the clone has a remote."""
        return "[remote " in (self.folder / ".git/config").read_text()

    @property
    def trunk(self) -> list[str]:
        """The files on the trunk."""
        return self.files(self.tip)

    def files(self, commit: str) -> list[str]:
        """The files of a commit."""
        return git(self.folder, "ls-tree", "-r", "--name-only", commit).splitlines()

    @property
    def tip(self) -> str:
        """Where the trunk is."""
        if not self.is_shared:
            return read_ref(self.folder / ".git", "refs/heads/main") or ""
        git(self.folder, "fetch", "--quiet", "origin", "main")
        return git(self.folder, "rev-parse", "origin/main")


def with_issue(site: Site) -> None:
    """A site whose repository has issue #1."""
    Road(site.make_repo()).issue("Parse files")


def with_shared_issue(site: Site) -> None:
    """A site whose first clone has issue #1."""
    Road(site.make_clones()[0]).issue("Parse files")


def with_work(site: Site) -> None:
    """The same, and worker-1 has a commit for it in a worktree."""
    with_issue(site)
    commit(Road(site.repo).start("worker-1").path, {"a.txt": "one\n"}, "Parse one file")


def with_shared_work(site: Site) -> None:
    """The same in the first clone."""
    with_shared_issue(site)
    commit(Road(site.clones[0]).start("worker-1").path, {"a.txt": "one\n"}, "Parse one file")


def with_pull(site: Site) -> None:
    """A site with issue #1, and with its pull request by worker-1."""
    with_issue(site)
    Road(site.repo).done("worker-1", 1, {"a.txt": "one\n"})


def merged(outcome: Outcome) -> Merged:
    """An outcome that must be a merge."""
    assert isinstance(outcome, Merged), outcome
    return outcome


def sent_back(outcome: Outcome) -> SentBack:
    """An outcome that must be a return."""
    assert isinstance(outcome, SentBack), outcome
    return outcome


def everything(folder: Path, leave_out: Callable[[Path], bool] = lambda _: False) -> dict[str, str]:
    """All that a person has in a worktree: files, index, HEAD."""
    files = {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts and not leave_out(path)
    }
    shown = {
        "(index)": ("ls-files", "--stage"),
        "(head)": ("rev-parse", "HEAD", "--symbolic-full-name", "HEAD"),
    }
    return files | {name: git(folder, *args) for name, args in shown.items()}
