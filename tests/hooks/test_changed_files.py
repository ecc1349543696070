"""The files that changed since the last look are found by their times, sizes and commits."""

import os
import time
from pathlib import Path

import pytest

from ghp_agents.hooks import changed_files
from ghp_agents.hooks.changed_files import AGAIN, Memory
from ghp_agents.hotpath.locate import locate
from tests.support.git import commit, git

# After the commits of tests.support.git.commit, and before any test.
BEFORE, LATER = "2026-01-02T03:04:06Z", "2999-01-01T00:00:00Z"


def look(repo: Path, last: Memory) -> tuple[list[str], Memory]:
    place = locate(str(repo), os.environ)
    assert place is not None
    until = time.monotonic() + 30
    changed, memory = changed_files.look(place, os.environ, last, 1_790_000_000.0, until)
    return sorted(changed), memory


def first(at: str = BEFORE) -> Memory:
    return Memory(at, {}, {})


@pytest.fixture
def here(repo: Path) -> Path:
    commit(repo, {"a": "1\n", "b": "1\n", "dir/c": "1\n", ".gitignore": "*.log\n"})
    return repo


def test_changed_new_and_deleted_files_are_found_once(here: Path) -> None:
    (here / "a").write_text("22\n")
    (here / "b").unlink()
    (here / "odd\nname").touch()
    (here / "x.log").touch()
    changed, memory = look(here, first())
    assert changed == ["a", "b", "odd\nname"]
    assert memory.at == "2026-09-21T14:13:19Z"
    memory.at = BEFORE
    assert look(here, memory)[0] == []
    (here / "a").write_text("333\n")
    (here / "b").write_text("again\n")
    assert look(here, memory)[0] == ["a", "b"]


def test_what_changed_before_the_first_look_is_left_out(here: Path) -> None:
    (here / "a").write_text("22\n")
    assert look(here, first(LATER))[0] == []


def test_a_file_that_was_moved_there_counts_by_its_arrival(here: Path, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("other\n")
    os.utime(tmp_path / "old", (1, 1))
    (tmp_path / "old").rename(here / "a")
    assert look(here, first())[0] == ["a"]


def test_files_of_new_commits_are_found_without_those_of_merges(here: Path) -> None:
    assert look(here, first())[0] == [], "the first commit is older"
    for name in ("a", "b"):
        (here / name).write_text("22\n")
        git(here, "commit", "-qam", name)
    assert look(here, first())[0] == ["a", "b"]
    git(here, "checkout", "-qb", "other", "HEAD~2")
    commit(here, {"dir/c": "22\n"})
    git(here, "checkout", "-q", "-")
    git(here, "merge", "-q", "--no-edit", "other")
    assert look(here, first())[0] == []


def test_what_was_not_told_is_found_again(here: Path) -> None:
    (here / "a").write_text("22\n")
    assert look(here, Memory(LATER, {"a": AGAIN, "b": AGAIN}, {}))[0] == ["a", "b"]


def test_a_repository_without_commits_is_looked_at(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").touch()
    assert look(tmp_path, first())[0] == ["a"]


def test_more_files_than_can_be_remembered_are_an_error(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed_files, "LIMIT", 1)
    for name in ("a", "b"):
        (here / name).write_text("22\n")
    with pytest.raises(OSError, match="2 files differ from the index"):
        look(here, first())


def test_filters_are_switched_off(here: Path, tmp_path: Path) -> None:
    for kind in ("clean", "process"):
        git(here, "config", f"filter.a b.c.{kind}", f"touch {tmp_path}/ran; cat")
    git(here, "config", "filter.a b.c.required", "true")
    (here / ".gitattributes").write_text("* filter=a\\ b.c\n")
    (here / "a").write_text("2\n")  # of the same size and second: git must read it
    assert look(here, first())[0] == [".gitattributes", "a"]
    assert not (tmp_path / "ran").exists()
    git(here, "config", "filter.x=y.clean", "cat")
    with pytest.raises(OSError, match="a filter has an odd name"):
        look(here, first())


@pytest.mark.parametrize("content", [b"", b"[]", b'{"at": "x"}', b'{"schemaVersion": 2}'])
def test_an_odd_memory_is_none(tmp_path: Path, content: bytes) -> None:
    folders, where = [str(tmp_path)], "/clone/.git"
    changed_files.keep(folders, "worker-1", where, Memory("t", {"a": "1:2"}, {"a": "told"}))
    memory = changed_files.recall(folders, "worker-1", where, BEFORE)
    assert (memory.at, memory.signs, memory.notices) == ("t", {"a": "1:2"}, {"a": "told"})
    assert changed_files.recall(folders, "worker-1", "/other/.git", BEFORE).at == BEFORE
    (file,) = (tmp_path / changed_files.FOLDER).iterdir()
    file.write_bytes(content)
    assert changed_files.recall(folders, "worker-1", where, BEFORE).at == BEFORE
