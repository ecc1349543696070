"""An agent hears that main moved where it works, from the clone in which that was merged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git
from tests.support.hooks import call, payload
from tests.support.news import LEAD, hear, step

HEARD = (
    "main moved: #3 «Parse» by worker-1 changed 2 files that you changed, too: a.txt, b.txt. To "
    "get it now, commit and run `git pull --no-rebase --no-edit origin main`."
)


@pytest.fixture
def two(clones: Callable[[int], list[Path]]) -> tuple[Path, Path, Path]:
    """worker-1 works in the first clone, worker-2 has a session in a worktree of the second."""
    one, other = clones(2)
    commit(one, {"a.txt": "1\n", "b.txt": "1\n", "c.txt": "1\n"})
    git(one, "push", "--quiet", "origin", "main")
    git(other, "pull", "--quiet", "origin", "main")
    succeed(one, "agent-init", "agent-issue new Parse", "agent-issue new Write", "agent-sync")
    succeed(other, "agent-init", "agent-sync")
    place = started(other, 2, "worker-2")
    assert call("claude", payload("claude-SessionStart-startup", place), place).code == 0
    succeed(place, "agent-sync")
    assert step(place) == ""
    return one, other, place


def started(clone: Path, number: int, agent: str) -> Path:
    """The worktree of an agent on an issue."""
    succeed(clone, f"agent-start {number} --as {agent}")
    return Path(invoke(f"agent-where {number}", clone).out.strip())


def merge(clone: Path, **files: str) -> None:
    """worker-1 changes files for #1, and that is merged."""
    place = started(clone, 1, "worker-1")
    commit(place, {f"{name}.txt": text for name, text in files.items()})
    succeed(place, "agent-finish")
    succeed(clone, "agent-merge 1 --unchecked --as @me", "agent-sync")


def test_a_session_in_another_clone_hears_of_a_merge_into_its_files_once(
    two: tuple[Path, Path, Path],
) -> None:
    one, _, place = two
    commit(place, {"a.txt": "2\n"})
    (place / "b.txt").write_text("2\n")
    merge(one, a="3\n", b="3\n", c="3\n")
    assert step(place) == ""
    succeed(place, "agent-sync")
    assert step(place) == LEAD + HEARD
    succeed(place, "agent-sync")
    assert step(place) == ""


def test_of_files_that_it_did_not_change_it_hears_nothing(two: tuple[Path, Path, Path]) -> None:
    one, _, place = two
    commit(place, {"a.txt": "2\n"})
    merge(one, c="3\n")
    succeed(place, "agent-sync")
    assert step(place) == ""


def test_whoever_merged_its_own_work_hears_nothing(two: tuple[Path, Path, Path]) -> None:
    one, _, _ = two
    merge(one, a="3\n")
    assert not any("main moved" in line for line in hear(one, "worker-1"))
