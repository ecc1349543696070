"""What a change touches, on real git."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.git import changed_paths as changes
from tests.support.git import commit, git

ODD = "odd/é\n\udcff.py"


def make(repo: Path, *names: str) -> None:
    for name in names:
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("changed\n")


def test_the_worktree_differs_by_what_is_staged_changed_deleted_and_new(repo: Path) -> None:
    commit(repo, {"a": "", "b": "", "c": "", "old": "the same content"})
    make(repo, "a", "new/deep/file", ODD, "x.log")
    (repo / ".gitignore").write_text("*.log\n")
    (repo / "b").unlink()
    make(repo, "staged")
    git(repo, "add", "staged")
    git(repo, "mv", "old", "moved")
    assert sorted(changes.in_worktree(repo)) == sorted(
        [".gitignore", "a", "b", "moved", "new/deep/file", ODD, "old", "staged"]
    )


def test_what_is_staged_is_what_would_be_committed(repo: Path) -> None:
    commit(repo, {"a": "", "b": ""})
    make(repo, "a", "b", "c", ODD)
    git(repo, "add", "a", "odd")
    assert sorted(changes.staged(repo)) == sorted(["a", ODD])
    git(repo, "config", "diff.noprefix", "true")
    git(repo, "config", "diff.external", "/bin/false")
    assert sorted(changes.staged(repo)) == sorted(["a", ODD])


def test_before_the_first_commit_all_that_is_staged_is_new(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    make(tmp_path, "a", "b")
    git(tmp_path, "add", "a")
    assert changes.staged(tmp_path) == ["a"]
    assert sorted(changes.in_worktree(tmp_path)) == ["a", "b"]


def test_a_branch_changes_what_it_changed_and_not_what_the_trunk_did_since(repo: Path) -> None:
    git(repo, "switch", "--quiet", "-c", "work")
    commit(repo, {"mine": "1", ODD: ""})
    git(repo, "switch", "--quiet", "main")
    commit(repo, {"theirs": "1"})
    git(repo, "switch", "--quiet", "work")
    base = changes.fork_point(repo, "main")
    assert sorted(changes.differing(repo, base, "HEAD")) == sorted(["mine", ODD])


@pytest.mark.parametrize("ref", ["nope", "", "--all", "HEAD:README.md", "a\0b", "x" * 5_000])
def test_a_base_that_is_no_commit_is_refused(repo: Path, ref: str) -> None:
    with pytest.raises(UsageError) as caught:
        changes.fork_point(repo, ref)
    assert caught.value.hint.startswith("Name a branch, tag or commit")


def test_in_a_shallow_clone_the_hint_says_what_is_missing(repo: Path) -> None:
    git(repo, "switch", "--quiet", "--orphan", "other")
    commit(repo, {"x": ""})
    with pytest.raises(UsageError, match="have no common commit here") as caught:
        changes.fork_point(repo, "main")
    assert "fetch-depth: 0" in caught.value.hint


def test_commits_say_who_made_them(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    commit(repo, {"a": "1"}, "First\n\nAgent: worker-1\nAgent: worker-2\n")
    commit(repo, {"a": "2"}, "Second\n\nNot a trailer: worker-3\n\nAgent:   worker-4  \n")
    git(repo, "config", "user.name", "Odd\x1e Name")
    commit(repo, {"a": "3"}, "Third")
    commits = changes.commits_since(repo, base)
    assert [(commit.agents, commit.subject) for commit in commits] == [
        (("worker-1", "worker-2"), "First"),
        (("worker-4",), "Second"),
        commits[2][2:],
    ]
    assert [commit.author for commit in commits[:2]] == ["Test Person"] * 2
    assert changes.commits_since(repo, "HEAD") == []


def test_paths_count_from_the_top_through_links_to_folders(repo: Path) -> None:
    make(repo, "src/a.py")
    (repo / "link").symlink_to("src")
    (repo / "src/outside").symlink_to("/etc/passwd")
    words = ["a.py", "../README.md", "../link/new.py", str(repo / "x"), "outside", "..", "./a.py/"]
    assert changes.from_root(str(repo), repo / "src", words) == [
        "src/a.py", "README.md", "src/new.py", "x", "src/outside", ".", "src/a.py",
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["", "../../x", "/etc/passwd", "a\0b"])
def test_a_path_outside_is_refused(repo: Path, word: str) -> None:
    (repo / "src").mkdir()
    with pytest.raises(UsageError, match="outside this repository"):
        changes.from_root(str(repo), repo / "src", [word])


def test_the_files_below_a_folder_are_those_of_git(repo: Path) -> None:
    commit(repo, {".gitignore": "*.log\n", "src/a.py": "", "src/[b].py": ""})
    make(repo, "src/new.py", "src/x.log", "other")
    (repo / "src/a.py").unlink()
    assert changes.below(repo, "src") == ["src/[b].py", "src/a.py", "src/new.py"]
    assert changes.below(repo, ".") == [
        ".gitignore", "README.md", "other", "src/[b].py", "src/a.py", "src/new.py",
    ]  # fmt: skip


def test_files_are_the_tracked_ones_and_those_that_could_be(repo: Path) -> None:
    commit(repo, {"b": "", "a/é": "", ".gitignore": "*.log\n"})
    (repo / "new\nline").touch()
    (repo / "x.log").touch()
    (repo / "b").unlink()
    assert changes.below(repo, ".") == [".gitignore", "README.md", "a/é", "b", "new\nline"]
