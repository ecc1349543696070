"""What removed worktrees leave is kept for 30 days."""

import os
import tempfile
from pathlib import Path

import pytest

from ghp_agents.wiring import App
from ghp_agents.worktrees import kept
from tests.support.clock import ManualClock

DAY = 86_400.0


def test_another_file_system_gets_whole_copies(tmp_path: Path) -> None:
    here = tmp_path.stat().st_dev
    places = [place for place in (Path("/var/tmp"), Path("/dev/shm")) if place.is_dir()]
    other = next((place for place in places if place.stat().st_dev != here), None)
    if other is None:
        pytest.skip("this machine has one file system only")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "run.sh").write_text("#!/bin/sh\n")
    (notes / "run.sh").chmod(0o751)
    (notes / "out").symlink_to("/etc")
    os.mkfifo(notes / "pipe")
    (tmp_path / "link").symlink_to("notes")
    with tempfile.TemporaryDirectory(dir=other) as folder:
        kept.move(tmp_path, ["link", "notes"], Path(folder, "x"))
        assert sorted(path.name for path in Path(folder, "x").rglob("*")) == [
            "link", "notes", "out", "run.sh",
        ]  # fmt: skip
        assert Path(folder, "x/notes/run.sh").stat().st_mode & 0o777 == 0o751
        assert Path(folder, "x/notes/out").readlink() == Path("/etc")
    assert [*tmp_path.iterdir()] == []


def test_what_was_kept_is_deleted_after_30_days(repo: Path) -> None:
    clock = ManualClock()
    ws = App(repo, os.environ, name="@me", clock=clock).ws
    folder = kept.new_folder(ws, "1-a")
    (repo / "notes").write_text("hours\n")
    kept.move(repo, ["notes"], folder)
    (folder.parent / "mine").mkdir()
    clock.wait(29 * DAY)
    assert kept.sweep(ws) == []
    clock.wait(2 * DAY)
    then = clock.now() - 31 * DAY
    os.utime(folder, (then, then))
    assert kept.sweep(ws) == [folder]
    assert [place.name for place in folder.parent.iterdir()] == ["mine"]


def test_a_folder_that_cannot_be_written_is_deleted_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    (tmp_path / "safe/file").touch()
    inner = tmp_path / "old/inner"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    (inner / "out").symlink_to(tmp_path / "safe")
    inner.chmod(0o500)
    kept.delete(tmp_path / "old")
    assert [place.name for place in tmp_path.rglob("*")] == ["safe", "file"]
