"""A file of another worktree: read if it is a plain file of bounded size inside."""

from pathlib import Path

import pytest

from ghp_agents.hotpath.worktree_file import LARGEST, UndecidedError, read_file


def test_a_plain_file_is_read_and_a_missing_one_is_none(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_bytes(b"\xff\0a")
    assert read_file(str(tmp_path), "src/a.py") == b"\xff\0a"
    assert read_file(str(tmp_path), "src/b.py") is None
    assert read_file(str(tmp_path), "src/a.py/b") is None


def test_a_worktree_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a").write_text("a")
    (tmp_path / "name").symlink_to("real")
    assert read_file(str(tmp_path / "name"), "a") == b"a"


def test_what_leads_out_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a").write_text("secret")
    (tmp_path / "top").mkdir()
    (tmp_path / "top/src").symlink_to("../out")
    (tmp_path / "top/a").symlink_to("../out/a")
    for path in ("src/a", "a", "src/../../out/a"):
        with pytest.raises(UndecidedError):
            read_file(str(tmp_path / "top"), path)


def test_a_large_file_and_a_folder_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(50_000_000)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UndecidedError, match="the file has 50000000 bytes"):
        read_file(str(tmp_path), "large")
    with pytest.raises(UndecidedError):
        read_file(str(tmp_path), "folder")
    (tmp_path / "most").write_bytes(b"x" * LARGEST)
    assert len(read_file(str(tmp_path), "most") or b"") == LARGEST
