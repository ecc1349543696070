"""A worktree's content as a tree."""

import os
from pathlib import Path

import pytest

from ghp_agents.git import trial_merge, worktree_tree
from ghp_agents.git.index_copy import LeftOut
from ghp_agents.git.trial_merge import TrialPlace
from ghp_agents.git.worktree_tree import WorktreeTree
from ghp_agents.hotpath.locate import locate
from tests.support.git import commit, git
from tests.support.road import everything


class Reader:
    """Reads the worktree of one repository."""

    def __init__(self, repo: Path, folder: Path) -> None:
        self.repo, self.folder, self.calls = repo, folder, 0

    def read(self) -> tuple[WorktreeTree, TrialPlace]:
        self.calls += 1
        scratch, index = self.folder / f"s{self.calls}", self.folder / f"i{self.calls}"
        scratch.mkdir()
        index.mkdir()
        place = trial_merge.open_place(self.repo / ".git", scratch, trial_merge.programs(self.repo))
        location = locate(str(self.repo), {})
        assert location is not None
        return worktree_tree.read(location, index, place.objects, place.programs), place

    def listed(self) -> list[str]:
        tree, place = self.read()
        return place.check("ls-tree", "-r", "-z", "--name-only", tree.tree).names


@pytest.fixture
def reader(repo: Path, tmp_path: Path) -> Reader:
    return Reader(repo, tmp_path)


def test_a_clean_worktree_has_no_tree_of_its_own(repo: Path, reader: Reader) -> None:
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/exclude").write_text("*.log\n")
    (repo / "x.log").write_text("1\n")
    assert reader.read()[0] == WorktreeTree(git(repo, "rev-parse", "HEAD"))


def test_the_tree_is_that_of_a_commit_of_everything(repo: Path, reader: Reader) -> None:
    commit(repo, {"a": "1\n", "b": "1\n", "folder": "1\n"})
    (repo / "a").write_text("2\n")
    (repo / "b").unlink()
    (repo / "folder").unlink()
    (repo / "folder").mkdir()
    (repo / "folder/new").write_text("1\n")
    (repo / "link").symlink_to("a")
    (repo / "tool").write_text("1\n")
    (repo / "tool").chmod(0o755)
    git(repo, "add", "tool")
    before = everything(repo)
    tree = reader.read()[0]
    assert everything(repo) == before
    git(repo, "add", "--all")
    assert tree == WorktreeTree(git(repo, "rev-parse", "HEAD"), git(repo, "write-tree"))


def test_a_nested_repository_is_left_alone(repo: Path, reader: Reader) -> None:
    git(repo, "init", "--quiet", "nested")
    (repo / "new").write_text("1\n")
    assert reader.listed() == ["README.md", "new"]


def test_what_is_too_large_or_unreadable_is_left_out(
    repo: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worktree_tree, "NEW_BYTES", 10)
    (repo / "small").write_text("1\n")
    (repo / "large").write_text("1" * 20)
    tree = reader.read()[0]
    assert tree.left_out == (LeftOut("large", 20, "too large"),)
    assert reader.listed() == ["README.md", "small"]


def test_a_file_that_git_cannot_read_keeps_no_other_from_being_read(
    repo: Path, reader: Reader
) -> None:
    commit(repo, {"a": "1\n", "b": "1\n"})
    (repo / "a").unlink()
    os.mkfifo(repo / "a")
    (repo / "b").write_text("2\n")
    (repo / "new").write_text("2\n")
    tree, place = reader.read()
    assert place.check("cat-file", "blob", f"{tree.tree}:b").out == b"2\n"
    assert place.check("cat-file", "blob", f"{tree.tree}:new").out == b"2\n"
    assert [item.path for item in tree.left_out] == ["a"]


def test_files_that_are_only_intended_to_be_added_have_their_content(
    repo: Path, reader: Reader
) -> None:
    (repo / "new").write_text("1\n")
    git(repo, "add", "--intent-to-add", "new")
    tree, place = reader.read()
    assert place.check("cat-file", "blob", f"{tree.tree}:new").out == b"1\n"


def test_unmerged_files_are_named(repo: Path, reader: Reader) -> None:
    blob = git(repo, "rev-parse", "HEAD:README.md")
    lines = "".join(f"100644 {blob} {stage}\tx\n" for stage in (1, 2, 3))
    git(repo, "update-index", "--index-info", stdin=lines)
    assert reader.read()[0].unmerged == ("x",)


def test_before_the_first_commit_there_is_no_head(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "new")
    (tmp_path / "new/a").write_text("1\n")
    assert Reader(tmp_path / "new", tmp_path).read()[0] == WorktreeTree("")
