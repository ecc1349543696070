"""What a merge comes to, without touching a worktree; also by a git that cannot do that itself."""

from pathlib import Path

import pytest

from ghp_agents.git import merge as landing
from tests.support.git import commit, git
from tests.support.road import everything

OLD, NEW = (2, 37, 0), (2, 39, 5)


@pytest.fixture
def fork(repo: Path) -> tuple[str, str]:
    """The trunk and a branch, each with a commit of its own; the trunk is checked out."""
    git(repo, "switch", "--quiet", "-c", "work")
    commit(repo, {"a.txt": "one\n"}, "One")
    head = commit(repo, {"b.txt": "two\n"}, "Two")
    git(repo, "switch", "--quiet", "main")
    return commit(repo, {"c.txt": "three\n"}, "Three"), head


def scratch(repo: Path) -> Path:
    return repo.parent / "scratch"


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_merge_is_a_tree_and_nothing_else(
    repo: Path, fork: tuple[str, str], version: tuple[int, ...]
) -> None:
    before = everything(repo)
    merged = landing.merge(repo, scratch(repo), *fork, version=version)
    assert git(repo, "ls-tree", "--name-only", merged.oid).split() == [
        "README.md", "a.txt", "b.txt", "c.txt",
    ]  # fmt: skip
    assert merged.conflicts == ()
    assert everything(repo) == before
    assert len(git(repo, "worktree", "list").splitlines()) == 1
    assert list(scratch(repo).glob("*")) == []


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_conflict_names_each_file_once(repo: Path, version: tuple[int, ...]) -> None:
    git(repo, "switch", "--quiet", "-c", "work")
    head = commit(repo, {"README.md": "theirs\n", "ä b.txt": "theirs\n", "good.txt": "x\n"})
    git(repo, "switch", "--quiet", "main")
    trunk = commit(repo, {"README.md": "ours\n", "ä b.txt": "ours\n"})
    before = everything(repo)
    merged = landing.merge(repo, scratch(repo), trunk, head, version=version)
    assert merged.conflicts == ("README.md", "ä b.txt")
    assert everything(repo) == before
    assert len(git(repo, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    ("method", "subjects", "parents"),
    [("merge", ["Land"], 2), ("squash", ["Land"], 1), ("rebase", ["Two", "One"], 1)],
)
def test_each_method_makes_its_own_commits_with_the_same_content(
    repo: Path, fork: tuple[str, str], method: str, subjects: list[str], parents: int
) -> None:
    trunk, head = fork
    landed = landing.merge_commits(repo, scratch(repo), trunk, head, method, "Land\n")
    log = git(repo, "log", "--format=%s", landed.oid, "--not", trunk, head).splitlines()
    assert log == subjects
    assert len(git(repo, "log", "-1", "--format=%P", landed.oid).split()) == parents
    assert git(repo, "ls-tree", "--name-only", landed.oid).split() == [
        "README.md", "a.txt", "b.txt", "c.txt",
    ]  # fmt: skip
    assert git(repo, "rev-parse", "main", "work").split() == [trunk, head]


def test_a_rebase_of_what_is_up_to_date_is_what_it_is(repo: Path, fork: tuple[str, str]) -> None:
    _, head = fork
    base = git(repo, "merge-base", *fork)
    assert landing.merge_commits(
        repo, scratch(repo), base, head, "rebase", ""
    ) == landing.MergeResult(head)


def test_what_came_by_any_method_is_found_on_the_trunk(repo: Path, fork: tuple[str, str]) -> None:
    trunk, head = fork
    assert landing.landed(repo, trunk, head) is None
    for method in ("merge", "squash", "rebase"):
        message = f"Land\n\n{landing.HEAD_TRAILER}: {head}\n"
        merged = landing.merge_commits(repo, scratch(repo), trunk, head, method, message).oid
        later = landing.commit(repo, f"{merged}^{{tree}}", [merged], "Later\n")
        assert landing.landed(repo, merged, head) == merged
        assert landing.landed(repo, later, head) in (merged, later)  # a rebase does not say as what


def test_a_branch_that_got_more_since_is_not_there(repo: Path, fork: tuple[str, str]) -> None:
    trunk, head = fork
    message = f"Land\n\n{landing.HEAD_TRAILER}: {head}\n"
    merged = landing.merge_commits(repo, scratch(repo), trunk, head, "squash", message).oid
    git(repo, "switch", "--quiet", "work")
    more = commit(repo, {"d.txt": "four\n"})
    assert landing.landed(repo, merged, more) is None


def test_a_persons_settings_change_nothing(repo: Path, fork: tuple[str, str]) -> None:
    for key, value in (
        ("merge.ff", "only"), ("rebase.autoStash", "true"), ("commit.gpgSign", "false"),
        ("merge.conflictStyle", "diff3"), ("core.editor", "false"), ("rebase.autoSquash", "true"),
    ):  # fmt: skip
        git(repo, "config", key, value)
    for version in (OLD, NEW):
        assert landing.merge(repo, scratch(repo), *fork, version=version).conflicts == ()
    assert landing.merge_commits(repo, scratch(repo), *fork, "rebase", "").conflicts == ()


def test_a_worktree_for_a_moment_is_gone_when_the_block_fails(repo: Path) -> None:
    places: list[Path] = []

    def fail() -> None:
        with landing.detached(repo, scratch(repo), "HEAD") as place:
            (place / "litter.txt").write_text("litter\n")
            places.append(place)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not places[0].exists()
    assert len(git(repo, "worktree", "list").splitlines()) == 1


def test_conflicts_are_known_without_a_new_object(repo: Path, fork: tuple[str, str]) -> None:
    theirs = commit(repo, {"b.txt": "other\n", "ü.txt": "new\n"})
    before = git(repo, "count-objects")
    assert landing.conflicts(repo, repo / ".git", *fork) == ()
    assert landing.conflicts(repo, repo / ".git", theirs, fork[1]) == ("b.txt",)
    assert landing.conflicts(repo, repo / ".git", theirs, "ab" * 20) is None
    assert git(repo, "count-objects") == before
