"""Worktrees go into one folder for each repository, by upstream's rule."""

from pathlib import Path

import pytest

from ghp_agents.worktrees.folder import name_of, worktrees_folder
from tests.support.repos import Restored
from tests.support.road import Road, with_issue


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


@pytest.mark.parametrize(
    ("setting", "where"),
    [
        ("~/trees", "{home}/trees/repo"),
        ("~", "{home}/repo"),
        ("../.worktrees", "{parent}/.worktrees/repo"),
        ("/somewhere", "/somewhere/repo"),
    ],
)
def test_worktrees_go_where_upstream_puts_them(road: Road, setting: str, where: str) -> None:
    road.configure(worktreePath=setting)
    expected = where.format(home=Path.home(), parent=road.folder.parent)
    assert str(worktrees_folder(road.house("worker-1").ws)) == expected


def test_a_relative_path_counts_from_the_main_worktree_wherever_one_is(road: Road) -> None:
    road.configure(worktreePath="../.worktrees")
    inner = road.start("worker-1").path
    ws = road.house("worker-1", inner).ws
    assert worktrees_folder(ws) == road.folder.parent / ".worktrees/repo"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://github.com/acme/widgets.git", "widgets"),
        ("git@github.com:acme/widgets", "widgets"),
        ("ssh://git@host:22/acme/widgets.git/", "widgets"),
        ("../remote.git", "remote"),
        (None, "folder"),
        ("", "folder"),
        ("https://host/..", "repository"),
    ],
)
def test_a_repository_is_called_by_its_address_or_its_folder(
    address: str | None, expected: str
) -> None:
    assert name_of(address, "folder") == expected
