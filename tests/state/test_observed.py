"""A copied clone begins to observe anew; a clone that was moved goes on."""

import shutil
from pathlib import Path

import pytest

from ghp_agents.state import observed
from ghp_agents.state.private_repo import open_repository
from ghp_agents.workspace import Workspace, open_workspace


def notes(ws: Workspace) -> list[str]:
    return [name for name in observed.FILES if (ws.cache_dir / name).exists()]


@pytest.fixture
def original(repo: Path) -> Workspace:
    ws = open_workspace(repo, {})
    open_repository(ws)
    ws.cache_dir.mkdir(parents=True, exist_ok=True)
    for name in observed.FILES:
        (ws.cache_dir / name).write_text("{}")
    return ws


def test_a_copy_forgets_what_its_original_saw(original: Workspace, tmp_path: Path) -> None:
    shutil.copytree(original.root, tmp_path / "copy", symlinks=True)
    copy = open_workspace(tmp_path / "copy", {})
    assert open_repository(copy).clone != open_repository(original).clone
    assert notes(copy) == []
    assert notes(original) == [*observed.FILES]


def test_a_moved_clone_forgets_nothing(original: Workspace, tmp_path: Path) -> None:
    shutil.move(original.root, tmp_path / "moved")
    moved = open_workspace(tmp_path / "moved", {})
    open_repository(moved)
    assert notes(moved) == [*observed.FILES]
