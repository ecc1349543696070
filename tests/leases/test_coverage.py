"""What words mean in a worktree: paths are themselves, all else is a pattern of that folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.leases.coverage import WorktreeFiles
from ghp_agents.leases.hold import Hold
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.git import commit, git
from tests.support.leases import furnish


@pytest.fixture
def ground(repo: Path) -> WorktreeFiles:
    furnish(repo)
    commit(repo, {"app/[id]/page.tsx": "", "app/i/page.tsx": "", "a*b": "", "a?": ""})
    return WorktreeFiles(open_workspace(repo, {}, ManualClock()))


@pytest.mark.parametrize(
    ("word", "folder", "pattern"),
    [
        ("app/[id]/page.tsx", "", "/app/\\[id\\]/page.tsx"),
        ("[id]/page.tsx", "app", "/app/\\[id\\]/page.tsx"),
        ("!a*b", "", "!/a\\*b"),
        ("a?", "", "/a\\?"),
        ("a?x", "", "a?x"),
        ("[id]/new.tsx", "app", "/app/[id]/new.tsx"),
        ("src/", "", "src/"),
        ("a.py", "src", "/src/**/a.py"),
        ("..", "src/gen", "/src/"),
        ("/src", "", "/src"),
        ("/gen", "src", "/src/gen"),
        ("ci.yml", ".github", "/.github/**/ci.yml"),
        ("./ci.yml", ".github", "/.github/ci.yml"),
    ],
)
def test_a_word_that_is_a_path_here_means_it_and_others_are_patterns(
    ground: WorktreeFiles, repo: Path, word: str, folder: str, pattern: str
) -> None:
    assert ground.spelled(["*", word], repo / folder)[1:] == (pattern,)


@pytest.mark.parametrize("folder", ["", "src"])
def test_an_absolute_path_counts_from_the_root(
    ground: WorktreeFiles, repo: Path, folder: str
) -> None:
    words = [f"{repo}/src/a.py", f"!{repo}/src/gen/", f"{repo}/app/[id]", str(repo / "src/new.py")]
    assert ground.spelled(words, repo / folder) == (
        "/src/a.py", "!/src/gen/", "/app/\\[id\\]", "/src/new.py",
    )  # fmt: skip
    assert ground.spelled([str(repo)], repo / folder) == ("*",)


def test_a_path_through_a_link_is_the_same_path(repo: Path, tmp_path: Path) -> None:
    furnish(repo)
    link = tmp_path / "link"
    link.symlink_to(repo)
    ground = WorktreeFiles(open_workspace(link, {}, ManualClock()))
    assert ground.spelled([f"{link}/src/a.py", f"{repo}/src/b.py"], link / "src") == (
        "/src/a.py", "/src/b.py",
    )  # fmt: skip
    assert ground.spelled(["./a.py"], repo / "src") == ("/src/a.py",)


def test_a_path_outside_is_refused(ground: WorktreeFiles, repo: Path) -> None:
    for word in (str(repo.parent), "/etc", f"!{repo.parent}"):
        with pytest.raises(UsageError) as caught:
            ground.spelled(["*", word], repo)
        assert "is outside this repository." in str(caught.value)
        assert str(repo) in caught.value.hint


@pytest.mark.parametrize("word", ["a\0b", "x" * 100_000, "\udc80", "/\udc80", "/" + "x" * 100_000])
def test_words_that_no_system_takes_are_refused(
    ground: WorktreeFiles, repo: Path, word: str
) -> None:
    with pytest.raises(UsageError):
        ground.spelled([word], repo)


def test_files_are_those_that_git_has_or_could_have(ground: WorktreeFiles, repo: Path) -> None:
    (repo / ".gitignore").write_text("*.log\n")
    (repo / "x.log").touch()
    (repo / "new\nline").touch()
    git(repo, "rm", "--cached", "--quiet", "src/b.py")
    assert ground.files == sorted([
        ".gitignore", "README.md", "a*b", "a?", "app/[id]/page.tsx", "app/i/page.tsx",
        "docs/a.md", "new\nline", "src/a.py", "src/b.py", "src/gen/x.py",
    ])  # fmt: skip


def test_a_bare_repository_has_no_files_and_takes_patterns(remote: Path) -> None:
    ground = WorktreeFiles(open_workspace(remote, {}, ManualClock()))
    assert ground.files == []
    assert ground.spelled(["src/", "/a"], remote) == ("src/", "/a")
    assert ground.reach(("src/",)).covered == []


def test_each_worktree_has_its_own_files(repo: Path, worktree: Callable[[Path, str], Path]) -> None:
    other = worktree(furnish(repo), "147")
    (other / "only-there").touch()
    ground = WorktreeFiles(open_workspace(other, {}, ManualClock()))
    assert ground.reach(("/only-there", "src/a.py")).covered == ["only-there", "src/a.py"]
    assert ground.spelled([f"{other}/src/a.py", "b.py"], other / "src") == (
        "/src/a.py", "/src/**/b.py",
    )  # fmt: skip


def test_where_case_does_not_count_it_does_not_count_for_leases(repo: Path) -> None:
    furnish(repo)
    git(repo, "config", "core.ignoreCase", "true")
    reach = WorktreeFiles(open_workspace(repo, {}, ManualClock())).reach(("/readme.md",))
    assert reach.covered == ["README.md"]
    assert reach.meets(("/README.md",), None) == "readme.md"


def test_a_name_and_a_path_of_the_same_letters_are_two_things(ground: WorktreeFiles) -> None:
    path, name = ground.reach(("src",)), ground.reach((), "src")
    assert (path.meets((), "src"), name.meets(("src",), None)) == (None, None)
    assert name.meets((), "src") == "src"


def test_my_own_lease_is_in_nobodys_way(ground: WorktreeFiles) -> None:
    reach = ground.reach(("/src/",))
    hold = Hold("aa", "worker-1", False, ("a.py",), None, Timestamp(""))
    assert reach.meets_other(hold, Actor("worker-1")) is None
    assert reach.meets_other(hold, Actor("worker-1", True)) == "src/a.py"
    assert reach.meets_other(hold, Actor("worker-2")) == "src/a.py"
