"""Refs from the disk are those that git lists, and where only git can tell, nobody guesses."""

from pathlib import Path

import pytest

from ghp_agents.git.refs import UnreadableRefsError, read_refs, swap_ref
from tests.support.git import commit, git, refs


def test_loose_and_packed_refs_are_listed_as_by_git(repo: Path) -> None:
    for name in ("heads/a", "tags/a/b", "tags/b"):
        git(repo, "update-ref", f"refs/{name}", "HEAD")
    git(repo, "tag", "--annotate", "--message", "x", "c")
    git(repo, "pack-refs", "--all")
    git(repo, "update-ref", "-d", "refs/tags/b")
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "x")
    git(repo, "update-ref", "refs/tags/a/b", "HEAD")
    git(repo, "update-ref", "refs/tags/d", "HEAD")
    (repo / ".git/refs/tags/e.lock").touch()
    assert read_refs(repo / ".git", "refs/") == refs(repo)
    assert read_refs(repo / ".git", "refs/tags/") == refs(repo, "refs/tags")
    assert list(read_refs(repo / ".git", "refs/tags/d", "refs/heads/a")) == [
        "refs/heads/a", "refs/tags/d"
    ]  # fmt: skip
    assert read_refs(repo / ".git", "refs/none/") == {}


def test_objects_of_64_digits_are_listed_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "repo")
    git(tmp_path / "repo", "commit", "--quiet", "--allow-empty", "--message", "x")
    assert read_refs(tmp_path / "repo/.git", "refs/heads/") == refs(tmp_path / "repo")


@pytest.mark.parametrize("content", ["", "ref: refs/heads/main\n", "1234\n", "0" * 41 + "\n"])
def test_a_file_that_holds_no_object_is_left_to_git(repo: Path, content: str) -> None:
    (repo / ".git/refs/heads/odd").write_text(content)
    with pytest.raises(UnreadableRefsError):
        read_refs(repo / ".git", "refs/heads/")
    assert read_refs(repo / ".git", "refs/tags/") == {}


@pytest.mark.parametrize("name", ["a b", "ö", ".a", "a.", "a..b", "a@{b", "a.lock/b"])
def test_a_name_that_git_may_not_accept_is_left_to_git(repo: Path, name: str) -> None:
    path = repo / ".git/refs/tags" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(git(repo, "rev-parse", "HEAD") + "\n")
    with pytest.raises(UnreadableRefsError):
        read_refs(repo / ".git", "refs/tags/")


def test_refs_that_are_no_files_are_left_to_git(repo: Path) -> None:
    (repo / ".git/reftable").mkdir()
    with pytest.raises(UnreadableRefsError):
        read_refs(repo / ".git", "refs/")


def test_refs_of_another_folder_are_left_to_git(repo: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "--detach", "../other")
    folder = repo / ".git/worktrees/other"
    git(repo.parent / "other", "update-ref", "refs/worktree/new", "HEAD")
    with pytest.raises(UnreadableRefsError):
        read_refs(folder, "refs/worktree/", "refs/heads/")
    assert read_refs(folder, "refs/worktree/") == {
        "refs/worktree/new": git(repo, "rev-parse", "HEAD")
    }


# ---------------------------------------------------------------------------------- moving one


def head(repo: Path) -> str:
    return git(repo, "rev-parse", "HEAD")


@pytest.fixture
def folder(repo: Path) -> Path:
    git(repo, "update-ref", "refs/ghp/x/one", "HEAD")
    return repo / ".git"


def test_a_ref_moves_only_from_where_it_is(repo: Path, folder: Path) -> None:
    before, after = head(repo), commit(repo, {"later": "later"})
    assert not swap_ref(folder, "refs/ghp/x/one", None, after)
    assert not swap_ref(folder, "refs/ghp/x/one", after, after)
    assert not swap_ref(folder, "refs/ghp/x/new", before, after)
    assert read_refs(folder, "refs/ghp/x/new") == {}
    git(repo, "pack-refs", "--all", "--prune")
    assert swap_ref(folder, "refs/ghp/x/one", before, after)
    assert swap_ref(folder, "refs/ghp/new/deep/two", None, after)
    assert git(repo, "rev-parse", "refs/ghp/x/one", "refs/ghp/new/deep/two") == f"{after}\n{after}"
    assert [*(repo / ".git").rglob("*.lock")] == []


def test_while_another_process_moves_a_ref_it_stays(repo: Path, folder: Path) -> None:
    lock = repo / ".git/refs/ghp/x/one.lock"
    lock.write_text("")
    assert not swap_ref(folder, "refs/ghp/x/one", head(repo), head(repo))
    assert lock.exists()


def test_what_is_no_plain_ref_is_moved_by_git_alone(repo: Path, folder: Path) -> None:
    git(repo, "symbolic-ref", "refs/ghp/x/link", "refs/ghp/x/one")
    with pytest.raises(UnreadableRefsError):
        swap_ref(folder, "refs/ghp/x/link", head(repo), head(repo))
    (repo / ".git/refs/ghp/x/link").unlink()
    (repo / ".git/reftable").mkdir()
    with pytest.raises(UnreadableRefsError):
        swap_ref(folder, "refs/ghp/x/one", head(repo), head(repo))
    assert [*folder.rglob("*.lock")] == []
