"""The folder of one question: gone afterwards, swept when its process was killed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import ExitCode, GhpError
from ghp_agents.locks.git import GitLocks
from ghp_agents.locks.lock import LockMovedError
from tests.support.clock import ManualClock
from tests.support.hosts import workspace

Clones = Callable[[int], list[Path]]


def leavings(clone: Path) -> list[str]:
    """What is in our cache and has no business there."""
    return sorted(path.name for path in (clone / ".git/ghp/cache").glob(".right.*"))


def test_nothing_is_left_after_a_question_or_an_error(clone: Path, remote: Path) -> None:
    locks = GitLocks(workspace(clone))
    taken = locks.acquire("trunk", "worker-1", expected=None)
    locks.list()
    with pytest.raises(LockMovedError):
        locks.acquire("trunk", "worker-2", expected=None)
    remote.rename(remote.with_suffix(".away"))
    with pytest.raises(GhpError):
        locks.release("trunk", expected=taken)
    assert leavings(clone) == []
    assert sorted(path.name for path in (clone / ".git/ghp").iterdir()) == [
        "cache",
        "lease.lock",
        "state.git",
    ]


def test_what_a_killed_process_left_is_swept_when_nobody_can_be_at_work_on_it(clone: Path) -> None:
    clock = ManualClock()
    locks = GitLocks(workspace(clone, clock))
    taken = locks.acquire("trunk", "worker-1", expected=None)
    for name, age in ((".right.old.tmp", 3_601), (".right.young.tmp", 3_599)):
        left = clone / ".git/ghp/cache" / name
        (left / "refs/worktree/custom").mkdir(parents=True)
        (left / "HEAD").write_text("ref: refs/worktree/none\n")
        os.utime(left, (clock.now() - age, clock.now() - age))
    locks.release("trunk", expected=taken)
    assert leavings(clone) == [".right.young.tmp"]


@pytest.mark.parametrize("with_remote", [False, True])
def test_a_clone_that_cannot_be_written_says_so(repo: Path, clone: Path, with_remote: bool) -> None:
    place = clone if with_remote else repo
    (place / ".git/ghp").write_text("a file where our folder would be")
    locks = GitLocks(workspace(place))
    with pytest.raises(GhpError) as caught:
        locks.acquire("trunk", "worker-1", expected=None)
    assert (str(caught.value), caught.value.hint, caught.value.exit_code) == (
        f"Cannot use locks here: {place}/.git/ghp is not writable ({os.strerror(17)}).",
        "Run this outside the sandbox, or free disk space.",
        ExitCode.ERROR,
    )


def test_reading_a_right_makes_nothing_in_a_clone_without_a_remote(repo: Path) -> None:
    locks = GitLocks(workspace(repo))
    assert locks.read("trunk") is None
    assert locks.list() == []
    assert not (repo / ".git/ghp").exists()
