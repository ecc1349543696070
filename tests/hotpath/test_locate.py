"""The repository around a folder, found without git, is the one that git finds."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.hotpath.locate import (
    NUMBERS_END,
    Location,
    branch,
    issue_of_branch,
    locate,
    worktree_at,
)
from tests.support.git import git, run_git


def as_git_says(folder: Path) -> Location:
    """What `git rev-parse` answers there."""
    shown = git(folder, "rev-parse", "--absolute-git-dir", "--is-bare-repository")
    git_dir, bare = shown.splitlines()
    common = git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    inside = git(folder, "rev-parse", "--is-inside-work-tree")
    toplevel = git(folder, "rev-parse", "--show-toplevel") if inside == "true" else None
    assert (toplevel is None) == (bare == "true" or inside == "false")
    return Location(toplevel, git_dir, common)


def found(folder: Path) -> Location | None:
    return locate(str(folder), {})


def test_a_repository_is_found_from_any_folder_of_it(repo: Path) -> None:
    (repo / "a/b").mkdir(parents=True)
    for folder in (repo, repo / "a", repo / "a/b"):
        assert found(folder) == as_git_says(folder) == Location(
            str(repo), str(repo / ".git"), str(repo / ".git")
        )  # fmt: skip


def test_a_linked_worktree_has_a_git_folder_of_its_own_and_shares_the_common_one(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    linked = worktree(repo, "147")
    assert found(linked) == as_git_says(linked) == Location(
        str(linked), str(repo / ".git/worktrees" / linked.name), str(repo / ".git")
    )  # fmt: skip


def test_a_git_folder_says_where_its_worktree_is(
    repo: Path, worktree: Callable[[Path, str], Path], tmp_path: Path
) -> None:
    linked = worktree(repo, "147")
    admin = repo / ".git/worktrees" / linked.name
    assert worktree_at(str(repo / ".git")) == str(repo)
    assert worktree_at(str(admin)) == str(linked)
    (admin / "gitdir").write_text(f"../../../../{linked.name}/.git\n")  # relative, as in newer git
    assert worktree_at(str(admin)) == str(repo.parent / linked.name)
    (admin / "gitdir").write_text("odd\n")
    assert worktree_at(str(admin)) is None
    assert worktree_at(str(tmp_path / "bare.git")) is None


def test_a_worktree_inside_the_main_one_is_not_taken_for_it(repo: Path) -> None:
    inner = repo / ".worktrees/147"
    git(repo, "worktree", "add", "--quiet", "--detach", str(inner))
    (inner / "src").mkdir()
    assert found(inner / "src") == as_git_says(inner / "src")


def test_a_bare_repository_and_its_worktrees(remote: Path, tmp_path: Path) -> None:
    git(remote, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    assert found(tmp_path / "linked") == as_git_says(tmp_path / "linked")
    # Its own folder could be anybody's files: git is asked (`git/discovery.py`).
    assert found(remote) is None
    assert found(remote / "objects") is None


def test_a_bare_repository_called_dot_git_beside_its_worktrees(
    remote: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    git(tmp_path, "clone", "--quiet", "--bare", str(remote), str(project / ".git"))
    git(project, "worktree", "add", "--quiet", "--detach", str(project / "main"))
    assert found(project / "main") == as_git_says(project / "main")


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    assert found(tmp_path / "empty") == as_git_says(tmp_path / "empty")


def test_a_submodule_has_a_repository_of_its_own(repo: Path, remote: Path) -> None:
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(remote), "sub")
    (repo / "sub/deep").mkdir()
    assert found(repo / "sub/deep") == as_git_says(repo / "sub/deep")
    assert found(repo / "sub") == Location(
        str(repo / "sub"), str(repo / ".git/modules/sub"), str(repo / ".git/modules/sub")
    )


def test_a_git_folder_that_is_kept_elsewhere(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--separate-git-dir", str(tmp_path / "elsewhere"), "work")
    assert found(tmp_path / "work") == as_git_says(tmp_path / "work")


def test_from_inside_the_git_folder(repo: Path) -> None:
    assert found(repo / ".git") == as_git_says(repo / ".git")
    assert found(repo / ".git/refs/heads") == as_git_says(repo / ".git/refs/heads")


def test_a_git_folder_with_nothing_in_it_is_passed_by(repo: Path) -> None:
    (repo / "a/.git").mkdir(parents=True)
    assert found(repo / "a") == as_git_says(repo / "a")


@pytest.mark.parametrize("text", ["gitdir: /nowhere/at/all\n", "gitdir: \n", "nonsense\n", ""])
def test_a_worktree_whose_repository_is_gone_is_not_taken_for_the_one_around_it(
    repo: Path, text: str
) -> None:
    (repo / "a/b").mkdir(parents=True)
    (repo / "a/.git").write_text(text)
    assert run_git(repo / "a/b", "rev-parse").returncode == 128
    assert found(repo / "a/b") is None


def test_outside_of_any_repository_there_is_none(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    assert found(tmp_path / "not/there") is None


def test_the_repository_that_a_variable_names_counts_only_where_there_is_no_other(
    repo: Path, remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    environ = {"GIT_DIR": ".git", "GIT_WORK_TREE": "."}
    assert locate(str(tmp_path), environ) == found(repo)
    bare = Location(None, str(remote), str(remote))
    assert locate(str(tmp_path), {"GIT_DIR": str(remote)}) == bare
    assert locate(str(remote), {"GIT_DIR": str(remote)}) == bare
    assert locate(str(repo), {"GIT_DIR": str(remote)}) == found(repo)
    assert locate(str(tmp_path), {"GIT_DIR": "/nowhere"}) is None


def test_the_branch_is_read_without_git(
    repo: Path, worktree: Callable[[Path, str], Path], tmp_path: Path
) -> None:
    linked = worktree(repo, "147")
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk/one", "empty")
    git_dirs = [repo / ".git", repo / ".git/worktrees" / linked.name, tmp_path / "empty/.git"]
    assert [branch(str(path)) for path in git_dirs] == ["main", "agent/147", "trunk/one"]
    git(linked, "checkout", "--quiet", "--detach")
    assert branch(str(git_dirs[1])) is None
    assert branch(str(tmp_path)) is None
    (tmp_path / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert branch(str(tmp_path)) is None


@pytest.mark.parametrize("name", [".git", "HEAD", "commondir", "config"])
def test_a_zero_byte_in_a_file_of_gits_ends_no_search_badly(
    repo: Path, worktree: Callable[[Path, str], Path], name: str
) -> None:
    linked = worktree(repo, "147")
    inside = repo / ".git/worktrees" / linked.name
    for folder in (linked, inside, repo / ".git"):
        if (folder / name).is_file():
            text = b'[core]\nbare = true\nworktree = "\0x"\n\0'
            (folder / name).write_bytes(b"gitdir: \0x\n" if name == ".git" else text)
    for start in (linked, inside, repo):
        place = locate(str(start), {})
        assert place is None or "\0" not in repr(place)
        assert "\0" not in str(branch(str(start)))


def test_places_compare_by_what_they_say() -> None:
    one = Location("/a", "/a/.git", "/a/.git")
    assert one == Location("/a", "/a/.git", "/a/.git")
    assert one != Location(None, "/a/.git", "/a/.git")
    assert len({one, Location("/a", "/a/.git", "/a/.git")}) == 1
    assert repr(one) == "Location('/a', '/a/.git', '/a/.git')"


PATTERNS = (r"/(\d+)-", r"^(\d+)-", r"-(\d+)-", r"[/#](\d+)$")  # upstream GHP's


@pytest.mark.slow
@given(st.lists(st.sampled_from(["a", "/", "-", "#", "0", "12", "٣", "9" * 17]), max_size=9))
def test_the_issue_of_a_branch_is_the_one_of_upstreams_patterns(parts: list[str]) -> None:
    name = "".join(parts)
    matches = [re.search(pattern, name) for pattern in PATTERNS]
    numbers = [int(match[1]) for match in matches if match]
    expected = next((number for number in numbers if 0 < number < NUMBERS_END), None)
    assert issue_of_branch(name) == expected
