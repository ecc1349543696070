"""Agents in worktrees of one clone, whose work may conflict."""

import os
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.conflicts import service
from ghp_agents.conflicts.path_conflict import PathConflict
from ghp_agents.conflicts.report import ConflictReport, PairConflict
from ghp_agents.conflicts.trunk import OnTrunk
from ghp_agents.wiring import App
from tests.support.ghp import invoke
from tests.support.git import add_worktree, commit, git

Files = Mapping[str, str | bytes | None]
TEXT = "".join(f"line {number}\n" for number in range(1, 21))


def edited(*lines: int, by: str = "edited", text: str = TEXT) -> str:
    """A text in which these lines, counted from 1, are others."""
    listed = text.splitlines()
    for line in lines:
        listed[line - 1] = f"line {line} {by}"
    return "\n".join([*listed, ""])


def agent(
    repo: Path, name: str, number: int, committed: Files | None = None, changed: Files | None = None
) -> Path:
    """An agent in its own worktree, with a commit and with uncommitted changes; None deletes."""
    folder = repo.parent / f"{repo.name}-{name}"
    add_worktree(repo, folder, f"agent/{name}/{number}-part")
    assert invoke(f"agent-whoami --set {name}", folder).code == 0
    if committed:
        write(folder, committed)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", "Work")
    write(folder, changed or {})
    return folder


def write(folder: Path, files: Files) -> None:
    """Write or delete files, without git."""
    for name, content in files.items():
        path = folder / name
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def base(repo: Path, files: Mapping[str, str | bytes] | None = None) -> Path:
    """The repository, with files on the main branch."""
    commit(repo, files or {"a.txt": TEXT, "b.txt": TEXT})
    return repo


def survey(repo: Path, name: str | None = None, *, trunk_only: bool = False) -> ConflictReport:
    """What conflicts now."""
    return service.survey(App(repo, os.environ), name, trunk_only=trunk_only)


def described(report: ConflictReport) -> list[str]:
    """The conflicts, one in a line: who, which file, of what kind, and the lines of both. The
    agents of a pair are sorted."""
    described_pairs = sorted(by_name(pair) for pair in report.pairs)
    described_pairs += [(f"main {x.work.name}", x.files) for x in report.with_trunk]
    return [
        f"{who}: {one.path} {one.kind}"
        + "".join(f" {_lines(place.ours)}/{_lines(place.theirs)}" for place in one.places)
        for who, files in described_pairs
        for one in files
    ]


def by_name(pair: PairConflict) -> tuple[str, tuple[PathConflict, ...]]:
    """The names of a pair, sorted, and its files seen in that order."""
    names = [pair.ours.name, pair.theirs.name]
    if names == sorted(names):
        return " ".join(names), pair.files
    return " ".join(sorted(names)), tuple(one.turned for one in pair.files)


def _lines(lines: tuple[int, int]) -> str:
    return f"{lines[0]}-{lines[1]}"


def paths(work: OnTrunk) -> list[str]:
    """What it would change on the main branch."""
    return sorted(work.change.paths)
