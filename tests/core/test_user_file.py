"""A file of the user's, rewritten: its mode, its link, and what somebody else wrote meanwhile."""

from pathlib import Path

import pytest

from ghp_agents.core import user_file as usersfile
from ghp_agents.core.errors import GhpError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_mode_and_the_link_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles/settings.json"
    real.parent.mkdir()
    real.write_text("old")
    real.chmod(0o600)
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    usersfile.rewrite(link, b"old", b"new")
    assert (link.is_symlink(), real.read_text()) == (True, "new")
    assert real.stat().st_mode & 0o777 == 0o600
    assert names(real.parent) == ["settings.json"]


def test_what_somebody_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for before, now in ((b"old", "theirs"), (None, "made by them")):
        path.write_text(now)
        with pytest.raises(GhpError, match="Another process just wrote") as caught:
            usersfile.rewrite(path, before, b"ours")
        assert caught.value.hint == "Run the command again."
        assert path.read_text() == now
    assert names(tmp_path) == ["settings.json"]


def test_a_new_file_gets_its_folders_and_takes_empty_ones_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a/b/c.json"
    usersfile.rewrite(path, None, b"x")
    assert usersfile.read(path) == b"x"
    usersfile.delete(path, tmp_path)
    assert names(tmp_path) == []
    usersfile.rewrite(path, None, b"x")
    (tmp_path / "a/mine").write_text("")
    usersfile.delete(path, tmp_path)
    assert names(tmp_path / "a") == ["mine"]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(GhpError, match="folder cannot be read: Is a directory"):
        usersfile.read(tmp_path / "folder")
    (tmp_path / "latin").write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(GhpError, match=r"latin is not UTF-8 text \(byte 7\)"):
        usersfile.read_text(tmp_path / "latin")
    assert usersfile.read_text(tmp_path / "nothing") is None
    (tmp_path / "file").write_text("")
    assert usersfile.read(tmp_path / "file/below") is None


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GhpError, match="below cannot be written: "):
        usersfile.rewrite(tmp_path / "file/below", None, b"x")
