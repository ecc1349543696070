"""A clone with agents that edit the same files in worktrees of their own."""

import os
from pathlib import Path
from typing import Any

from ghp_agents.hotpath import file_conflicts
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath.conflict_report import FileConflict
from ghp_agents.hotpath.implicit_leases import ImplicitLease
from ghp_agents.hotpath.locate import locate
from tests.support.git import add_worktree, commit

SINCE = "2026-01-02T03:04:05Z"
NOW = 1_750_000_000.0
BASE = "".join(f"line {number}\n" for number in range(1, 41))


def changed(text: str = BASE, **lines: str) -> str:
    """A text with other lines: `l7="x"` replaces line 7, an empty one deletes it."""
    result = text.splitlines(keepends=True)
    for name, line in lines.items():
        result[int(name[1:]) - 1] = f"{line}\n" if line else ""
    return "".join(result)


class Versions:
    """The main worktree, and one for each other agent."""

    def __init__(self, repo: Path, files: dict[str, str | bytes] | None = None) -> None:
        self.repo = repo
        self.folders = [str(repo / ".git/ghp")]
        commit(repo, {"a.py": BASE} if files is None else files)

    def worktree(self, name: str = "worker-2") -> Path:
        """The worktree of another agent, which it begins if there is none."""
        folder = self.repo.parent / f"{self.repo.name}-{name}"
        if not folder.exists():
            add_worktree(self.repo, folder, name)
        return folder

    def theirs(self, text: str | bytes | None, path: str = "a.py", name: str = "worker-2") -> Path:
        """Another agent writes a file, or deletes it."""
        place = self.worktree(name) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            place.unlink()
        else:
            place.write_bytes(text.encode() if isinstance(text, str) else text)
        return place

    def beat(self, name: str = "worker-2", **fields: Any) -> None:
        assert pulse.beat(self.folders, name, fields, NOW, epoch=1, throttle=0)

    def lease(self, path: str = "a.py", name: str = "worker-2") -> ImplicitLease:
        git_dir = self.repo / ".git/worktrees" / self.worktree(name).name
        return ImplicitLease(name, 1, SINCE, path, str(git_dir))

    def ask(
        self,
        mine: str | bytes | None,
        path: str = "a.py",
        *names: str,
        here: Path | None = None,
        **more: Any,
    ) -> FileConflict | None:
        """What comes of it if this agent makes its file so."""
        place = locate(str(here or self.repo), os.environ)
        assert place is not None
        content = mine.encode() if isinstance(mine, str) else mine
        others = [self.lease(path, name) for name in names or ("worker-2",)]
        where = {"folders": self.folders, "environ": os.environ}
        return file_conflicts.first_conflict(place, path, content, others, **where, **more)  # type: ignore[arg-type]


def shown(conflict: FileConflict | None) -> tuple[Any, ...] | None:
    """A conflict in short: its kind, the lines on both sides, and their text."""
    if conflict is None:
        return None
    return (
        conflict.kind, (conflict.start, conflict.end),
        (conflict.their_start, conflict.their_end), conflict.theirs,
    )  # fmt: skip
