"""Files of our own: new, private, and never through a link."""

import os
import stat
from pathlib import Path

import pytest

from ghp_agents.hotpath import own_file as ownfile
from ghp_agents.hotpath.own_file import (
    append,
    discard,
    make_beside,
    open_lock,
    open_to_read,
    replace,
    touch,
)


def mode(path: Path | str) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def test_a_file_is_replaced_whole_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    replace(str(path), b"one")
    replace(str(path), b"two" * 100_000, durable=True)
    assert path.read_bytes() == b"two" * 100_000
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
    assert mode(path) == 0o600


def test_a_file_that_others_may_read_has_the_rights_that_git_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        replace(str(tmp_path / "a"), b"", mode=ownfile.LIKE_GIT)
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == 0o640


def test_what_cannot_be_replaced_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        replace(str(tmp_path / "a"), b"x")
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "a").symlink_to("theirs")
    replace(str(tmp_path / "a"), b"ours")
    assert not (tmp_path / "a").is_symlink()
    assert (tmp_path / "theirs").read_text() == "theirs"


def test_nothing_is_opened_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("theirs")
    path = str(tmp_path / "a")
    for act in (touch, open_to_read, open_lock, lambda path: append(path, b"x")):
        with pytest.raises(OSError, match="symbolic links"):
            act(path)
    assert not (tmp_path / "theirs").exists()


def test_lines_are_added_at_the_end(tmp_path: Path) -> None:
    append(str(tmp_path / "log"), b"one\n")
    append(str(tmp_path / "log"), b"two\n")
    assert (tmp_path / "log").read_bytes() == b"one\ntwo\n"
    assert mode(tmp_path / "log") == 0o600


def test_touching_makes_an_empty_file_and_empties_none(tmp_path: Path) -> None:
    touch(str(tmp_path / "a"))
    assert (tmp_path / "a").read_bytes() == b""
    (tmp_path / "a").write_bytes(b"kept")
    touch(str(tmp_path / "a"))
    assert (tmp_path / "a").read_bytes() == b"kept"


def test_a_lock_is_its_owners_alone_also_an_older_one(tmp_path: Path) -> None:
    for name in ("new", "older"):
        path = tmp_path / name
        if name == "older":
            path.touch(0o644)
        os.close(open_lock(str(path)))
        assert mode(path) == 0o600


def test_names_beside_a_file_are_hidden_and_differ(tmp_path: Path) -> None:
    names = {Path(make_beside(str(tmp_path / "a.json"), b"x")).name for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith(".a.json.") and name.endswith(".tmp") for name in names)
    for name in names:
        discard(str(tmp_path / name))
        discard(str(tmp_path / name))  # nothing is left to remove
    assert list(tmp_path.iterdir()) == []
