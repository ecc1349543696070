"""A merge in a repository of its own, with old and new git."""

import os
from pathlib import Path
from time import monotonic

import pytest

from ghp_agents.hotpath import own_file
from ghp_agents.hotpath.trial_merge import MergeSide, TrialRepository, blob_id
from tests.support.git import commit, git
from tests.support.other_versions import BASE, changed

OLD = """#!/bin/sh
case " $* " in *" merge-tree "*) exit 129;; esac
exec {git} "$@"
"""


def trial(repo: Path) -> TrialRepository:
    return TrialRepository(str(repo / ".git/objects"), 40, os.environ, monotonic() + 60)


def merged(repo: Path, mine: str, theirs: str, base: str = BASE) -> object:
    commit(repo, {"dir/a.py": base})
    oid = git(repo, "rev-parse", "HEAD:dir/a.py")
    one, other = (MergeSide({"dir/a.py": text.encode()}) for text in (mine, theirs))
    with trial(repo) as place:
        (result,) = place.merge([(MergeSide({"dir/a.py": oid}), one, other)])
        folder = place.folder
    assert not Path(folder).exists()
    lines = [(x.start, x.end, x.their_start, x.their_end) for x in result.regions]
    return result.conflicts, result.path, lines


@pytest.mark.parametrize("is_old", [False, True], ids=["new git", "git before 2.38"])
def test_both_versions_of_git_say_the_same(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_old: bool
) -> None:
    if is_old:
        real = git(repo, "--exec-path") + "/git"
        (tmp_path / "git").write_text(OLD.format(git=real))
        (tmp_path / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    mine = changed(l3="", l10="mine", l30="mine")
    assert merged(repo, mine, changed(l20="theirs")) == (False, "", [])
    conflict = merged(repo, mine, changed(l20="line 20\nmore", l30="theirs"), BASE + "\n")
    assert conflict == (True, "dir/a.py", [(28, 29, 30, 31)])
    with trial(repo) as place:
        one, other = (MergeSide({"new": text}) for text in (b"a\n", b"b\n"))
        gone, none = MergeSide({}), MergeSide({})
        (added, deleted) = place.merge([(none, one, other), (one, gone, other)])
    assert (added.conflicts, len(added.regions)) == (True, 1)
    assert (deleted.conflicts, list(deleted.regions)) == (True, [])


def test_it_works_beside_a_folder_that_cannot_be_written(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_file, "SHARED_MEMORY", str(tmp_path / "nowhere"))
    assert merged(repo, changed(l1="x"), changed(l1="y")) == (True, "dir/a.py", [(0, 1, 0, 1)])


def test_the_id_of_a_file_is_gits(repo: Path) -> None:
    (repo / "x").write_bytes(b"x\n")
    assert blob_id(b"x\n", 40) == git(repo, "hash-object", "x")
    assert len(blob_id(b"x\n", 64)) == 64


def test_patches_are_of_contents_and_of_objects_and_none_without_one(repo: Path) -> None:
    commit(repo, {"a": "1\n2\n", "b": "1\n"})
    one, other = (git(repo, "rev-parse", f"HEAD:{name}") for name in "ab")
    with trial(repo) as place:
        patches = place.patches([(one, b"1\n3\n"), (one, other), (one, one), ("0" * 40, other)])
    bodies = [None if text is None else text.partition(b"@@")[2] for text in patches]
    assert bodies == [b" -1,2 +1,2 @@\n 1\n-2\n+3\n", b" -1,2 +1 @@\n 1\n-2\n", b"", None]
