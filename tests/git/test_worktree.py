"""What is seen of a worktree is so, and looking changes nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.git import worktree
from ghp_agents.git.branch_range import History, Lines, between
from ghp_agents.git.worktree import Commit, Difference
from ghp_agents.hotpath.locate import Location, locate
from tests.support.git import COMMIT_TIME, commit, git, run_git

MAIN = "refs/heads/main"


def place_of(folder: Path) -> Location:
    place = locate(str(folder), {})
    assert place is not None
    return place


def test_what_differs_is_listed_with_odd_names(repo: Path) -> None:
    commit(repo, {"changed": "1\n", "gone": "1\n", "staged": "1\n", "mode": "1\n"})
    (repo / "changed").write_text("2\n")
    (repo / "gone").unlink()
    (repo / "staged").write_text("2\n")
    (repo / "mode").chmod(0o755)
    git(repo, "add", "staged")
    (repo / "new\nline 1").write_text("x\n")
    (repo / "folder").mkdir()
    (repo / "folder/a").write_text("x\n")
    index = (repo / ".git/index").read_bytes()
    assert worktree.differences(repo) == [
        Difference(".M", "changed"),
        Difference("??", "folder/"),
        Difference(".D", "gone"),
        Difference(".M", "mode"),
        Difference("??", "new\nline 1"),
        Difference("M.", "staged"),
    ]
    assert (repo / ".git/index").read_bytes() == index


def test_a_persons_own_taste_of_status_changes_nothing(repo: Path) -> None:
    git(repo, "config", "status.showUntrackedFiles", "no")
    git(repo, "config", "status.renames", "copies")
    git(repo, "mv", "README.md", "moved.md")
    (repo / "new").write_text("x\n")
    assert worktree.differences(repo) == [
        Difference("D.", "README.md"),
        Difference("A.", "moved.md"),
        Difference("??", "new"),
    ]


def test_a_submodule_that_was_worked_in_is_known(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "library")
    commit(tmp_path / "library", {"x": "1\n"})
    allow = ("-c", "protocol.file.allow=always")
    git(repo, *allow, "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    git(repo, "commit", "--quiet", "-m", "Add a library")
    assert worktree.differences(repo) == []
    (repo / "lib/x").write_text("2\n")
    assert worktree.differences(repo) == [Difference(".M", "lib", inside=True)]


def in_conflict(repo: Path) -> None:
    base = commit(repo, {"a": "base\n"})
    commit(repo, {"a": "ours\n"})
    git(repo, "checkout", "--quiet", "-b", "other", base)
    commit(repo, {"a": "theirs\n"})


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("merge main", "a merge"), ("rebase main", "a rebase"),
        ("rebase --apply main", "a rebase"), ("cherry-pick main", "a cherry-pick"),
        ("revert HEAD~1", "a revert"),
    ],
)  # fmt: skip
def test_what_is_in_progress_is_named(repo: Path, command: str, name: str) -> None:
    in_conflict(repo)
    if name == "a revert":
        commit(repo, {"a": "again\n"})
    assert worktree.operation(repo / ".git") is None
    assert run_git(repo, *command.split()).returncode != 0
    assert worktree.operation(repo / ".git") == name
    assert worktree.unmerged(repo) == ("a",)
    assert [difference.path for difference in worktree.differences(repo)] == ["a"]


def test_history_is_what_the_others_do_not_have(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "--quiet", "-b", "work")
    commit(repo, {"a": "1\n2\n", "b\tc": "x\n"}, "First: with a % and a \x1f in it")
    second = commit(repo, {"a": "1\n", "pic": b"\0"}, "Second\n\nMore about it")
    git(repo, "checkout", "--quiet", "main")
    commit(repo, {"z": "z\n"})
    git(repo, "checkout", "--quiet", "work")
    history = between(repo, [MAIN], "HEAD").history
    assert history.base == base
    assert history.total == 2
    assert history.commits[0] == Commit(
        second, "Test Person", COMMIT_TIME.replace("Z", "+00:00"), "Second"
    )
    assert history.commits[1].subject == "First: with a % and a \x1f in it"
    assert history.files == (Lines("a", 1, 0), Lines("b\tc", 1, 0), Lines("pic", None, None))


def test_a_trunk_that_is_behind_its_remote_does_not_count_others_commits(
    clones: Callable[[int], list[Path]],
) -> None:
    mine, theirs = clones(2)
    commit(theirs, {"theirs": "x\n"})
    git(theirs, "push", "--quiet")
    git(mine, "fetch", "--quiet")
    git(mine, "checkout", "--quiet", "-b", "work", "origin/main")
    commit(mine, {"mine": "x\n"})
    history = between(mine, [MAIN, "refs/remotes/origin/main"], "HEAD").history
    assert history.total == 1
    assert history.files == (Lines("mine", 1, 0),)


def test_without_a_trunk_the_latest_commits_are_the_history(repo: Path) -> None:
    commit(repo, {"a": "1\n"}, "Second")
    history = between(repo, [], "HEAD").history
    assert [commit.subject for commit in history.commits] == ["Second", "Begin"]
    assert (history.base, history.total, history.files) == ("", 2, ())


def test_branches_without_a_common_commit_have_no_base(repo: Path) -> None:
    git(repo, "checkout", "--quiet", "--orphan", "other")
    git(repo, "commit", "--quiet", "-m", "Other")
    history = between(repo, [MAIN], "HEAD").history
    assert (history.base, history.total) == ("", 1)


def test_a_sha256_repository_has_a_history_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "repo")
    repo = tmp_path / "repo"
    commit(repo, {"a": "1\n"}, "Begin")
    git(repo, "checkout", "--quiet", "-b", "work")
    commit(repo, {"a": "2\n"}, "Go on")
    history = between(repo, [MAIN], "HEAD").history
    assert [commit.subject for commit in history.commits] == ["Go on"]
    assert history.files == (Lines("a", 1, 1),)


def test_inside_a_hook_the_history_is_that_of_the_worktree_asked_about(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    assert [commit.subject for commit in between(repo, [], "HEAD").history.commits] == ["Begin"]
    assert between(tmp_path / "other", [], "HEAD").history == History()


def test_commits_on_no_remote_are_counted(clone: Path, repo: Path) -> None:
    head = git(clone, "rev-parse", "HEAD")
    assert worktree.unsent(clone, head) == 0
    assert worktree.unsent(clone, commit(clone, {"a": "1\n"})) == 1
    assert worktree.unsent(repo, git(repo, "rev-parse", "HEAD")) is None


def test_a_commit_is_here_or_not(repo: Path) -> None:
    first = worktree.head(repo)
    second = commit(repo, {"a": "1\n"})
    assert worktree.has_commit(repo, first)
    assert not worktree.has_commit(repo, "0" * 40)
    assert not worktree.has_commit(repo, git(repo, "rev-parse", "HEAD:README.md"))
    assert worktree.contains(repo, second, first)
    assert not worktree.contains(repo, first, second)
    assert not worktree.contains(repo, first, "0" * 40)


def test_branches_are_found_by_name(clone: Path) -> None:
    assert worktree.branches(clone, "main", "master") == {
        "refs/heads/main": "",
        "refs/remotes/origin/HEAD": "refs/remotes/origin/main",
        "refs/remotes/origin/main": "",
    }
