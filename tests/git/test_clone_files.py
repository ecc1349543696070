"""What the files of a clone say is what git says, and where only git can tell, nobody guesses."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.git import clone_files
from ghp_agents.git.clone_files import Checkout
from ghp_agents.git.refs import UnreadableRefsError
from tests.support.git import commit, git, run_git

MakeWorktree = Callable[[Path, str], Path]
NAMES = ("main", "master", "trunk")


def packed(clone: Path) -> None:
    git(clone, "pack-refs", "--all")


def packed_and_moved(clone: Path) -> None:
    git(clone, "pack-refs", "--all")
    commit(clone, {"a": "1\n"})
    git(clone, "update-ref", "refs/remotes/origin/trunk", "HEAD")


def other_remote(clone: Path) -> None:
    git(clone, "update-ref", "refs/remotes/fork/main", "HEAD")
    git(clone, "symbolic-ref", "refs/remotes/fork/HEAD", "refs/remotes/fork/main")


def symbolic(clone: Path) -> None:
    git(clone, "symbolic-ref", "refs/heads/master", "refs/heads/main")
    git(clone, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/none")


def detached(clone: Path) -> None:
    git(clone, "switch", "--quiet", "--detach")


def unborn(clone: Path) -> None:
    git(clone, "switch", "--quiet", "--orphan", "trunk")


def folder_of_branches(clone: Path) -> None:
    git(clone, "branch", "trunk/one")
    git(clone, "pack-refs", "--all")


STATES = [
    lambda _: None, packed, packed_and_moved, other_remote, symbolic, detached, unborn,
    folder_of_branches,
]  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_refs_are_as_git_says(clone: Path, state: Callable[[Path], None]) -> None:
    state(clone)
    listed = git(
        clone, "for-each-ref", "--format=%(refname) %(symref)", "refs/remotes/*/HEAD",
        *(f"{place}/{name}" for place in ("refs/heads", "refs/remotes/*") for name in NAMES),
    )  # fmt: skip
    as_git = dict(line.split(" ") for line in listed.splitlines())
    as_git.pop("refs/heads/trunk/one", None)  # git also lists what is below a name
    assert clone_files.branches(clone, *NAMES) == as_git
    assert clone_files.head(clone) == _parsed(clone, "HEAD")
    for name in ("refs/heads/main", "refs/heads/master", "refs/heads/trunk",
                 "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"):  # fmt: skip
        assert clone_files.ref(clone, name) == _parsed(clone, name), name


def _parsed(folder: Path, name: str) -> str:
    return run_git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").stdout.strip()


@pytest.mark.parametrize("state", STATES)
def test_worktrees_are_as_git_says(
    clone: Path, worktree: MakeWorktree, state: Callable[[Path], None]
) -> None:
    for name in ("b", "a", "gone"):
        worktree(clone, name)
    git(clone, "worktree", "lock", "--reason", "initializing", f"../{clone.name}-a")
    (clone.parent / f"{clone.name}-gone").rename(clone.parent / "elsewhere")
    state(clone)
    listed = git(clone, "worktree", "list", "--porcelain").split("\n\n")
    entries = [dict(line.partition(" ")[::2] for line in entry.splitlines()) for entry in listed]
    as_git = [
        Checkout(
            Path(entry["worktree"]),
            entry.get("branch", "").removeprefix("refs/heads/") or None,
            entry["HEAD"],
            entry.get("locked") == "initializing",
            entry is entries[0],
        )
        for entry in entries
    ]
    for folder in (clone, clone.parent / f"{clone.name}-b"):
        if state is unborn:
            with pytest.raises(UnreadableRefsError):
                clone_files.worktrees(folder)
        else:
            assert clone_files.worktrees(folder) == as_git


def test_a_repository_of_64_digits_is_read_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "repo")
    commit(tmp_path / "repo", {"a": "1\n"})
    assert clone_files.head(tmp_path / "repo") == _parsed(tmp_path / "repo", "HEAD")
    assert clone_files.blob(tmp_path / "repo", "refs/heads/main", "a") == b"1\n"


def test_a_file_is_read_from_a_commit_or_a_branch(clone: Path) -> None:
    commit(clone, {"docs/a.md": "one\n"})
    head = git(clone, "rev-parse", "HEAD")
    assert clone_files.blob(clone, head, "docs/a.md") == b"one\n"
    assert clone_files.blob(clone, "refs/heads/main", "docs/a.md") == b"one\n"
    assert clone_files.blob(clone, "refs/remotes/origin/HEAD", "README.md") == b"# A project\n"
    for path in ("docs", "docs/b.md", "README.md/x"):
        assert clone_files.blob(clone, head, path) is None
    assert clone_files.blob(clone, "refs/heads/none", "README.md") is None


def test_a_packed_object_is_left_to_git(clone: Path) -> None:
    git(clone, "repack", "-a", "-d", "--quiet")
    with pytest.raises(UnreadableRefsError):
        clone_files.blob(clone, "refs/heads/main", "README.md")


@pytest.mark.parametrize("name", ["refs/heads/../config", "refs/tags/a", "HEAD", "refs/heads/ö"])
def test_a_name_that_only_git_understands_is_left_to_git(clone: Path, name: str) -> None:
    with pytest.raises(UnreadableRefsError):
        clone_files.ref(clone, name)


def test_a_name_that_is_not_utf_8_is_left_to_git(clone: Path) -> None:
    head = (clone / ".git/refs/heads/main").read_bytes()
    for place in (b"refs/heads/caf\xe9", b"refs/remotes/caf\xe9/main"):
        path = clone / ".git" / os.fsdecode(place)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(head)
    for ask in (
        lambda: clone_files.branches(clone, "main"),
        lambda: clone_files.below(clone, "refs/heads/"),
        lambda: clone_files.ref(clone, "refs/heads/caf\udce9"),
    ):
        with pytest.raises(UnreadableRefsError):
            ask()


def test_a_circle_of_refs_is_left_to_git(clone: Path) -> None:
    (clone / ".git/refs/heads/a").write_text("ref: refs/heads/b\n")
    (clone / ".git/refs/heads/b").write_text("ref: refs/heads/a\n")
    with pytest.raises(UnreadableRefsError):
        clone_files.ref(clone, "refs/heads/a")


@pytest.mark.parametrize("content", ["", "ref: refs/heads/main", "x\n", "0" * 41 + "\n"])
def test_a_damaged_ref_is_left_to_git(clone: Path, content: str) -> None:
    (clone / ".git/refs/heads/a").write_text(content)
    with pytest.raises(UnreadableRefsError):
        clone_files.ref(clone, "refs/heads/a")


@pytest.mark.parametrize(
    "config",
    ["[core]\nbare = true\n", "[core]\nbare\n", "[include]\npath = x\n", "", "[core]\nbare = 0\n"],
)
def test_a_clone_that_may_be_bare_is_left_to_git(clone: Path, config: str) -> None:
    (clone / ".git/config").write_text(config)
    with pytest.raises(UnreadableRefsError):
        clone_files.worktrees(clone)


def test_refs_that_are_no_files_are_left_to_git(clone: Path) -> None:
    (clone / ".git/reftable").mkdir()
    for ask in (clone_files.head, clone_files.branches, clone_files.worktrees):
        with pytest.raises(UnreadableRefsError):
            ask(clone)


def test_where_no_clone_is_only_git_can_tell(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRefsError):
        clone_files.head(tmp_path)


@pytest.mark.parametrize("version", [2, 4])
def test_a_tracked_path_is_never_missed(clone: Path, version: int) -> None:
    git(clone, "update-index", "--index-version", str(version))
    commit(clone, {"a/file": "1\n", "a/file-2": "1\n"})
    assert clone_files.may_be_tracked(clone, "a/file-2")
    assert clone_files.may_be_tracked(clone, "a/file-3") == (version == 4)
    git(clone, "update-index", "--split-index")
    assert clone_files.may_be_tracked(clone, "a/file-2")


def test_without_an_index_nothing_is_tracked(clone: Path) -> None:
    (clone / ".git/index").unlink()
    assert not clone_files.may_be_tracked(clone, "README.md")
