"""Files of the main worktree are chosen by patterns, as in `.gitignore`."""

from pathlib import Path

import pytest

from ghp_agents.worktrees.copied_files import Selected, select
from tests.support.consent import agree
from tests.support.repos import Restored
from tests.support.road import Road, with_issue

FILES = (
    ".env", "apps/web/.env", "apps/api/.env", "apps/api/conf/local.ini", "docs/plan.md",
    "node_modules/m/.env", "own.txt",
)  # fmt: skip


@pytest.fixture
def road(restored: Restored) -> Road:
    road = Road(restored(with_issue).repo)
    road.put({".gitignore": ".env\nlocal.ini\nnode_modules/\n", "apps/web/.env.sample": "A=\n"})
    for name in FILES:
        (road.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (road.folder / name).write_text(f"{name}\n")
    return road


def selected(road: Road) -> Selected:
    return select(road.house("worker-1").ws, road.folder)


def test_a_name_matches_in_all_folders_but_not_in_those_that_are_made_again(road: Road) -> None:
    assert selected(road) == Selected((".env", "apps/api/.env", "apps/web/.env"))


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["/.env"], (".env",)),
        (["apps/*/.env"], ("apps/api/.env", "apps/web/.env")),
        (["**/conf/", "own.txt"], ("apps/api/conf/local.ini", "own.txt")),
        ([".env", "!apps/web/.env"], (".env", "apps/api/.env")),
        (["node_modules/"], ("node_modules/m/.env",)),
    ],
)
def test_the_setting_takes_what_git_does_not_have(
    road: Road, patterns: list[str], expected: tuple[str, ...]
) -> None:
    road.configure(worktreeCopyFiles=patterns)
    assert selected(road) == Selected(expected)


def test_a_pattern_that_matches_nothing_is_named(road: Road) -> None:
    road.configure(worktreeCopyFiles=["apps/*/.env", "app/.env", "*.sample"])
    assert selected(road).notes == (
        "`worktreeCopyFiles`: no file that git does not have matches «app/.env», «*.sample».",
    )


@pytest.mark.slow
def test_worktreeinclude_takes_ignored_files_once_a_person_agreed_to_it(road: Road) -> None:
    road.configure(worktreeCopyFiles=["/.env"])
    (road.folder / ".worktreeinclude").write_text("local.ini\n")
    assert selected(road).notes == (
        "`.worktreeinclude` is not on main, so it is not used: commit it.",
    )
    road.put({".worktreeinclude": "# Local settings\n\napps/**\nown.txt\n"})
    paths, (note,) = selected(road)
    assert paths == (".env",)
    assert note.startswith("`.worktreeinclude` on main names files to copy into new worktrees, but")
    agree(road.folder)
    assert selected(road) == Selected(
        (".env", "apps/api/.env", "apps/api/conf/local.ini", "apps/web/.env"),
        ("`.worktreeinclude`: no file that git does not have matches «own.txt».",),
    )
    started = road.start("worker-1")
    assert (started.path / "apps/api/conf/local.ini").read_text() == "apps/api/conf/local.ini\n"
    assert not Path(started.path, "own.txt").exists()
