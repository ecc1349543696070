"""Uncommitted work is taken whole, and what cannot be stored is named with its reason."""

import os
from pathlib import Path

import pytest

from ghp_agents.handoffs.handoff import Missing
from ghp_agents.handoffs.uncommitted import Uncommitted, take_uncommitted
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.git import commit, git


def taken(folder: Path) -> Uncommitted:
    return take_uncommitted(open_workspace(folder, os.environ, ManualClock(), "worker-1"))


def paths(work: Uncommitted) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in work.patch.changes]


def test_a_clean_worktree_has_nothing_to_take(repo: Path) -> None:
    work = taken(repo)
    assert (work.patch.content, paths(work), work.missing) == (b"", [], ())


def test_changed_new_and_deleted_files_are_taken_and_nothing_is_touched(repo: Path) -> None:
    commit(repo, {"old.txt": "old\n", ".gitignore": "*.log\n"})
    (repo / "README.md").write_text("# Changed\n")
    (repo / "new.txt").write_text("new\n")
    (repo / "noise.log").write_text("ignored\n")
    (repo / "old.txt").unlink()
    before = git(repo, "status", "--porcelain", "--ignored")
    work = taken(repo)
    assert paths(work) == [("M", "README.md"), ("A", "new.txt"), ("D", "old.txt")]
    assert work.missing == ()
    assert git(repo, "status", "--porcelain", "--ignored") == before


def test_the_patch_makes_the_same_work_again(repo: Path, tmp_path: Path) -> None:
    (repo / "picture").write_bytes(bytes(range(256)))
    work = taken(repo)
    git(repo, "clone", "--quiet", ".", str(tmp_path / "other"))
    (tmp_path / "work.patch").write_bytes(work.patch.content)
    git(tmp_path / "other", "apply", str(tmp_path / "work.patch"))
    assert (tmp_path / "other/picture").read_bytes() == bytes(range(256))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (".env", "DEBUG=1\n", "a file that usually holds secrets"),
        ("deploy.sh", f"export TOKEN=ghp_{'a1B2' * 9}\n", "seems to hold a GitHub token"),
    ],
)
def test_secrets_stay_here_because_what_is_stored_is_pushed(
    repo: Path, name: str, content: str, reason: str
) -> None:
    (repo / name).write_text(content)
    work = taken(repo)
    assert work.missing == (Missing(name, len(content), reason),)
    assert content.encode() not in work.patch.content


def test_what_only_the_index_has_is_named(repo: Path) -> None:
    (repo / "staged.txt").write_text("only here\n")
    git(repo, "add", "staged.txt")
    (repo / "staged.txt").unlink()
    reason = "staged, and then deleted: only the index has it"
    assert taken(repo).missing == (Missing("staged.txt", None, reason),)


def test_changes_inside_a_submodule_are_named(repo: Path, remote: Path) -> None:
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(remote), "sub")
    git(repo, "commit", "--quiet", "--message", "Add a submodule")
    (repo / "sub/README.md").write_text("changed inside\n")
    reason = "a submodule with changes of its own"
    assert taken(repo).missing == (Missing("sub", None, reason),)


def test_files_in_the_folder_of_a_submodule_that_is_not_checked_out_are_named(repo: Path) -> None:
    oid = git(repo, "rev-parse", "HEAD")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{oid},lib")
    git(repo, "commit", "--quiet", "--message", "Add a submodule")
    (repo / "lib/deep").mkdir(parents=True)
    assert taken(repo).missing == ()
    (repo / "lib/deep/a.txt").write_text("a\n")
    (repo / "lib/b.txt").write_text("b\n")
    reason = "in the folder of a submodule that is not checked out"
    assert taken(repo).missing == (
        Missing("lib/b.txt", None, reason), Missing("lib/deep", None, reason),
    )  # fmt: skip


def test_a_bare_repository_has_no_work(remote: Path) -> None:
    assert taken(remote).patch.content == b""
