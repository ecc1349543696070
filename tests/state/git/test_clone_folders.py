"""Folders in the home go some time after their clone; those of clones that are there stay."""

import os
import shutil
from pathlib import Path

import pytest

from ghp_agents.hotpath import heartbeat
from ghp_agents.state.git import clone_folders
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.workspace import HOMES, Workspace
from tests.state.clones import say, workspace
from tests.support.clock import ManualClock

DAY = 86_400.0


def folder_of(ws: Workspace) -> Path:
    """A clone's folder in the home, with a file in it."""
    folder = Path(ws.home_folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text("{}")
    clone_folders.note(ws)
    return folder


def left(repo: Path, days: float) -> list[Path]:
    """What a fold of this clone would remove after some days."""
    written = max(path.stat().st_mtime for path in Path(workspace(repo).home_folder).rglob("*"))
    ws = workspace(repo, ManualClock(written + days * DAY))
    return sorted(clone_folders.deserted(ws))


def test_the_folder_of_a_deleted_clone_goes_with_the_homes_of_its_agents(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    other = tmp_path / "other"
    shutil.copytree(repo, other)
    gone = workspace(other)
    mine, its = folder_of(workspace(repo)), folder_of(gone)
    homes = Path(f"{heartbeat.spare_folder(str(gone.common_dir), os.environ)}{HOMES}")
    assert left(repo, 400) == []
    shutil.rmtree(other)
    assert left(repo, 29) == []
    assert left(repo, 31) == sorted([its, homes])
    unknown = mine.with_name("0" * 32)  # its path was never written down, or is another's
    unknown.mkdir()
    shutil.copy(its / clone_folders.PATH, unknown)
    assert left(repo, 31) == sorted([its, homes])
    assert left(repo, 181) == sorted([its, homes, unknown])
    (homes / "night/.cache").mkdir(parents=True)
    long_ago = 1_000_000_000.0
    for path in (*its.iterdir(), its, homes):
        os.utime(path, (long_ago, long_ago))
    say(repo, "one")
    GitRefsStore(workspace(repo, ManualClock(long_ago + 31 * DAY))).fold()
    assert [path.exists() for path in (mine, its, homes)] == [True, False, False]
