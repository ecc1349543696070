"""Which file is meant by a path: through links, in which worktree, and what is none of ours."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.hooks.paths import resolved, targets
from ghp_agents.hotpath.locate import Location, locate
from tests.support.git import git


def home(repo: Path) -> Location:
    place = locate(str(repo), {})
    assert place is not None
    return place


def found(repo: Path, *paths: str, cwd: str | None = None) -> list[tuple[str | None, str]]:
    """Worktree and path of each target."""
    files = targets(paths, cwd or str(repo), home(repo), {})
    return [(target.place.toplevel, target.path) for target in files]


def test_a_path_counts_from_the_top_of_the_worktree(repo: Path) -> None:
    (repo / "src").mkdir()
    for path in (f"{repo}/src/new/a.py", "src/new/a.py", "./src/x/../new/a.py"):
        assert found(repo, path) == [(str(repo), "src/new/a.py")]
    assert found(repo, "new/a.py", cwd=f"{repo}/src") == [(str(repo), "src/new/a.py")]
    assert found(repo, "../a.py", cwd=f"{repo}/src") == [(str(repo), "a.py")]


def test_a_file_that_is_named_twice_is_asked_once(repo: Path) -> None:
    assert found(repo, "a", f"{repo}/a", "./a", "b") == [(str(repo), "a"), (str(repo), "b")]


def test_odd_names_stay_as_they_are(repo: Path) -> None:
    for name in ("line\nbreak.py", " space ", "é✓", "-rf", "a\\b", "'quoted'", "\udcff.bin"):
        assert found(repo, f"{repo}/{name}") == [(str(repo), name)]


@pytest.mark.parametrize("path", ["a\0b", "\ud800/x", "\0"])
def test_what_cannot_be_a_path_is_none(repo: Path, path: str) -> None:
    assert found(repo, path) == []
    assert resolved(path, str(repo)) is None


def test_a_relative_path_needs_a_folder(repo: Path) -> None:
    assert resolved("a", None) is None
    assert resolved("a", "not/absolute") is None
    assert resolved("/a", None) == "/a"


def test_what_lies_elsewhere_is_none_of_ours(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "other")
    git(repo, "init", "--quiet", "vendor/inner")
    outside = [
        "/etc/hosts", f"{tmp_path}/beside.txt", "..", ".", str(repo), f"{tmp_path}/other/a",
        f"{repo}/vendor/inner/a", f"{repo}/.git/config", f"{repo}/.git/hooks/pre-commit",
        "../../../../../../../../../../etc/passwd",
    ]  # fmt: skip
    assert found(repo, *outside) == []


def test_a_link_leads_to_the_file_that_is_changed(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (repo / "real").mkdir()
    (repo / "real/a.py").touch()
    (repo / "out").symlink_to(tmp_path / "outside")
    (repo / "inner").symlink_to("real")
    (repo / "alias.py").symlink_to("real/a.py")
    (repo / "dangling").symlink_to("real/new.py")
    (repo / "loop").symlink_to("loop")
    (tmp_path / "into").symlink_to(repo / "real")
    assert found(repo, "out/a.py", "out") == []
    assert found(repo, "inner/a.py", "alias.py", f"{tmp_path}/into/a.py") == [
        (str(repo), "real/a.py")
    ]
    assert found(repo, "dangling") == [(str(repo), "real/new.py")]
    assert found(repo, "loop") == [(str(repo), "loop")]


def test_a_worktree_by_another_name_is_the_same(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "name").symlink_to(repo)
    files = targets([f"{repo}/a"], None, home(tmp_path / "name"), {})
    assert [(target.place, target.path) for target in files] == [(home(tmp_path / "name"), "a")]


def test_who_stands_in_gits_own_folder_edits_the_worktree(repo: Path) -> None:
    files = targets([f"{repo}/a"], None, home(repo / ".git"), {})
    assert [(target.place, target.path) for target in files] == [(home(repo), "a")]


def test_another_worktree_of_the_clone_is_named(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    other = worktree(repo, "147")
    assert found(repo, f"{other}/a", "a") == [(str(other), "a"), (str(repo), "a")]
    assert found(other, f"{repo}/a", "a") == [(str(repo), "a"), (str(other), "a")]


def test_a_worktree_that_was_removed_is_no_place_any_more(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    other = worktree(repo, "147")
    git(repo, "worktree", "remove", str(other))
    assert found(repo, f"{other}/a") == []
    inside = repo / ".trees/7"
    git(repo, "worktree", "add", "--quiet", str(inside))
    git(repo, "worktree", "remove", str(inside))
    assert found(repo, f"{inside}/a") == [(str(repo), ".trees/7/a")]


def test_a_worktree_whose_registration_is_gone_is_none_of_ours(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    other = worktree(repo, "147")
    (repo / ".git/worktrees").rename(repo / ".git/lost")
    assert found(repo, f"{other}/a") == []
