"""The place for checks: one worktree for many commits, and nothing is left of it."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.pulls.check_place import check_place
from tests.support.git import commit, git
from tests.support.road import Road


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def test_one_worktree_has_one_commit_after_another(road: Road) -> None:
    first = road.tip
    second = road.put({"a.txt": "new\n", ".gitignore": "built\n"})
    with check_place(road.house("lead")) as place:
        folder = place.at(second)
        (folder / "a.txt").write_text("changed by a check\n")
        (folder / "litter").write_text("")
        (folder / "built").write_text("")
        assert place.at(second) == folder
        assert git(folder, "status", "--porcelain", "--ignored") == "!! built"
        assert place.at(first) == folder
        assert git(folder, "rev-parse", "HEAD") == first
        assert not (folder / "a.txt").exists()
    assert not folder.exists()
    assert not folder.parent.parent.exists()
    assert len(git(road.folder, "worktree", "list").splitlines()) == 1


def test_each_commit_gets_its_files_and_its_set_up(road: Road) -> None:
    settings = {"worktreeSetupCommand": "echo set up >> ran", "worktreeCopyFiles": [".env"]}
    road.configure(None, **settings)
    (road.folder / ".env").write_text("PORT=1\n")
    (road.folder / ".git/info").mkdir(exist_ok=True)
    (road.folder / ".git/info/exclude").write_text("ran\n")
    with check_place(road.house("lead")) as place:
        folder = place.at(road.tip)
        place.at(commit(road.folder, {"a.txt": "new\n"}))
        assert (folder / ".env").read_text() == "PORT=1\n"
        assert (folder / "ran").read_text() == "set up\nset up\n"


def test_nothing_is_created_before_a_commit_is_checked_out(road: Road) -> None:
    with check_place(road.house("lead")):
        assert len(git(road.folder, "worktree", "list").splitlines()) == 1


def test_a_set_up_that_fails_is_an_error_and_leaves_nothing(road: Road) -> None:
    road.configure(None, worktreeSetupCommand="echo no network; exit 1")
    with (
        check_place(road.house("lead")) as place,
        pytest.raises(GhpError, match="ended with 1:\nno network"),
    ):
        place.at(road.tip)
    assert len(git(road.folder, "worktree", "list").splitlines()) == 1
